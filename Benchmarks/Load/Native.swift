import OTCore
import SocketMessages
import ParleyWebSocketFrames

/// The messages of a client of `parley.v1`, as frames.
enum Native {
  static let subprotocol = "parley.v1"

  static func frame(_ message: ClientMessage, messageID: String = "m") -> Frame {
    Frame(maskKey: Client.maskKey) { message.encode(messageID: messageID, into: &$0) }
  }

  static func hello(name: String, token: String? = nil, numbersMax: Int = 0) -> Frame {
    frame(
      .hello(
        .init(
          name: name, token: token, takesNumbers: numbersMax > 0,
          numbersMax: numbersMax > 0 ? numbersMax : nil)))
  }

  static func subscribe(_ room: String, values: Bool = false) -> Frame {
    var message = ClientMessage.Subscribe(room: room)
    if values { message.values = ValueNames() }
    return frame(.subscribe(message))
  }

  static func join(_ document: String) -> Frame {
    frame(.join(.init(documentID: document, resume: nil)))
  }

  static func decode(_ bytes: UnsafeRawBufferPointer) -> ServerMessage {
    do {
      return try ServerMessage.decode(bytes).message
    } catch {
      fail(
        "the server's message cannot be read: \(String(decoding: bytes.prefix(200), as: UTF8.self))"
      )
    }
  }
}
