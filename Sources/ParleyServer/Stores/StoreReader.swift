import Gateway
import GatewayPorts
import Locks

/// The thread that reads from the store while the store's own thread commits.
///
/// It has a connection of its own, on which nothing can be written; SQLite's write-ahead log lets
/// both work at once. Each read is a transaction of its own that begins after it was asked for, so
/// it sees every commit that was over by then, and no other commit was acknowledged. So reads wait
/// for no commit: texts and histories can be read while the disk does not sync.
///
/// The thread also does the store's chores while no read waits, such as folding texts to be kept as
/// snapshots.
final class StoreReader: Sendable {
  /// A read that is done.
  struct Read: Sendable {
    let ticket: StoreTicket?
    let reply: StoreReply
    /// From taking it until it was done.
    let microseconds: Int64
  }

  /// A chore that was done, or failed.
  struct DoneChore: Sendable {
    let chore: StoreChore
    /// `nil` if there was nothing to do.
    let outcome: Result<StoreChore.Result?, StoreError>
  }

  /// Work that has been done.
  enum News: Sendable {
    case read(Read)
    case chore(DoneChore)
  }

  private struct State {
    /// Reads that have not begun.
    var requests = ReadQueue()
    /// Waiting reads that are no longer wanted, and perhaps some that are done.
    var forgotten: Set<StoreTicket> = []
    /// Work for the time without waiting reads; one for each document at most.
    var chores: [StoreChore] = []
    var isStopping = false
    var hasStopped = false
  }

  private let state = Monitor(State())

  /// Starts the thread.
  ///
  /// - Parameter done: called on it with each read, and each chore.
  init(store: Handover<any DocumentStore>, done: @escaping @Sendable (News) -> Void) {
    SystemThread.start { [state] in
      Self.run(store, state: state, done: done)
      // Its connection is closed by now.
      state.change { $0.hasStopped = true }
    }
  }

  /// Queues reads. Never blocks.
  func submit(_ work: [(ticket: StoreTicket?, request: StoreRequest)]) {
    guard !work.isEmpty else { return }
    state.change { state in
      for item in work { state.requests.append(item) }
    }
  }

  /// Has reads fail instead of being done, if they have not begun.
  func forget(_ tickets: [StoreTicket]) {
    guard !tickets.isEmpty else { return }
    state.withLock { if !$0.requests.isEmpty { $0.forgotten.formUnion(tickets) } }
  }

  /// Queues chores.
  func submit(_ chores: [StoreChore]) {
    guard !chores.isEmpty else { return }
    state.change { $0.chores += chores }
  }

  /// Reads that have not begun.
  var queued: Int { state.withLock { $0.requests.count } }

  /// Does the reads that are queued, then ends the thread; returns when it has ended. Chores that are
  /// still to be done are left to the next start.
  func stop() {
    state.change { $0.isStopping = true }
    state.wait { $0.hasStopped }
  }

  private static func run(
    _ handover: Handover<any DocumentStore>, state: Monitor<State>, done: (News) -> Void
  ) {
    let store = handover.take()
    while true {
      // One by one: a long one holds back neither the others' replies nor the log's checkpoints.
      let (read, isForgotten, chore) = state.wait(
        until: { !$0.requests.isEmpty || !$0.chores.isEmpty || $0.isStopping },
        then: { state -> (ReadQueue.Item?, Bool, StoreChore?) in
          if let read = state.requests.popFirst() {
            let isForgotten = read.ticket.map { state.forgotten.remove($0) != nil } ?? false
            if state.requests.isEmpty { state.forgotten = [] }
            return (read, isForgotten, nil)
          }
          let isFree = !state.isStopping && !state.chores.isEmpty
          return (nil, false, isFree ? state.chores.removeFirst() : nil)
        })
      if let chore {
        let outcome = Result { () throws(StoreError) in
          try (store as? any ServerStore)?.work(on: chore)
        }
        done(.chore(DoneChore(chore: chore, outcome: outcome)))
        continue
      }
      guard let (ticket, request) = read else { return }
      let begin = SystemClock().microseconds
      let reply =
        isForgotten
        ? StoreReply.failed(.cancelled)
        : store.perform([request])[0]
      let end = SystemClock().microseconds
      done(.read(Read(ticket: ticket, reply: reply, microseconds: end - begin)))
    }
  }
}
