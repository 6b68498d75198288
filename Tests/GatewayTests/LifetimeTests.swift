import Gateway
import ParleyGatewayPorts
import SocketMessages
import Testing

@Suite("A gateway that is no longer used")
struct LifetimeTests {
  private final class DiscardingLogSink: LogSink {
    let level = LogLevel.error
    func write(_ level: LogLevel, _ message: String, _ data: [(key: String, value: String)]) {}
  }

  /// Only the gateway's objects retain the log. Its release shows that all of them were released.
  @Test("holds nothing, though connections of every dialect were open")
  func releasesGateway() throws {
    weak var held: DiscardingLogSink?
    do {
      let log = DiscardingLogSink()
      held = log
      let rig = GatewayRig(isDemo: true, log: log)
      rig.make("n1")
      let (native, _) = try rig.connectNative(nil)
      rig.ask(native, .join(.init(documentID: "n1")))
      rig.ask(native, .subscribe(.init(room: "r1")))
      _ = rig.connectWhaler(pool: "n1", token: nil)
      _ = rig.connect(as: .socketIO(query: "EIO=4&transport=websocket", address: ""))
      let bayeux = rig.connect(as: .bayeux(address: ""))
      rig.say(
        bayeux,
        #"{"channel":"/meta/handshake","version":"1.0","supportedConnectionTypes":["websocket"]}"#)
      #expect(held != nil)
    }
    #expect(held == nil)
  }
}
