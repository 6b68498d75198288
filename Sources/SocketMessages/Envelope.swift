package import JSON
import OTCore

/// The first step of reading: who names the message and what it is, with `data` as a range of the
/// same bytes.
///
/// The whole message is checked here, and nothing is copied or allocated; the second step reads
/// `data` field by field into the one type that it is.
package struct Envelope {
  private let bytes: UnsafeBufferPointer<UInt8>
  /// The message's name.
  package let messageID: JSONText
  /// What `data` is.
  package let type: JSONText
  /// Where `data` stands.
  package let data: Range<Int>?

  /// A field that should be a string.
  private enum Found {
    case nothing
    case text(JSONText)
    case other(offset: Int)

    init(_ reader: inout JSONReader) throws(JSONError) {
      if reader.isAtString {
        self = .text(try reader.text())
      } else {
        self = .other(offset: reader.offset)
        try reader.skipValue()
      }
    }

    /// The text, if it is one.
    var text: JSONText? {
      if case .text(let text) = self { text } else { nil }
    }

    /// The text, which the message must have.
    func text(
      as field: StaticString, of messageID: JSONText?
    ) throws(MessageError) -> JSONText {
      var failure: MessageError
      switch self {
      case .text(let text): return text
      case .nothing:
        failure = MessageError(.missing(field: "\(field)"), in: "envelope", field: nil)
      case .other(let offset):
        failure = MessageError(
          .wrongType(expected: "a string", offset: offset), in: "envelope", field: "\(field)")
      }
      failure.messageID = messageID?.string
      throw failure
    }
  }

  /// Reads the envelope of a message.
  ///
  /// - Throws: `MessageError`, with the message's name if that stood before the mistake.
  package init(_ message: UnsafeRawBufferPointer) throws(MessageError) {
    bytes = message.assumingMemoryBound(to: UInt8.self)
    var reader = JSONReader(bytes)
    var messageID = Found.nothing
    var type = Found.nothing
    var data: Range<Int>?
    do throws(JSONError) {
      try reader.object { key, reader throws(JSONError) in
        switch key {
        case "messageId": messageID = try Found(&reader)
        case "type": type = try Found(&reader)
        case "data": data = try reader.skipValue()
        default: try reader.skipValue()
        }
      }
      try reader.finish()
    } catch {
      var failure = MessageError(error, in: "envelope", field: nil)
      failure.messageID = messageID.text?.string
      throw failure
    }
    self.type = try type.text(as: "type", of: messageID.text)
    self.messageID = try messageID.text(as: "messageId", of: nil)
    self.data = data
  }

  /// Reads `data` field by field, then has `make` put the message together.
  ///
  /// - Parameter field: is called for each key with the reader at its value, which it must read or
  ///   skip. It may fail with anything but `malformed` and `tooDeep` only for keys it knows: the
  ///   key is named in the error.
  func read<Message>(
    _ type: StaticString, _ field: (JSONText, inout JSONReader) throws(JSONError) -> Void,
    make: () throws(JSONError) -> Message
  ) throws(MessageError) -> Message {
    guard let data else { throw named(MessageError(.missing(field: "data"), in: type, field: nil)) }
    var reader = JSONReader(bytes, range: data)
    var place: JSONText?
    do throws(JSONError) {
      try reader.object { key, reader throws(JSONError) in
        place = key
        try field(key, &reader)
      }
    } catch {
      throw named(MessageError(error, in: type, field: place?.string ?? "data"))
    }
    do throws(JSONError) {
      return try make()
    } catch {
      throw named(MessageError(error, in: type, field: nil))
    }
  }

  /// A reader of a part that was found before.
  func reader(at range: Range<Int>) -> JSONReader { JSONReader(bytes, range: range) }

  /// What is wrong with this message, under its name.
  func named(_ error: MessageError) -> MessageError {
    var error = error
    error.messageID = messageID.string
    return error
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
