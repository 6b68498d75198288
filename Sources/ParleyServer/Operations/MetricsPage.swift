import Gateway
import ParleyGatewayPorts
import ParleyTransportLibwebsockets

/// The response body of `/metrics`, in the text format of Prometheus.
struct MetricsPage {
  private(set) var text = PrometheusText()

  init(
    gateway: GatewaySummary, refused: RefusedConnections, memory: MemoryUsage,
    logins: LoginThread.Load?, store: StoreMetrics, hooks: HookMetrics?, mail: HookMetrics?,
    broker: BrokerState?,
    process: ProcessMetrics, started: Timestamp,
    loops: [Int]
  ) {
    describeConnections(gateway)
    describe(refused)
    describe(memory)
    if let logins { describe(logins) }
    describeChanges(gateway)
    describe(store, isReady: gateway.unreadiness == nil)
    describeBacklog(gateway)
    describeCluster(gateway)
    if let broker { describe(broker) }
    if let hooks { describe(hooks, now: SystemClock().now) }
    if let mail { describe(mail: mail, now: SystemClock().now) }
    describe(process, started: started)
    guard !loops.isEmpty else { return }
    text.gauge(
      "parley_loop_connections", "Open connections of each loop, HTTP requests included.",
      label: "loop", loops.enumerated().map { ("\($0)", $1) })
  }

  private mutating func describeConnections(_ gateway: GatewaySummary) {
    let metrics = gateway.metrics
    let open = gateway.openConnections
    text.gauge(
      "parley_connections", "Open connections, by protocol.", label: "dialect",
      [
        ("native", open.native), ("whaler", open.whaler), ("socketIO", open.socketIO),
        ("bayeux", open.bayeux), ("pusher", open.pusher),
        ("sharedb", open.shareDB), ("rustpad", open.rustpad),
      ])
    text.counter(
      "parley_connections_opened_total", "Connections opened since the start.",
      metrics.connectionsOpened)
    text.counter(
      "parley_connections_closed_total", "Connections closed by the server, by close code.",
      label: "code",
      Dictionary(uniqueKeysWithValues: metrics.closes.map { ("\($0.key)", $0.value) }))
    text.counter(
      "parley_limited_total", "Messages, connections and requests rejected over a limit, by limit.",
      label: "limit", metrics.limited)
    describeSessions(gateway)
    text.gauge("parley_documents", "Documents loaded into memory.", gateway.openDocuments)
    text.gauge(
      "parley_document_subscriptions", "Subscriptions of connections to documents.",
      gateway.documentSubscriptions)
    text.gauge("parley_rooms", "Rooms with at least one subscriber.", gateway.openRooms)
    text.counter(
      "parley_messages_received_total", "Messages received from clients, by type.", label: "type",
      metrics.received)
    text.counter(
      "parley_frames_sent_total", "Frames queued for clients.", metrics.framesSent)
    text.gauge(
      "parley_lagging_connections",
      "Connections too slow for single changes, which catch up with ranges.",
      gateway.laggingConnections)
    text.counter(
      "parley_lags_total", "Times that a subscriber became too slow for single changes.",
      metrics.lags)
    text.counter(
      "parley_signals_sent_total", "Signals in rooms queued for subscribers.", metrics.signalsSent)
    text.counter(
      "parley_signals_replaced_total",
      "Signals that a newer one of the same client and name has replaced before they were sent.",
      metrics.signalsReplaced)
    text.counter(
      "parley_signals_dropped_total", "Signals dropped for subscribers that are slow.",
      metrics.signalsDropped)
  }

  private mutating func describeSessions(_ gateway: GatewaySummary) {
    text.gauge(
      "parley_sessions_without_token",
      "Sessions of Socket.IO and Bayeux whose clients have not shown a token.",
      gateway.unidentifiedSessions)
    text.counter(
      "parley_sessions_refused_total", "Sessions of Socket.IO and Bayeux rejected, by reason.",
      label: "reason", gateway.metrics.sessionsRefused)
    text.counter(
      "parley_sessions_replaced_total",
      "Sessions without a token that ended because newcomers needed their places.",
      gateway.metrics.sessionsReplaced)
    text.counter(
      "parley_sessions_expired_total", "Sessions that ended because no token was shown in time.",
      gateway.metrics.sessionsExpired)
  }

  private mutating func describe(_ refused: RefusedConnections) {
    text.counter(
      "parley_connections_refused_total",
      "Connections rejected before a request was read, by reason.",
      label: "reason",
      [
        "full": refused.full, "address": refused.fullForAddress, "rate": refused.tooFast,
        "proxyHeader": refused.withoutProxyHeader, "idle": refused.idle,
      ])
  }

