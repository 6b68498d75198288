import OTCore
import SocketMessages

/// What a client of `parley.v1` says, as frames.
enum Native {
  static let subprotocol = "parley.v1"

  static func frame(_ message: ClientMessage, messageID: String = "m") -> [UInt8] {
    var bytes: [UInt8] = []
    message.encode(messageID: messageID, into: &bytes)
    return FrameCoding.masked(bytes)
  }

  static func hello(name: String) -> [UInt8] {
    frame(.hello(.init(name: name, color: nil, client: nil, token: nil)))
  }

  static func subscribe(_ room: String) -> [UInt8] { frame(.subscribe(.init(room: room))) }

  static func join(_ document: String) -> [UInt8] {
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
