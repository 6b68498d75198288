import Gateway
import GatewayPorts
import TransportLibwebsockets

/// All that `/metrics` says.
struct MetricsPage {
  private(set) var text = PrometheusText()

  init(
    gateway: GatewaySummary, refused: RefusedConnections, store: StoreMetrics,
    hooks: HookMetrics?, broker: BrokerState?, process: ProcessMetrics, started: Timestamp,
    loops: [Int]
  ) {
    describeConnections(gateway)
    describe(refused)
    describeChanges(gateway)
    describe(store, isReady: gateway.unreadiness == nil)
    describeBacklog(gateway)
    describeSharing(gateway)
    if let broker { describe(broker) }
    if let hooks { describe(hooks, now: SystemClock().now) }
    describe(process, started: started)
    guard !loops.isEmpty else { return }
    text.gauge(
      "parley_loop_connections", "Connections at each of several loops, requests included.",
      label: "loop", loops.enumerated().map { ("\($0)", $1) })
  }

  private mutating func describeConnections(_ gateway: GatewaySummary) {
    let metrics = gateway.metrics
    let open = gateway.openConnections
    text.gauge(
      "parley_connections", "Connections that are open.", label: "dialect",
      [
        ("native", open.native), ("whaler", open.whaler), ("socketIO", open.socketIO),
        ("bayeux", open.bayeux),
      ])
    text.counter(
      "parley_connections_opened_total", "Connections opened.", metrics.connectionsOpened)
    text.counter(
      "parley_connections_closed_total", "Connections that the server has closed.", label: "code",
      Dictionary(uniqueKeysWithValues: metrics.closes.map { ("\($0.key)", $0.value) }))
    text.counter(
      "parley_limited_total", "Messages, connections and requests that were too many.",
      label: "limit", metrics.limited)
    text.gauge("parley_documents", "Documents in memory.", gateway.openDocuments)
    text.gauge(
      "parley_document_subscriptions", "Connections that follow documents, once for each.",
      gateway.documentSubscriptions)
    text.gauge("parley_rooms", "Rooms with at least one subscriber.", gateway.openRooms)
    text.counter(
      "parley_messages_received_total", "Messages from clients.", label: "type", metrics.received)
    text.counter(
      "parley_frames_sent_total", "Frames queued for clients.", metrics.framesSent)
    text.gauge(
      "parley_lagging_connections", "Connections that are given changes when they have caught up.",
      gateway.laggingConnections)
    text.counter(
      "parley_lags_total", "Times at which a reader was too slow for the changes.", metrics.lags)
  }

  private mutating func describe(_ refused: RefusedConnections) {
    text.counter(
      "parley_connections_refused_total", "Connections refused before a request was read.",
      label: "reason",
      [
        "full": refused.full, "address": refused.fullForAddress, "rate": refused.tooFast,
        "proxyHeader": refused.unannounced,
      ])
  }

  private mutating func describeChanges(_ gateway: GatewaySummary) {
    let metrics = gateway.metrics
    text.counter("parley_changes_total", "Changes on disk.", metrics.changesAccepted)
    text.counter(
      "parley_changes_repeated_total", "Changes sent again that had been taken before.",
      metrics.changesRepeated)
    text.counter(
      "parley_changes_refused_total", "Changes refused.", label: "code", metrics.changesRefused)
    text.counter(
      "parley_resyncs_total", "Texts sent anew instead of the changes missed.", label: "reason",
      metrics.resyncs)
    text.histogram(
      "parley_acknowledgement_seconds",
      "From the arrival of a change until it is on disk and acknowledged.",
      metrics.acknowledgement)
    text.histogram(
      "parley_broadcast_seconds",
      "From the arrival of a change until its frames for all followers are handed out.",
      metrics.broadcast)
  }

  private mutating func describe(_ store: StoreMetrics, isReady: Bool) {
    text.gauge("parley_ready", "1 while changes are taken, else 0.", isReady ? 1 : 0)
    text.gauge("parley_store_queue", "Requests that wait for the store.", store.queued)
    text.counter(
      "parley_store_batches_total", "Batches done; one transaction and one sync each.",
      store.batches)
    text.counter("parley_store_requests_total", "Requests done by the store.", store.requests)
    text.counter(
      "parley_store_failures_total", "Requests that the store could not do.", store.failures)
    text.histogram(
      "parley_store_batch_seconds", "From taking a batch until it is written and synced.",
      store.batch)
    text.counter(
      "parley_store_reconnects_total", "Lost connections to the database that were made anew.",
      store.state.reconnections)
    text.gauge(
      "parley_store_read_queue", "Reads of texts and histories that wait.", store.readsQueued)
    text.counter(
      "parley_store_reads_total", "Texts and histories read beside the commits.", store.reads)
    text.histogram(
      "parley_store_read_seconds", "From taking such a read until it is done.", store.read)
    text.counter(
      "parley_store_folds_total", "Times at which a note's text was kept, so that it loads soon.",
      store.folds)
  }