  private mutating func describe(_ memory: MemoryUsage) {
    text.gauge(
      "parley_reception_bytes", "Size of the messages and bodies received in part, in bytes.",
      memory.receptionBytes)
    text.gauge(
      "parley_upload_bytes", "Size of the uploads that are being received, in bytes.",
      memory.uploadBytes)
    text.gauge(
      "parley_response_bytes", "Size of the responses that wait for their readers, in bytes.",
      memory.responseBytes)
    text.counter(
      "parley_memory_refused_total",
      "Messages, bodies and responses rejected over a share of memory, by kind; early ones are "
        + "too large before a token, or rejected by the request's head.",
      label: "kind",
      [
        "reception": memory.receptionRefusals, "uploads": memory.uploadRefusals,
        "responses": memory.responseRefusals, "early": memory.earlyRefusals,
      ])
  }

  private mutating func describe(_ logins: LoginThread.Load) {
    text.gauge(
      "parley_login_queue", "Logins that wait for a password to be hashed.", logins.queued)
    text.counter(
      "parley_logins_refused_total", "Logins rejected because too many wait, by reason.",
      label: "reason", logins.refused)
  }

  private mutating func describeChanges(_ gateway: GatewaySummary) {
    let metrics = gateway.metrics
    text.counter(
      "parley_changes_total", "Changes accepted and stored on disk.", metrics.changesAccepted)
    text.counter(
      "parley_changes_repeated_total", "Changes that a client resent after they had been accepted.",
      metrics.changesRepeated)
    text.counter(
      "parley_changes_refused_total", "Changes rejected, by error code.", label: "code",
      metrics.changesRefused)
    text.counter(
      "parley_resyncs_total", "Whole texts sent instead of missed changes, by reason.",
      label: "reason",
      metrics.resyncs)
    text.histogram(
      "parley_acknowledgement_seconds",
      "Time from the arrival of a change until it is on disk and acknowledged.",
      metrics.acknowledgement)
    text.histogram(
      "parley_broadcast_seconds",
      "Time from the arrival of a change until its frames are queued for all subscribers.",
      metrics.broadcast)
  }

  private mutating func describe(_ store: StoreMetrics, isReady: Bool) {
    text.gauge("parley_ready", "1 while changes are accepted, else 0.", isReady ? 1 : 0)
    text.gauge("parley_store_queue", "Requests in the queue of the store.", store.queued)
    text.counter(
      "parley_store_batches_total",
      "Batches processed by the store; each is one transaction with one sync.",
      store.batches)
    text.counter("parley_store_requests_total", "Requests processed by the store.", store.requests)
    text.counter(
      "parley_store_failures_total", "Requests that failed in the store.", store.failures)
    text.histogram(
      "parley_store_batch_seconds", "Time to write and sync one batch.",
      store.batch)
    text.counter(
      "parley_store_reconnects_total", "Reconnects to the database after a lost connection.",
      store.state.reconnections)
    text.gauge(
      "parley_store_read_queue", "Reads of texts and histories in the queue.", store.readsQueued)
    text.counter(
      "parley_store_reads_total", "Reads of texts and histories, processed beside the commits.",
      store.reads)
    text.histogram(
      "parley_store_read_seconds", "Time to read one text or history.", store.read)
    text.counter(
      "parley_store_folds_total", "Snapshots of note texts stored for faster loading.",
      store.folds)
  }

  private mutating func describeBacklog(_ gateway: GatewaySummary) {
    let backlog = gateway.storeBacklog
    text.gauge(
      "parley_store_waiting_requests",
      "Changes, publications and other requests that wait for the store.",
      backlog.requests)
    text.gauge(
      "parley_store_waiting_bytes",
      "Approximate size of the requests that wait for the store, in bytes.", backlog.bytes)
    text.gauge(
      "parley_store_oldest_seconds", "Age of the oldest request that waits for the store.",
      Double(backlog.waitMilliseconds) / 1_000)
  }

