import ParleyGatewayPorts
import ParleyJSON
import OTCore
import SocketMessages
import ParleyWebSocketFrames

/// A document's text at one revision, encoded once for all its receivers.
///
/// The bytes before and behind it in a message belong to one connection. A short text is copied between
/// them. A long one goes out as a fragment of its own, whose bytes all connections share: fifty people who
/// open a note of 10 MB cost one copy of it.
struct SharedText {
  /// Bytes from which a text is not copied.
  static let fragmentBytesMin = 64 << 10

  let revision: Int
  /// The text as a JSON string.
  private let fragment: Frame
  /// The time at which it was last sent, in milliseconds of uptime.
  var usedAt: Int64

  /// Encodes the durable text, which all readers may see.
  ///
  /// - Complexity: O(*n*) bytes of text.
  init(_ live: LiveDocument, now: Int64) {
    revision = live.durableRevision
    usedAt = now
    let document = live.durableContent.text
    // Quotes, and some room for what has to be escaped.
    fragment = Frame(.text, .middle, reserving: document.utf8Count * 65 / 64 + 2) {
      JSONWriter.string(document, &$0)
    }
  }

  /// The frames of a message that carries the text in place of its own.
  ///
  /// - Parameter presence: appends the participants of `joined`.
  func frames(
    of message: ServerMessage, ref: String, presence: ((inout [UInt8]) -> Void)?
  ) -> [Frame] {
    let text = fragment.payload
    guard text.count >= Self.fragmentBytesMin else {
      return [
        Frame(reserving: text.count + 512) {
          message.encode(
            messageID: ref, into: &$0, text: { $0.append(contentsOf: text) }, presence: presence)
        }
      ]
    }
    var around: [UInt8] = []
    var place = 0
    message.encode(
      messageID: ref, into: &around, text: { place = $0.count }, presence: presence)
    return [
      Frame(.text, .first, payload: around[..<place]), fragment,
      Frame(.text, .last, payload: around[place...]),
    ]
  }
}
