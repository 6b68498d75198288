import ParleyGatewayPorts
import ParleyLocks
import ParleyServer
import Testing

/// The thread that compresses responses with lists.
@Suite("Compression beside the loops")
struct PackingThreadTests {
  private let thread = CompressionThread()
  /// The statuses of the finished responses, in order; a compressed one has an asterisk.
  private let passedOn = Monitor<[String]>([])
  private let gate = Gate()

  /// Creates a compressible response, identified by its status.
  private func answer(_ status: Int, to limitedClient: LimitedClient?) -> Response {
    var response = Response(status: status, body: [UInt8](repeating: 0x61, count: 4_096))
    response.packing = Packing(repeatingCount: 4_096)
    response.packing?.limitedClient = limitedClient
    return response
  }

  private func submit(_ status: Int, to limitedClient: LimitedClient? = nil) -> Bool {
    thread.submit(answer(status, to: limitedClient)) { [passedOn] packed in
      passedOn.change { $0.append("\(packed.status)" + (packed.body.count < 4_096 ? "*" : "")) }
    }
  }

  /// Blocks the thread until the gate opens.
  private func block() {
    let isTaken = thread.submit(answer(200, to: nil)) { [gate] _ in gate.pass() }
    #expect(isTaken)
    gate.awaitVisitor()
  }

  private func passedOn(_ count: Int) -> [String] {
    passedOn.wait(until: { $0.count >= count }, then: { $0 })
  }

  @Test("a client has a share of the queue, and waits for at most one list of each other client")
  func shares() {
    let (ann, ben) = (LimitedClient.user(ExactName("ann")), LimitedClient.user(ExactName("ben")))
    block()
    for place in 0..<CompressionThread.jobsMaxOfStranger { #expect(submit(300 + place, to: ann)) }
    #expect(!submit(399, to: ann))
    #expect(submit(400, to: ben))
    #expect(submit(500))
    gate.open()
    #expect(passedOn(6) == ["300*", "400*", "500*", "301*", "302*", "303*"])
    // The stranger's share is free again.
    #expect(submit(304, to: ann))
    #expect(passedOn(7).last == "304*")
    thread.stop()
  }

  @Test("waiting answers are passed on when the server stops")
  func stop() {
    block()
    for place in 0..<3 { #expect(submit(300 + place)) }
    let hasStopped = Monitor(false)
    SystemThread.start { [thread] in
      thread.stop()
      hasStopped.change { $0 = true }
    }
    // Submit until the thread rejects a response, because it is full or stopping.
    while submit(400) {}
    gate.open()
    hasStopped.wait { $0 }
    #expect(passedOn.withLock { $0.map { $0.prefix(3) }.prefix(3) } == ["300", "301", "302"])
    #expect(!submit(301))
  }
}
