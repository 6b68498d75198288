package import Gateway
package import GatewayPorts
import Glibc
import Locks

/// The thread that owns the store.
///
/// Requests queue up while a batch is being written and synced; the next batch takes all of them
/// into one commit. So the busier the gateway, the more changes share one sync. Reads that need not
/// be in order with commits go to a ``StoreReader``, if there is one.
package final class StoreThread: Sendable {
  /// The completion of one request.
  package struct Completion: Sendable {
    package let ticket: StoreTicket
    package let reply: StoreReply
  }

  /// Work with the outbox, and the receiver of its outcome, called on the store's thread.
  private typealias OutboxWork = (
    request: OutboxRequest, then: @Sendable (OutboxReply) -> Void
  )

  /// Revocations for other nodes, and the receiver of theirs; `nil` if the store cannot read them
  /// now.
  private struct Exchange {
    let revocations: [Revocation]
    let place: Int
    let then: @Sendable (RevocationPage?) -> Void
  }

  private struct State {
    /// In the order in which they came; without a ticket, the reply is not awaited.
    var requests: [(ticket: StoreTicket?, request: StoreRequest)] = []
    /// An account of the requests whose replies are not awaited.
    var untold: StoreBacklog
    var outboxWork: [OutboxWork] = []
    /// Revocations to be exchanged with other nodes.
    var exchange: Exchange?
    /// Chores that the reader has done, found nothing to do for, or failed at.
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

  /// Milliseconds without work after which the store looks at its files.
  private static let lookMilliseconds = 1_000

  private let state: Monitor<State>
  private let reader: StoreReader?
  private let wake: @Sendable () -> Void
  /// The interruption that ends the waiting of both connections.
  private let interruptions: [@Sendable () -> Void]

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - readingStore: the same store, opened for reading, which gets a thread of its own; without
  ///     it everything is done on one.
  /// - untoldMax: the limit of waiting requests whose replies are not awaited; beyond, they are
  ///   dropped.
  ///   - retry: when chores are tried again that have failed.
  /// - log: receives a line when the store could not be closed as one file.
  ///   - wake: called on it when completions are there to be taken.
  ///   - committed: called on it with what search has to look at, after each commit.
  /// - outboxChanged: called on it with queues whose state has changed.
  package init(
    store: Handover<any ServerStore>, readingStore: Handover<any DocumentStore>? = nil,
    log: any LogSink,
    untoldMax: StoreBacklog.Limits = StoreBacklog.Limits(requestsMax: .max, bytesMax: .max),
    retry: ChoreRetry = ChoreRetry(),
    wake: @escaping @Sendable () -> Void,
    committed: @escaping @Sendable ([SearchedChange]) -> Void = { _ in },
    outboxChanged: @escaping @Sendable ([OutboxTarget: OutboxStanding]) -> Void = { _ in }
  ) {
    self.wake = wake
    state = Monitor(State(untold: StoreBacklog(untoldMax)))
    interruptions = [
      store.prepare { $0.interruption() },
      readingStore?.prepare { ($0 as? any ServerStore)?.interruption() },
    ].compactMap(\.self)
    if let readingStore {
      let hasHelper = readingStore.prepare { $0 is any ServerStore }
      store.prepare { $0.hasHelper = hasHelper }
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
      // The store is closed by now: a program that waits for the end may copy its file.
      state.change { $0.hasStopped = true }
    }
  }

  /// Queues requests, which go into one batch. Never blocks on the disk.
  package func submit(_ work: [(ticket: StoreTicket?, request: StoreRequest)]) {
    guard !work.isEmpty else { return }
    guard let reader else { return queue(work) }
    queue(work.filter { !$0.request.traits.isAside })
    reader.submit(work.filter { $0.request.traits.isAside })
  }

  /// Makes abandoned reads fail instead of being done, if they have not begun.
  package func forget(_ tickets: [StoreTicket]) { reader?.forget(tickets) }

  private func queue(_ work: [(ticket: StoreTicket?, request: StoreRequest)]) {
    guard !work.isEmpty else { return }
    state.change { $0.requests += work }
  }

  /// Queues work with the outbox. `then` is called on the store's thread.
  package func submit(
    _ request: OutboxRequest, then: @escaping @Sendable (OutboxReply) -> Void
  ) {
    state.change { $0.outboxWork.append((request, then)) }
  }

  /// Exchanges revocations with other nodes, one call at a time. `then` is called on the store's thread.
  package func exchange(
    _ revocations: [Revocation], after place: Int,
    then: @escaping @Sendable (RevocationPage?) -> Void
  ) {
    state.change {
      $0.exchange = Exchange(revocations: revocations, place: place, then: then)
    }
  }

  /// Records events about changes outside of the store. If their commit fails, or too much waits
  /// for the disk, they are lost, and counted among the failures.
  package func tell(_ drafts: [OutboxDraft]) {
    guard !drafts.isEmpty else { return }
    state.change { state in
      guard !state.untold.isFull else {
        state.metrics.failures += 1
        return
      }
      state.untold.add(bytes: drafts.reduce(0) { $0 + 256 + $1.data.count })
      state.requests.append((nil, .tell(drafts)))
    }
  }

  /// Takes the completions that have come in since the last call.
  package func takeCompletions() -> [Completion] {
    state.withLock { state in
      defer { state.completions = [] }
      return state.completions
    }
  }

  /// The number of times that the store has reconnected, as of its last batch.
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

  /// Why the store writes nothing although no commit has failed; `nil` if all is well.
  package var problem: String? { state.withLock { $0.metrics.state.problem } }

  /// Does what is queued, then ends the threads; returns when they have ended. A database that is away
  /// is not waited for: what it was asked for fails.
  package func stop() {
    for interrupt in interruptions { interrupt() }
    // First the reader: what it has open would keep the log from being emptied.
    reader?.stop()
    state.change { $0.isStopping = true }
    state.wait { $0.hasStopped }
  }

  /// Works until asked to stop, then closes the store.
  private static func run(
    _ handover: Handover<any ServerStore>, state: Monitor<State>, reader: StoreReader?,
    retry: ChoreRetry, log: any LogSink, wake: @Sendable () -> Void,
    committed: @Sendable ([SearchedChange]) -> Void,
    outboxChanged: @Sendable ([OutboxTarget: OutboxStanding]) -> Void
  ) {
    let store = handover.take()
    // Whether the store has housekeeping to do as soon as no request waits.
    var hasMore = true
    var retry = retry
    /// Documents with a chore under way.
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
        // No client waits for a look at many heads: it does not delay acknowledgements.
        let looks = batch.filter(\.request.looksAtHeads)
        for part in [batch.filter { !$0.request.looksAtHeads }, looks] where !part.isEmpty {
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

  /// Work that is taken from the queues.
  private typealias Work = (
    batch: [(ticket: StoreTicket?, request: StoreRequest)], outboxWork: [OutboxWork],
    chore: StoreReader.DoneChore?, exchange: Exchange?
  )

  /// Waits for work, unless there is housekeeping to do, and takes it.
  private static func next(
    _ state: Monitor<State>, hasMore: Bool, atMost milliseconds: Int
  ) -> Work {
    func isWanted(_ state: State) -> Bool { !state.isIdle || state.isStopping || hasMore }
    func take(_ state: inout State) -> Work {
      defer { (state.requests, state.outboxWork, state.exchange) = ([], [], nil) }
      // One at a time: to keep a long text takes as long as some commits.
      let chore = state.chores.isEmpty ? nil : state.chores.removeFirst()
      state.untold.removeAll()
      return (state.requests, state.outboxWork, chore, state.exchange)
    }
    return state.wait(atMostMilliseconds: milliseconds, until: isWanted, then: take)
  }

  /// Does a piece of housekeeping if there is some, and checks the store's files otherwise. Failed housekeeping is due
  /// again after a while.
  ///
  /// - Returns: Whether there is more housekeeping.
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

  /// Keeps the store's state for the loop, and logs when a problem begins and ends.
  private static func note(_ standing: StoreState, _ state: Monitor<State>, _ log: any LogSink) {
    let former = state.withLock { state in
      defer { state.metrics.state = standing }
      return state.metrics.state.problem
    }
    guard former != standing.problem else { return }
    if let problem = standing.problem {
      log.write(.error, "changes are refused for the store's files", [("reason", problem)])
    } else {
      log.write(.notice, "the store's files are back", [])
    }
  }

  /// Keeps the outcome of a chore, or sets it aside if it has failed.
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

  /// Does a batch, and returns what has changed for search.
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
  /// Whether it asks how far many logs or rooms are, as gateways do now and then.
  fileprivate var looksAtHeads: Bool {
    switch self {
    case .heads, .room(.heads): true
    default: false
    }
  }
}