  private mutating func describeCluster(_ gateway: GatewaySummary) {
    let metrics = gateway.metrics
    text.counter(
      "parley_commit_conflicts_total",
      "Commits preceded by another gateway's commit; they are retried after it.",
      metrics.racesLost)
    text.counter(
      "parley_adopted_entries_total", "Changes of other gateways applied to notes in memory.",
      metrics.entriesAdopted)
    text.counter(
      "parley_resubmitted_changes_total",
      "Changes resubmitted after rebasing on other gateways' changes.",
      metrics.changesResubmitted)
    text.counter(
      "parley_sessions_begun_total",
      "Sessions begun by clients that moved between gateways; their older changes are fenced.",
      metrics.sessionsBegun)
    text.counter(
      "parley_fenced_changes_total",
      "Changes dropped because their clients have reconnected to another gateway.",
      metrics.changesFenced)
    text.counter(
      "parley_unknown_outcomes_total",
      "Commits whose responses were lost; their outcome is read from the log.",
      metrics.unknownOutcomes)
    text.counter(
      "parley_node_messages_dropped_total",
      "Messages of other gateways about people that were malformed, out of order, or too many.",
      metrics.nodeMessagesDropped)
  }

  private mutating func describe(_ broker: BrokerState) {
    text.gauge(
      "parley_hints_arrive", "1 while hints from other gateways can arrive, else 0.",
      broker.isConnected ? 1 : 0)
    text.counter("parley_hints_sent_total", "Hints sent to other gateways.", broker.published)
    text.counter(
      "parley_hints_heard_total", "Hints received from other gateways.",
      broker.heard)
    text.counter(
      "parley_hints_dropped_total",
      "Hints dropped because they were too large or a queue was full; the store has their data.",
      label: "queue", broker.dropped)
    text.counter(
      "parley_hints_foreign_total",
      "Messages from the broker that no gateway of this cluster sent.",
      broker.foreign)
    text.counter(
      "parley_broker_reconnects_total", "Reconnects to the broker after a lost connection.",
      broker.reconnections)
    text.histogram(
      "parley_hint_lag_seconds",
      "Round-trip time of a message through the broker to this gateway.",
      broker.lag)
  }

  private mutating func describe(_ hooks: HookMetrics, now: Timestamp) {
    let queueStates = hooks.queueStates.sorted { $0.key.rawValue < $1.key.rawValue }
    text.gauge(
      "parley_webhook_queue", "Events that wait for delivery, by target.", label: "target",
      queueStates.map { ($0.key.word, $0.value.queued) })
    text.gauge(
      "parley_webhook_oldest_seconds",
      "Age of the oldest event that waits for delivery, by target.", label: "target",
      queueStates.map { ($0.key.word, Int(max(now - ($0.value.oldest ?? now), 0) / 1_000)) })
    text.gauge(
      "parley_webhook_dead_letters",
      "Stored dead letters: events that could not be delivered, by target.", label: "target",
      queueStates.map { ($0.key.word, $0.value.deadLetters) })
    text.counter(
      "parley_webhook_calls_total", "Calls to webhook services, by outcome.", label: "outcome",
      hooks.calls)
    var events = hooks.events
    if hooks.overflowed > 0 { events[DeadLetter.Reason.queueFull.word] = hooks.overflowed }
    text.counter(
      "parley_webhook_events_total", "Events delivered (told) or given up, by outcome.",
      label: "outcome", events)
  }

  private mutating func describe(mail: HookMetrics, now: Timestamp) {
    let standing = mail.queueStates[.mail] ?? OutboxQueueState()
    text.gauge(
      "parley_mail_queue", "Messages that wait for the mail server, without delayed ones.",
      standing.queued)
    text.gauge(
      "parley_mail_oldest_seconds", "Age of the oldest message that waits for the mail server.",
      Int(max(now - (standing.oldest ?? now), 0) / 1_000))
    text.counter(
      "parley_mail_dropped_total", "Messages that were not queued, since too many wait.",
      standing.overflowed)
    text.counter(
      "parley_mail_messages_total",
      "Attempts to send a message, by outcome: sent, postponed, refused, tooOld (given up), failed "
        + "(the mail server cannot be used).", label: "outcome", mail.calls)
  }

  private mutating func describe(_ process: ProcessMetrics, started: Timestamp) {
    text.gauge(
      "parley_build_info", "Version of the server, as a label.", label: "version",
      [(Version.current, 1)])
    text.counter(
      "process_cpu_seconds_total", "Processor time used, in seconds.", process.processorSeconds)
    text.gauge(
      "process_resident_memory_bytes", "Resident memory, in bytes.", process.residentBytes)
    text.gauge("process_virtual_memory_bytes", "Virtual memory, in bytes.", process.virtualBytes)
    text.gauge("process_open_fds", "Number of open files and sockets.", process.openFiles)
    text.gauge("process_max_fds", "Maximum number of open files and sockets.", process.openFilesMax)
    text.gauge(
      "process_start_time_seconds", "Start time of the process, in seconds since 1970.",
      Double(started) / 1_000)
  }
}
