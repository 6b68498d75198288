import ParleyGatewayPorts
import ParleyServer
import Testing

@Suite("Limits of the log")
struct LogLimitsTests {
  @Test("a kind of line has twenty at once, then one a second that says how many were left out")
  func flood() {
    var limits = LogLimits()
    let taken = (0..<100).map { _ in limits.take(.notice, "token refused", now: 0) }
    #expect(taken.prefix(20).allSatisfy { $0 == 0 })
    #expect(taken.dropFirst(20).allSatisfy { $0 == nil })
    #expect(limits.take(.notice, "token refused", now: 999) == nil)
    #expect(limits.take(.notice, "token refused", now: 1_000) == 81)
    #expect(limits.take(.notice, "token refused", now: 1_000) == nil)
  }

  @Test("other messages, other levels and what is asked for with debug pass")
  func others() {
    var limits = LogLimits()
    for _ in 0..<100 { _ = limits.take(.notice, "token refused", now: 0) }
    #expect(limits.take(.notice, "link refused", now: 0) == 0)
    #expect(limits.take(.warning, "token refused", now: 0) == 0)
    for _ in 0..<100 { #expect(limits.take(.debug, "message", now: 0) == 0) }
  }
}
