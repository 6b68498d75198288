import ParleyCompressionZlib
package import ParleyGatewayPorts
import ParleyLocks

/// The thread that compresses responses: a megabyte takes up to 35 ms, longer than a turn of a loop
/// may take.
///
///     loop   answer ─▶ submit ─▶ packing thread ─▶ the loop's mailbox ─▶ transport
///
/// Responses wait in a ``FairQueue``, which serves the clients in turn. While the queue is full,
/// for one client or in total, further responses are sent uncompressed.
package final class CompressionThread: Sendable {
  /// Minimum bytes of a compressed body; a shorter one fits in one packet anyway.
  static let bodyBytesMin = 1_024
  /// Maximum bytes of waiting bodies.
  static let waitingBytesMax = 32 << 20
  /// Maximum responses that wait or are being compressed: in total, and of one client.
  private static let jobsMax = 256
  package static let jobsMaxOfStranger = 4

  /// A response, and the receiver of its compressed form.
  private struct Job {
    let response: Response
    let packing: Packing
    let done: @Sendable (Response) -> Void
  }

  private struct State {
    var jobs = FairQueue<LimitedClient, Job>(
      capacity: CompressionThread.jobsMax, countMaxOfStranger: CompressionThread.jobsMaxOfStranger)
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
        // After `stop()`, the remaining responses are not compressed: the server waits for this
        // thread.
        job.done(isStopping ? job.response : Self.packed(job.response, job.packing))
        state.withLock { state in
          state.waitingBytes -= job.response.body.count
          state.jobs.finish(for: job.packing.limitedClient)
        }
      }
      state.change { $0.hasStopped = true }
    }
  }

  /// Compresses a response as its `packing` says, and calls `done` with it on the thread.
  ///
  /// - Returns: Whether `done` will be called. If not, the caller sends the response uncompressed.
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
      guard state.jobs.append(job, for: packing.limitedClient) == nil else { return false }
      state.waitingBytes += byteCount
      return true
    }
    if isTaken { state.signal() }
    return isTaken
  }

  /// Stops the thread, and returns when it has ended. Waiting responses are passed on uncompressed.
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
