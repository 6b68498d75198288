import CompressionZlib
package import GatewayPorts
import Locks

/// The thread that compresses answers, which takes longer than a turn of a loop may: up to 35 ms for a megabyte.
///
///     loop   answer ─▶ submit ─▶ packing thread ─▶ the loop's mailbox ─▶ transport
///
/// Answers wait in a ``FairQueue``, which takes one of each client in turn. While too much waits, of one client or of all,
/// further answers are sent as they are.
package final class PackingThread: Sendable {
  /// Shorter bodies are sent as they are: a packet carries them either way.
  static let bodyBytesMin = 1_024
  /// Bytes of bodies that may wait.
  static let waitingBytesMax = 32 << 20
  /// Answers that may wait or be compressed, of all clients and of one.
  private static let jobsMax = 256
  package static let jobsMaxOfStranger = 4

  /// An answer, and the receiver of its compressed form.
  private struct Job {
    let response: Response
    let packing: Packing
    let done: @Sendable (Response) -> Void
  }

  private struct State {
    var jobs = FairQueue<Stranger, Job>(
      capacity: PackingThread.jobsMax, countMaxOfStranger: PackingThread.jobsMaxOfStranger)
    var waitingBytes = 0
    var isStopping = false
    var hasStopped = false
  }

  private let state = Monitor(State())

  /// Starts the thread.
  package init() {
    SystemThread.start { [state] in
      while true {
        let (job, isStopping): (Job?, Bool) = state.wait(
          until: { !$0.jobs.isEmpty || $0.isStopping },
          then: { ($0.jobs.popFirst(), $0.isStopping) })
        guard let job else { break }
        // The rest of the server waits for its stop.
        job.done(isStopping ? job.response : Self.packed(job.response, job.packing))
        state.withLock { state in
          state.waitingBytes -= job.response.body.count
          state.jobs.finish(for: job.packing.stranger)
        }
      }
      state.change { $0.hasStopped = true }
    }
  }

  /// Compresses an answer that says how, and calls `done` with it on the thread.
  ///
  /// - Returns: Whether `done` is called. If not, the answer is sent as it is.
  package func submit(
    _ response: Response, done: @escaping @Sendable (Response) -> Void
  ) -> Bool {
    let byteCount = response.body.count
    guard let packing = response.packing, byteCount >= Self.bodyBytesMin else { return false }
    let isTaken = state.withLock { state in
      guard !state.isStopping, state.waitingBytes + byteCount <= Self.waitingBytesMax else {
        return false
      }
      let job = Job(response: response, packing: packing, done: done)
      guard state.jobs.append(job, for: packing.stranger) == nil else { return false }
      state.waitingBytes += byteCount
      return true
    }
    if isTaken { state.signal() }
    return isTaken
  }

  /// Ends the thread, and returns when it has ended. Answers that wait are passed on as they are.
  package func stop() {
    state.change { $0.isStopping = true }
    state.wait { $0.hasStopped }
  }

  private static func packed(_ response: Response, _ packing: Packing) -> Response {
    guard let body = Gzip.compressed(response.body, repeatingCount: packing.repeatingCount),
      body.count < response.body.count
    else { return response }
    var packed = response
    packed.packing = nil
    packed.headers.append(("content-encoding", "gzip"))
    packed.body = body
    return packed
  }
}
