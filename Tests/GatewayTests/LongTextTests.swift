import ParleySimulationKit
import SocketMessages
import Testing

/// Answers to messages whose texts are longer than any limit of names.
@Suite("Long texts")
struct LongTextTests {
  private static let json = HostileJSON(
    size: 20_000,
    samples: [
      "documentId": #""d""#, "room": #""r""#, "token": #""all""#, "name": #""n""#, "limit": "1",
      "sequence": "1",
    ])

  @Test(
    "no answer repeats a text that is longer than its limit", arguments: ClientMessage.Kind.allCases
  )
  func answersAreShort(kind: ClientMessage.Kind) throws {
    let inputs = Self.json.inputs(kind.shape ?? .object("", []), besides: false)
    for input in inputs where input.shape.hasSuffix(": a long string") {
      let rig = GatewayRig(isDemo: true)
      rig.make("d")
      let (client, _) = try rig.connectNative(nil)
      rig.ask(client, .subscribe(.init(room: "r")))
      _ = rig.frames(client)
      let message = input.between(#"{"messageId":"m","type":"\#(kind.rawValue)","data":"#, "}")
      rig.say(client, String(decoding: message.bytes, as: UTF8.self))
      let answered = rig.frames(client).reduce(0) { $0 + $1.utf8.count }
      #expect(answered < 8_192, "\(input.shape)")
    }
  }
}
