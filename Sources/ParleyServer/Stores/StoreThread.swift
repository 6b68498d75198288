package import Gateway
package import ParleyGatewayPorts
import Glibc
import ParleyLocks

/// The thread that owns the store.
///
/// Requests queue up while a batch is being written and synced; the next batch commits all of them
/// together. So the busier the gateway, the more changes share one sync. Reads that need no order
/// with commits go to a ``StoreReader``, if there is one.
package final class StoreThread: Sendable {
  /// The reply to one request.
  package struct Completion: Sendable {
    package let ticket: StoreTicket
    package let reply: StoreReply
  }

  /// An outbox request, and the receiver of its reply, called on the store's thread.
  private typealias OutboxWork = (
    request: OutboxRequest, then: @Sendable (OutboxReply) -> Void
  )

  /// Revocations for other nodes, and the receiver of theirs, which gets `nil` if the store cannot
  /// read them now.
  private struct Exchange {
    let revocations: [Revocation]
    let place: Int
    let then: @Sendable (RevocationPage?) -> Void
  }

  private struct State {
    /// Requests in order of arrival; for a request without a ticket, no reply is returned.
    var requests: [(ticket: StoreTicket?, request: StoreRequest)] = []
    /// The count and size of the queued requests without a reply.
    var unrecorded: StoreBacklog
    var outboxWork: [OutboxWork] = []
    /// Revocations to exchange with other nodes.
    var exchange: Exchange?
    /// Chores that the reader has finished, with or without a result, or failed.
    var chores: [StoreReader.DoneChore] = []
    var completions: [Completion] = []
    var metrics = StoreMetrics()
    var isStopping = false
    var hasStopped = false

    var isIdle: Bool {
      requests.isEmpty && outboxWork.isEmpty && chores.isEmpty && exchange == nil
    }

    mutating func add(_ read: StoreReader.Read) {
      metrics.reads += 1
      metrics.failures += read.reply.isFailure ? 1 : 0
      metrics.read.record(read.microseconds)
      guard let ticket = read.ticket else { return }
      completions.append(Completion(ticket: ticket, reply: read.reply))
    }
  }

  /// Milliseconds without work after which the store checks its files.
  private static let lookMilliseconds = 1_000

  private let state: Monitor<State>
  private let reader: StoreReader?
  private let wake: @Sendable () -> Void
  /// Functions that interrupt the waiting of both connections.
  private let interruptions: [@Sendable () -> Void]

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - readingStore: The same store, opened for reading on a second thread. Without it, all
  ///     requests run on one thread.
  ///   - unrecordedMax: The limits of queued requests without a reply; beyond them, events are dropped.
  ///   - retry: The retry schedule of failed chores.
  ///   - log: Receives a line if the store could not be closed as one file.
  ///   - wake: Called on the store's thread or the reading thread when completions are ready.
  ///   - committed: Called on the store's thread after each commit, with the notes to index.
  ///   - outboxChanged: Called on the store's thread with queues whose state has changed.
  package init(
    store: Handover<any ServerStore>, readingStore: Handover<any DocumentStore>? = nil,
    log: any LogSink,
    unrecordedMax: StoreBacklog.Limits = StoreBacklog.Limits(requestsMax: .max, bytesMax: .max),
    retry: ChoreRetry = ChoreRetry(),
    wake: @escaping @Sendable () -> Void,
    committed: @escaping @Sendable ([SearchedChange]) -> Void = { _ in },
    outboxChanged: @escaping @Sendable ([OutboxTarget: OutboxQueueState]) -> Void = { _ in }
  ) {
    self.wake = wake
    state = Monitor(State(unrecorded: StoreBacklog(unrecordedMax)))
    interruptions = [
      store.prepare { $0.interruption() },
      readingStore?.prepare { ($0 as? any ServerStore)?.interruption() },
    ].compactMap(\.self)
    if let readingStore {
      let runsChoresElsewhere = readingStore.prepare { $0 is any ServerStore }
      store.prepare { $0.runsChoresElsewhere = runsChoresElsewhere }
      reader = StoreReader(store: readingStore) { [state, wake] news in
        switch news {
        case .read(let read):
          state.withLock { $0.add(read) }
          wake()
        case .chore(let chore): state.change { $0.chores.append(chore) }
        }
      }
    } else {
      reader = nil
    }
    SystemThread.start { [state, reader, wake] in
      Self.run(
        store, state: state, reader: reader, retry: retry, log: log, wake: wake,
        committed: committed, outboxChanged: outboxChanged)
      // The store is closed, so a program that waits for the end may copy its file.
      state.change { $0.hasStopped = true }
    }
  }

  /// Queues requests for the next batch. Never blocks on the disk.
  package func submit(_ work: [(ticket: StoreTicket?, request: StoreRequest)]) {
    guard !work.isEmpty else { return }
    guard let reader else { return queue(work) }
    queue(work.filter { !$0.request.traits.isParallel })
    reader.submit(work.filter { $0.request.traits.isParallel })
  }

  /// Cancels reads that have not begun; they fail with `cancelled`.
  package func forget(_ tickets: [StoreTicket]) { reader?.forget(tickets) }

  private func queue(_ work: [(ticket: StoreTicket?, request: StoreRequest)]) {
    guard !work.isEmpty else { return }
    state.change { $0.requests += work }
  }

  /// Queues an outbox request. `then` is called on the store's thread.
  package func submit(
    _ request: OutboxRequest, then: @escaping @Sendable (OutboxReply) -> Void
  ) {
    state.change { $0.outboxWork.append((request, then)) }
  }

  /// Exchanges revocations with other nodes, one call at a time. `then` is called on the store's
  /// thread.
  package func exchange(
    _ revocations: [Revocation], after place: Int,
    then: @escaping @Sendable (RevocationPage?) -> Void
  ) {
    state.change {
      $0.exchange = Exchange(revocations: revocations, place: place, then: then)
    }
  }

  /// Records events about changes outside of the store. If their commit fails, or the queue is
  /// full, the events are lost and counted as a failure.
  package func tell(_ drafts: [OutboxDraft]) {
    guard !drafts.isEmpty else { return }
    state.change { state in
      guard !state.unrecorded.isFull else {
        state.metrics.failures += 1
        return
      }
      state.unrecorded.add(bytes: drafts.reduce(0) { $0 + 256 + $1.data.count })
      state.requests.append((nil, .tell(drafts)))
    }
  }

  /// Returns the completions since the last call.
  package func takeCompletions() -> [Completion] {
    state.withLock { state in
      defer { state.completions = [] }
      return state.completions
    }
  }

  /// The number of reconnects of the store, as of its last batch.
  package var reconnections: Int { state.withLock { $0.metrics.state.reconnections } }

  /// The counters since the start.
  package var metrics: StoreMetrics {
    state.withLock { state in
      var metrics = state.metrics
      metrics.queued = state.requests.count
      metrics.readsQueued = reader?.queued ?? 0
      return metrics
    }
  }

  /// The reason why the store rejects writes although no commit has failed; `nil` if missing.
  package var problem: String? { state.withLock { $0.metrics.state.problem } }

  /// Performs the queued requests, then stops the threads; returns when they have ended. Requests
  /// to an unreachable database fail.
  package func stop() {
    for interrupt in interruptions { interrupt() }
    // The reader stops first: its open connection would prevent the log from being emptied.
    reader?.stop()
    state.change { $0.isStopping = true }
    state.wait { $0.hasStopped }
  }

  /// Processes requests until stopped, then closes the store.
  private static func run(
    _ handover: Handover<any ServerStore>, state: Monitor<State>, reader: StoreReader?,
    retry: ChoreRetry, log: any LogSink, wake: @Sendable () -> Void,
    committed: @Sendable ([SearchedChange]) -> Void,
    outboxChanged: @Sendable ([OutboxTarget: OutboxQueueState]) -> Void
  ) {
    let store = handover.take()
    // Whether the store has housekeeping to do when no request waits.
    var hasMore = true
    var retry = retry
    /// Documents whose chore is not finished.
    var busy: Set<DocumentID> = []
    state.withLock { $0.metrics.state = store.state }
    outboxChanged(store.takeOutboxChanges())
    while true {
      reader?.submit(store.takeChores().filter { busy.insert($0.id).inserted })
      let wait = min(retry.wait(at: SystemClock().uptime) ?? lookMilliseconds, lookMilliseconds)
      let (batch, outboxWork, chore, exchange) = next(state, hasMore: hasMore, atMost: wait)
      if batch.isEmpty, outboxWork.isEmpty, chore == nil, exchange == nil {
        if state.withLock({ $0.isStopping }) { break }
        hasMore = idle(
          store, hasMore: hasMore, retry: &retry, hasChores: !busy.isEmpty, state, log)
        continue
      }
      hasMore = true
      if !batch.isEmpty {
        // No client waits for the heads: reading them must not delay acknowledgements.
        let looks = batch.filter(\.request.readsHeads)
        for part in [batch.filter { !$0.request.readsHeads }, looks] where !part.isEmpty {
          let changes = perform(part, store, state)
          note(store.state, state, log)
          wake()
          if !changes.isEmpty { committed(changes) }
        }
      }
      if let chore {
        busy.remove(chore.chore.id)
        finish(chore, store, state, wake)
      }
      if let exchange {
        exchange.then(
          (try? store.exchange(exchange.revocations, after: exchange.place)).flatMap(\.self))
      }
      for work in outboxWork { work.then(store.perform(work.request)) }
      let changes = store.takeOutboxChanges()
      if !changes.isEmpty { outboxChanged(changes) }
    }
    if let remark = store.settle() {
      log.write(.warning, remark.message, [("reason", remark.reason), ("hint", remark.hint)])
    }
  }

  /// Work taken from the queues.
  private typealias Work = (
    batch: [(ticket: StoreTicket?, request: StoreRequest)], outboxWork: [OutboxWork],
    chore: StoreReader.DoneChore?, exchange: Exchange?
  )

  /// Waits for work, unless housekeeping is due, and takes it.
  private static func next(
    _ state: Monitor<State>, hasMore: Bool, atMost milliseconds: Int
  ) -> Work {
    func isWanted(_ state: State) -> Bool { !state.isIdle || state.isStopping || hasMore }
    func take(_ state: inout State) -> Work {
      defer { (state.requests, state.outboxWork, state.exchange) = ([], [], nil) }
      // One chore at a time: storing the snapshot of a long text takes as long as several commits.
      let chore = state.chores.isEmpty ? nil : state.chores.removeFirst()
      state.unrecorded.removeAll()
      return (state.requests, state.outboxWork, chore, state.exchange)
    }
    return state.wait(atMostMilliseconds: milliseconds, until: isWanted, then: take)
  }

  /// Performs one step of housekeeping if any is due; otherwise checks the store's files. Failed
  /// housekeeping is retried after a pause.
  ///
  /// - Returns: Whether more housekeeping is due.
  private static func idle(
    _ store: any ServerStore, hasMore: Bool, retry: inout ChoreRetry, hasChores: Bool,
    _ state: Monitor<State>, _ log: any LogSink
  ) -> Bool {
    var hasMore = hasMore
    if hasMore {
      hasMore = store.maintain()
    } else {
      store.look()
      note(store.state, state, log)
    }
    let now = SystemClock().uptime
    if retry.isDue(at: now) {
      store.retryChores()
      return true
    }
    if store.hasFailedChores {
      if retry.failed(at: now) {
        log.write(
          .warning, "housekeeping failed",
          [("hint", "it is tried again; check the disk, and the store with parley check")])
      }
    } else if !hasMore, !hasChores {
      retry.succeeded()
    }
    return hasMore
  }

  /// Records the store's state for the loop, and logs when a problem begins and ends.
  private static func note(_ standing: StoreState, _ state: Monitor<State>, _ log: any LogSink) {
    let former = state.withLock { state in
      defer { state.metrics.state = standing }
      return state.metrics.state.problem
    }
    guard former != standing.problem else { return }
    if let problem = standing.problem {
      log.write(
        .error, "changes are rejected: the store's files are unusable", [("reason", problem)])
    } else {
      log.write(.notice, "the store's files are usable again", [])
    }
  }

  /// Stores the result of a chore, or postpones the chore if it has failed.
  private static func finish(
    _ done: StoreReader.DoneChore, _ store: any ServerStore, _ state: Monitor<State>,
    _ wake: @Sendable () -> Void
  ) {
    do throws(StoreError) {
      guard let result = try done.outcome.get() else { return }
      try store.keep(result)
    } catch {
      return store.postpone(done.chore)
    }
    state.withLock { $0.metrics.folds += 1 }
    wake()
  }

  /// Processes a batch, and returns the changes for the word index.
  private static func perform(
    _ batch: [(ticket: StoreTicket?, request: StoreRequest)], _ store: any ServerStore,
    _ state: Monitor<State>
  ) -> [SearchedChange] {
    let begin = SystemClock().microseconds
    let replies = store.perform(batch.map(\.request))
    let duration = SystemClock().microseconds - begin
    state.withLock { state in
      state.metrics.batches += 1
      state.metrics.requests += batch.count
      state.metrics.failures += replies.count(where: \.isFailure)
      state.metrics.batch.record(duration)
      for (item, reply) in zip(batch, replies) {
        guard let ticket = item.ticket else { continue }
        state.completions.append(Completion(ticket: ticket, reply: reply))
      }
    }
    return zip(batch, replies).compactMap { item, reply in
      reply.isDone ? item.request.traits.changedNote : nil
    }
  }
}

extension StoreRequest {
  /// Whether the request reads the heads of many logs or rooms, as gateways do periodically.
  fileprivate var readsHeads: Bool {
    switch self {
    case .heads, .room(.heads): true
    default: false
    }
  }
}
