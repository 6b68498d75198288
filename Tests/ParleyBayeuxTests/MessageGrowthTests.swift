import ParleyBayeux
import ParleyGrowthKit
import ParleyJSON
import Testing

@Suite("Growth of Bayeux messages", .serialized)
struct MessageGrowthTests {
  /// A message whose every field is as large, with fields that come twice.
  private static func message(_ channel: String, _ size: Int) -> [UInt8] {
    let text = String(repeating: "aé", count: size / 2)
    let list = (0..<min(size, 900)).map { #""/a/\#($0)""# }.joined(separator: ",")
    let odd = (0..<size / 2).map { #""é\#($0)":1"# }.joined(separator: ",")
    return Array(
      (#"{"channel":"\#(channel)","id":"\#(text)","clientId":"\#(text)","version":"\#(text)","#
        + #""supportedConnectionTypes":[\#(list)],"connectionType":"\#(text)","#
        + #""subscription":[\#(list)],"data":{\#(odd),\#(odd)},\#(odd),\#(odd),"#
        + #""ext":{"access_token":"\#(text)",\#(odd),\#(odd)},"advice":{"timeout":1,\#(odd)}}"#)
        .utf8)
  }

  private static func read(_ bytes: [UInt8]) -> BayeuxMessage {
    guard let message = BayeuxMessage.decode(bytes)?.first else {
      preconditionFailure("it was not read")
    }
    return message
  }

  private static let laws =
    [
      GrowthLaw("read a message", size: 2_000, prepare: { message("/meta/subscribe", $0) }) {
        precondition(read($0).subscriptions?.isEmpty == false)
      }
    ]
    + ["/meta/handshake", "/meta/subscribe"].map { channel in
      GrowthLaw("answer \(channel)", size: 2_000, prepare: { read(message(channel, $0)) }) {
        let reply = BayeuxReply.reply(
          to: $0, clientID: $0.clientID, subscription: $0.subscriptions,
          advice: BayeuxReply.Advice())
        precondition(!reply.isEmpty)
      }
    }
    + [
      GrowthLaw(
        "write an event", size: 8_000, prepare: { JSONValue(String(repeating: "é", count: $0)) }
      ) {
        precondition(!BayeuxReply.event(channel: "/group/1", data: $0, id: "1").isEmpty)
      },
      GrowthLaw("write a frame", size: 4_000) { size in
        (0..<size).map { Array(#"{"channel":"/a","data":\#($0)}"#.utf8) }
      } run: {
        precondition(!BayeuxReply.frame($0).isEmpty)
      },
    ]

  @Test("eight times as large a message costs at most sixteen times as much", arguments: laws)
  func growth(law: GrowthLaw) {
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }
}