  private mutating func describeBacklog(_ gateway: GatewaySummary) {
    let backlog = gateway.storeBacklog
    text.gauge(
      "parley_store_waiting_requests",
      "Changes, publications and other requests that the store has not answered.",
      backlog.requests)
    text.gauge("parley_store_waiting_bytes", "Their bytes, about.", backlog.bytes)
    text.gauge(
      "parley_store_oldest_seconds", "How long the oldest work at the store has waited.",
      Double(backlog.waitMilliseconds) / 1_000)
  }

  private mutating func describeSharing(_ gateway: GatewaySummary) {
    let metrics = gateway.metrics
    text.counter(
      "parley_commit_conflicts_total", "Commits of notes before which another gateway's came.",
      metrics.racesLost)
    text.counter(
      "parley_adopted_entries_total", "Changes of other gateways taken over into notes in memory.",
      metrics.entriesAdopted)
    text.counter(
      "parley_resubmitted_changes_total", "Changes submitted anew behind other gateways' changes.",
      metrics.changesResubmitted)
    text.counter(
      "parley_sessions_begun_total",
      "Clients that came from another gateway, or back, and had changes fenced off there.",
      metrics.sessionsBegun)
    text.counter(
      "parley_fenced_changes_total",
      "Changes dropped, for their clients have gone on at another gateway.", metrics.changesFenced)
    text.counter(
      "parley_unknown_outcomes_total",
      "Commits whose answers were lost; what became of them is read from the log.",
      metrics.unknownOutcomes)
    text.counter(
      "parley_node_messages_dropped_total",
      "What other gateways have said of people that was garbled, out of place, or too much.",
      metrics.nodeMessagesDropped)
  }

  private mutating func describe(_ broker: BrokerState) {
    text.gauge(
      "parley_hints_arrive", "1 while hints of other gateways arrive, else 0.",
      broker.isConnected ? 1 : 0)
    text.counter("parley_hints_sent_total", "Hints sent to other gateways.", broker.published)
    text.counter(
      "parley_hints_heard_total", "Hints of other gateways about what is followed here.",
      broker.heard)
    text.counter(
      "parley_hints_dropped_total",
      "Hints that there was no room for; the store has what they said.",
      label: "queue", broker.dropped)
    text.counter(
      "parley_hints_foreign_total", "Messages at the broker that no gateway of this cluster made.",
      broker.foreign)
    text.counter(
      "parley_broker_reconnects_total", "Lost connections to the broker that were made anew.",
      broker.reconnections)
    text.histogram(
      "parley_hint_lag_seconds",
      "From sending a message to oneself by the broker until it is there.",
      broker.lag)
  }

  private mutating func describe(_ hooks: HookMetrics, now: Timestamp) {
    let standings = hooks.standings.sorted { $0.key.rawValue < $1.key.rawValue }
    text.gauge(
      "parley_webhook_queue", "Events that wait to be told.", label: "target",
      standings.map { ($0.key.word, $0.value.queued) })
    text.gauge(
      "parley_webhook_oldest_seconds", "Age of the oldest event that waits.", label: "target",
      standings.map { ($0.key.word, Int(max(now - ($0.value.oldest ?? now), 0) / 1_000)) })
    text.gauge(
      "parley_webhook_dead_letters", "Events given up that are kept.", label: "target",
      standings.map { ($0.key.word, $0.value.deadLetters) })
    text.counter(
      "parley_webhook_calls_total", "Calls to services, by outcome.", label: "outcome",
      hooks.calls)
    var events = hooks.events
    if hooks.crowdedOut > 0 { events[DeadLetter.Reason.crowdedOut.word] = hooks.crowdedOut }
    text.counter(
      "parley_webhook_events_total", "Events told and given up.", label: "outcome", events)
  }

  private mutating func describe(_ process: ProcessMetrics, started: Timestamp) {
    text.gauge(
      "parley_build_info", "The version, as a label.", label: "version", [(Version.current, 1)])
    text.counter(
      "process_cpu_seconds_total", "Processor time used, in seconds.", process.processorSeconds)
    text.gauge(
      "process_resident_memory_bytes", "Memory in use, in bytes.", process.residentBytes)
    text.gauge("process_virtual_memory_bytes", "Address space, in bytes.", process.virtualBytes)
    text.gauge("process_open_fds", "Open files and sockets.", process.openFiles)
    text.gauge("process_max_fds", "Files and sockets that may be open.", process.openFilesMax)
    text.gauge(
      "process_start_time_seconds", "When the process started, in seconds since 1970.",
      Double(started) / 1_000)
  }
}
