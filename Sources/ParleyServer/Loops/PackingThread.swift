import CompressionZlib
import GatewayPorts
import Locks

/// The thread that compresses answers, which takes longer than a turn of a loop may: up to 35 ms for a megabyte.
///
///     loop   answer ─▶ submit ─▶ packing thread ─▶ the loop's mailbox ─▶ transport
///
/// While too much waits, answers are sent as they are.
final class PackingThread: Sendable {
  /// Shorter bodies are sent as they are: a packet carries them either way.
  static let bodyBytesMin = 1_024
  /// Bytes of bodies that may wait.
  static let waitingBytesMax = 32 << 20

  /// An answer, and what is done with it when it is compressed.
  private struct Job {
    let response: Response
    let packing: Packing
    let done: @Sendable (Response) -> Void
  }

  private struct State {
    var jobs: [Job] = []
    var waitingBytes = 0
    var isStopping = false
    var hasStopped = false
  }

  private let state = Monitor(State())

  /// Starts the thread.
  init() {
    SystemThread.start { [state] in
      while true {
        let jobs: [Job]? = state.wait(
          until: { !$0.jobs.isEmpty || $0.isStopping },
          then: { state in
            defer { state.jobs = [] }
            return state.isStopping ? nil : state.jobs
          })
        guard let jobs else { break }
        for job in jobs {
          job.done(Self.packed(job.response, job.packing))
          state.withLock { $0.waitingBytes -= job.response.body.count }
        }
      }
      state.change { $0.hasStopped = true }
    }
  }

  /// Compresses an answer that says how, and calls `done` with it on the thread.
  ///
  /// - Returns: Whether `done` is called. If not, the answer is sent as it is.
  func submit(_ response: Response, done: @escaping @Sendable (Response) -> Void) -> Bool {
    let byteCount = response.body.count
    guard let packing = response.packing, byteCount >= Self.bodyBytesMin else { return false }
    let isTaken = state.withLock { state in
      guard !state.isStopping, state.waitingBytes + byteCount <= Self.waitingBytesMax else {
        return false
      }
      state.waitingBytes += byteCount
      state.jobs.append(Job(response: response, packing: packing, done: done))
      return true
    }
    if isTaken { state.signal() }
    return isTaken
  }

  /// Ends the thread after its current job, and returns when it has ended.
  func stop() {
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
