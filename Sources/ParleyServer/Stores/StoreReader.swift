import Gateway
import ParleyGatewayPorts
import ParleyLocks

/// The thread that reads from the store while the store's own thread commits.
///
/// It has its own read-only connection; SQLite's write-ahead log lets both threads work
/// concurrently. Each read is a transaction that begins after its request, so it sees every commit
/// that had finished at the request, and no other commit had been acknowledged. Reads wait for no
/// commit: texts and histories can be read while the disk does not sync.
///
/// The thread also performs the store's chores while no read waits, such as folding texts into
/// snapshots.
final class StoreReader: Sendable {
  /// A completed read.
  struct Read: Sendable {
    let ticket: StoreTicket?
    let reply: StoreReply
    /// Microseconds from taking the read until it was done.
    let microseconds: Int64
  }

  /// A chore that succeeded or failed.
  struct DoneChore: Sendable {
    let chore: StoreChore
    /// `nil` if the chore had nothing to do.
    let outcome: Result<StoreChore.Result?, StoreError>
  }

  /// Completed work.
  enum News: Sendable {
    case read(Read)
    case chore(DoneChore)
  }

  private struct State {
    /// Reads that have not begun.
    var requests = ReadQueue()
    /// Cancelled reads; some of them may be done already.
    var forgotten: Set<StoreTicket> = []
    /// Chores for times without waiting reads; at most one for each document.
    var chores: [StoreChore] = []
    var isStopping = false
    var hasStopped = false
  }

  private let state = Monitor(State())

  /// Starts the thread.
  ///
  /// - Parameter done: Called on the thread after each read and each chore.
  init(store: Handover<any DocumentStore>, done: @escaping @Sendable (News) -> Void) {
    SystemThread.start { [state] in
      Self.run(store, state: state, done: done)
      // Its connection is closed.
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

  /// Cancels reads that have not begun; they fail with `cancelled`.
  func forget(_ tickets: [StoreTicket]) {
    guard !tickets.isEmpty else { return }
    state.withLock { if !$0.requests.isEmpty { $0.forgotten.formUnion(tickets) } }
  }

  /// Queues chores.
  func submit(_ chores: [StoreChore]) {
    guard !chores.isEmpty else { return }
    state.change { $0.chores += chores }
  }

  /// The number of reads that have not begun.
  var queued: Int { state.withLock { $0.requests.count } }

  /// Performs the queued reads, stops the thread, and returns when it has ended. Remaining chores
  /// are left to the next start.
  func stop() {
    state.change { $0.isStopping = true }
    state.wait { $0.hasStopped }
  }

  private static func run(
    _ handover: Handover<any DocumentStore>, state: Monitor<State>, done: (News) -> Void
  ) {
    let store = handover.take()
    while true {
      // One read at a time: a long read delays neither other replies nor the log's checkpoints.
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
