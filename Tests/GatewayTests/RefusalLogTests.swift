import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleyLocks
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Refusals in the log")
struct RefusalLogTests {
  private final class Lines: LogSink {
    private let lines = Locked<[String]>([])
    let level = LogLevel.info

    var all: [String] { lines.withLock { $0 } }

    func write(_ level: LogLevel, _ message: String, _ data: [(key: String, value: String)]) {
      guard level >= self.level else { return }
      let fields = data.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
      lines.withLock { $0.append("\(message) \(fields)") }
    }
  }

  @Test("a refusal is logged once for a connection, without the client's text")
  func refusals() throws {
    let log = Lines()
    let rig = GatewayRig(log: log)
    let (id, _) = try rig.connectNative(
      rig.token("ann", [Grant(.rooms, NamePattern("mine"), .read)]))
    for _ in 0..<3 {
      rig.ask(id, .publish(.init(room: "a secret room", data: .null)))
      rig.ask(id, .subscribe(.init(room: String(repeating: "s", count: 201))))
    }
    rig.say(id, "a secret")
    #expect(
      log.all == [
        "message refused reason=notAllowed", "message refused reason=tooLarge",
        "message refused reason=badMessage",
      ])
    let body = #"{"data":"a secret"}"#
    #expect(
      rig.request("POST", "/api/rooms/a-secret-room/publish", token: "ann", body).status == 403)
    #expect(log.all.last == "request refused reason=notAllowed")
    #expect(log.all.allSatisfy { !$0.contains("secret") && !$0.contains("ann") })
  }
}
