import OTCore

/// The envelope of every message: `{"messageId": "…", "type": "…", "data": {…}}`.
public struct SocketMessage<Data> {
  /// Names the message; a reply bears the name of what it answers.
  public var messageID: String
  /// What `data` is.
  public var type: String
  /// The content.
  public var data: Data

  /// Makes a message.
  public init(messageID: String, type: String, data: Data) {
    self.messageID = messageID
    self.type = type
    self.data = data
  }
}

extension SocketMessage: Sendable where Data: Sendable {}
extension SocketMessage: Equatable where Data: Equatable {}

/// Why a message could not be read. Says where and what was expected, never what stood there.
public struct MessageError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What kind of mistake it is.
  public var code: ErrorCode
  /// The message's name, if that much could be read.
  public var messageID: String?
  /// For people.
  public var description: String

  init(_ code: ErrorCode, _ description: String, messageID: String? = nil) {
    self.code = code
    self.messageID = messageID
    self.description = description
  }

  init(_ error: JSONError, in place: String) {
    switch error {
    case .malformed(let offset):
      self.init(.badMessage, "the message is not JSON from byte \(offset) on; send a JSON object")
    case .tooDeep(let offset):
      self.init(
        .badMessage,
        "expected at most \(JSONReader.depthMax) nested objects and arrays; "
          + "one more begins at byte \(offset)")
    case .wrongType(let expected, let offset):
      self.init(.badMessage, "\(place): expected \(expected) at byte \(offset)")
    case .tooLong(let offset):
      self.init(
        .badOperation,
        "\(place): an operation spans at most \(TextOperation.lengthMax) scalars; "
          + "this one passes that at byte \(offset)")
    }
  }

  static func missing(_ field: StaticString, in type: String) -> MessageError {
    MessageError(.badMessage, "\(type): the field \(field) is missing")
  }
}

/// The first step of reading: the envelope, with `data` as a range of the same bytes.
struct Envelope {
  var messageID: String?
  var sender: String?
  var type: String?
  var data: Range<Int>?

  init(_ bytes: UnsafeBufferPointer<UInt8>) throws(MessageError) {
    var reader = JSONReader(bytes)
    var envelope = (
      messageID: String?.none, sender: String?.none, type: String?.none, data: Range<Int>?.none
    )
    do throws(JSONError) {
      try reader.object { key, reader throws(JSONError) in
        switch key {
        case "messageId": envelope.messageID = try reader.string()
        case "type": envelope.type = try reader.string()
        case "data": envelope.data = try reader.skipValue()
        case "senderId":
          if try !reader.isNull() { envelope.sender = try reader.string() }
        default: try reader.skipValue()
        }
      }
      try reader.finish()
    } catch {
      var failure = MessageError(error, in: "envelope")
      failure.messageID = envelope.messageID
      throw failure
    }
    (messageID, sender, type, data) = envelope
  }

  /// Reads `data` field by field, then has `make` put the message together.
  func read<Message>(
    _ bytes: UnsafeBufferPointer<UInt8>, as type: String,
    _ field: (String, inout JSONReader) throws(JSONError) -> Void,
    make: () throws(MessageError) -> Message
  ) throws(MessageError) -> Message {
    guard let data else { throw named(.missing("data", in: type)) }
    var reader = JSONReader(bytes, range: data)
    var place = ""
    do throws(JSONError) {
      try reader.object { key, reader throws(JSONError) in
        place = key
        try field(key, &reader)
      }
    } catch {
      throw named(MessageError(error, in: "\(type), field \(Self.printable(place))"))
    }
    do throws(MessageError) {
      return try make()
    } catch {
      throw named(error)
    }
  }

  func named(_ error: MessageError) -> MessageError {
    var error = error
    error.messageID = messageID
    return error
  }

  /// A field's name is ours only if it looks like one; anything else is the sender's text.
  private static func printable(_ key: String) -> String {
    key.utf8.count <= 32
      && key.utf8.allSatisfy { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7a } ? key : "?"
  }

  static func write(
    messageID: String, type: StaticString, sender: String? = nil, into buffer: inout [UInt8],
    data: (inout JSONWriter.Object, inout [UInt8]) -> Void
  ) {
    JSONWriter.object(&buffer) { object, buffer in
      object.field("senderId", sender, &buffer)
      object.field("messageId", messageID, &buffer)
      object.key("type", &buffer)
      buffer.append(UInt8(ascii: "\""))
      type.withUTF8Buffer { buffer.append(contentsOf: $0) }
      buffer.append(UInt8(ascii: "\""))
      object.key("data", &buffer)
      JSONWriter.object(&buffer, data)
    }
  }
}

extension JSONReader {
  /// Reads an operation's JSON form, `[1,"tag",-2]`.
  mutating func operation() throws(JSONError) -> TextOperation {
    var operation = TextOperation()
    try array { reader throws(JSONError) in
      if reader.isAtString {
        try reader.insertion(into: &operation)
      } else {
        let start = reader.offset
        let count = try reader.integer()
        // A deletion adds to the base alone, a retention to both; neither may pass the longest.
        let length = max(operation.baseLength, count > 0 ? operation.targetLength : 0)
        guard abs(count) <= TextOperation.lengthMax - length else {
          throw .tooLong(offset: start)
        }
        if count < 0 { operation.delete(-count) } else { operation.retain(count) }
      }
    }
    return operation
  }

  /// Reads `[[anchor, head], …]`.
  mutating func selections() throws(JSONError) -> [Selection] {
    var selections: [Selection] = []
    try array { reader throws(JSONError) in
      let start = reader.offset
      var ends: [Int] = []
      try reader.array { reader throws(JSONError) in
        ends.append(try reader.integer())
      }
      guard ends.count == 2 else {
        throw .wrongType(expected: "an anchor and a head", offset: start)
      }
      selections.append(Selection(anchor: ends[0], head: ends[1]))
    }
    return selections
  }

  /// Reads a string, or `null` as none.
  mutating func optionalString() throws(JSONError) -> String? {
    try isNull() ? nil : try string()
  }
}
