import ParleyGatewayPorts
import ParleyJSON
import OTCore
import SocketMessages
import ParleyWebSocketFrames

/// A document's encoded texts at one revision: without attributes, and with them for clients that
/// know formatting.
struct SharedTexts {
  var plain: SharedText?
  /// The text with its attributes; `nil` also if it has none.
  var formatted: SharedText?

  subscript(isFormatted isFormatted: Bool) -> SharedText? {
    get { isFormatted ? formatted : plain }
    set { if isFormatted { formatted = newValue } else { plain = newValue } }
  }
}

/// A document's text at one revision, encoded once for all its receivers.
///
/// The bytes before and after the text in a message differ for each connection. A short text is
/// copied between them. A long text is sent as a separate fragment, whose bytes all connections
/// share: fifty clients that open a note of 10 MB share one copy.
struct SharedText {
  /// The minimum bytes of a text that is shared instead of copied.
  static let fragmentBytesMin = 64 << 10

  let revision: Int
  /// The text as a JSON string, and behind it the field `format` if the text has attributes.
  private let fragment: Frame
  /// The time at which the text was last sent, in milliseconds of uptime.
  var usedAt: Int64

  /// Encodes the durable text, which all readers may see.
  ///
  /// - Parameter isFormatted: Whether the attributes follow the text.
  /// - Complexity: O(*n*) bytes of text, and O(*runs*).
  init(_ live: LiveDocument, isFormatted: Bool, now: Int64) {
    revision = live.durableRevision
    usedAt = now
    let content = live.durableContent
    let document = content.text
    // Capacity for the quotes, and for some escaped characters.
    let textBytes = document.utf8Count * 65 / 64 + 2
    fragment = Frame(.text, .middle, reserving: isFormatted ? content.work : textBytes) {
      JSONWriter.string(document, &$0)
      if isFormatted {
        JSONWriter.raw(",\"format\":", &$0)
        content.document.appendFormatJSON(to: &$0)
      }
    }
  }

  /// Returns the frames of a message, with this text instead of the message's own.
  ///
  /// - Parameter presence: Appends the participants of `joined`.
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
