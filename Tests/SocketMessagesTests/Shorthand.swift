import OTCore
import SocketMessages
import Testing

/// An operation from its JSON form.
func operation(_ json: String) throws -> TextOperation {
  var json = json
  return try json.withUTF8 { bytes throws(OperationError) in try TextOperation(json: bytes) }
}

/// Gives `body` the bytes of a text.
func withBytes<Value, Failure: Error>(
  of bytes: some Sequence<UInt8>, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
) throws(Failure) -> Value {
  // An allocation of exactly this size, so that the address sanitizer sees a read beyond it.
  let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: Array(bytes).count, alignment: 1)
  defer { copy.deallocate() }
  copy.copyBytes(from: Array(bytes))
  return try body(UnsafeRawBufferPointer(copy))
}

/// The common part of the four decoders, so that one test can be run on each.
struct Dialect: Sendable, CustomTestStringConvertible {
  /// The sender of a message, as the examples name it.
  enum Direction: String, Sendable, CaseIterable {
    case client
    case server
    case whalerClient = "whaler-client"
    case whalerServer = "whaler-server"
  }

  let direction: Direction
  /// Reads a message, and encodes it again.
  let decode: @Sendable ([UInt8]) throws(MessageError) -> Decoded

  /// The questions that a test may ask of a message of any dialect.
  struct Decoded {
    let messageID: String
    /// The case's name; `nil` for an unknown type.
    let kind: String?
    /// The message encoded again; empty for an unknown type.
    let bytes: [UInt8]

    var isKnown: Bool { kind != nil }
  }

  static let client = Dialect(direction: .client) { bytes throws(MessageError) in
    let (id, message) = try withBytes(of: bytes) { bytes throws(MessageError) in
      try ClientMessage.decode(bytes)
    }
    var buffer: [UInt8] = []
    message.encode(messageID: id, into: &buffer)
    return Decoded(messageID: id, kind: message.kind?.rawValue, bytes: buffer)
  }

  static let server = Dialect(direction: .server) { bytes throws(MessageError) in
    let (id, message) = try withBytes(of: bytes) { bytes throws(MessageError) in
      try ServerMessage.decode(bytes)
    }
    var buffer: [UInt8] = []
    message.encode(messageID: id, into: &buffer)
    return Decoded(messageID: id, kind: message.kind?.rawValue, bytes: buffer)
  }

  static let whalerClient = Dialect(direction: .whalerClient) {
    bytes throws(MessageError) in
    let (id, message) = try withBytes(of: bytes) { bytes throws(MessageError) in
      try WhalerClientMessage.decode(bytes)
    }
    var buffer: [UInt8] = []
    message.encode(messageID: id, into: &buffer)
    return Decoded(messageID: id, kind: WhalerClientKind(message)?.rawValue, bytes: buffer)
  }

  /// The name of the server's process is written before the rest, so it is given here.
  static let whalerSender = "3F2504E0-4F89-11D3-9A0C-0305E82C3301"

  static let whalerServer = Dialect(direction: .whalerServer) {
    bytes throws(MessageError) in
    let (id, message) = try withBytes(of: bytes) { bytes throws(MessageError) in
      try WhalerServerMessage.decode(bytes)
    }
    var buffer: [UInt8] = []
    message.encode(senderID: whalerSender, messageID: id, into: &buffer)
    return Decoded(messageID: id, kind: WhalerServerKind(message)?.rawValue, bytes: buffer)
  }

  var testDescription: String { direction.rawValue }

  static let all = [client, server, whalerClient, whalerServer]
}

extension Dialect {
  /// Decodes a text and encodes it again.
  func again(_ json: String) throws -> String {
    String(decoding: try decode(Array(json.utf8)).bytes, as: UTF8.self)
  }

  /// The error that a text gives, or `nil` with an issue recorded.
  func error(
    _ json: some StringProtocol, _ location: SourceLocation = #_sourceLocation
  ) -> MessageError? {
    error(bytes: Array(json.utf8), location)
  }

  /// The error that bytes give, or `nil` with an issue recorded.
  func error(bytes: [UInt8], _ location: SourceLocation = #_sourceLocation) -> MessageError? {
    do throws(MessageError) {
      _ = try decode(bytes)
      Issue.record("no error came", sourceLocation: location)
      return nil
    } catch {
      return error
    }
  }
}
