package import ParleyJSON
import OTCore

/// The outer fields of a message: its id, its type, and the range of `data` in the same bytes.
///
/// The initializer checks the JSON of the whole message and neither copies nor allocates. `data` is
/// then read field by field into the type that `type` names.
package struct Envelope: MessageSource {
  private let bytes: UnsafeBufferPointer<UInt8>
  /// The message's id.
  package let messageID: JSONText
  /// The type of `data`.
  package let type: JSONText
  /// The range of `data` in the bytes.
  package let data: Range<Int>?
  /// Maximum components of a change's operation.
  var operationComponentsMax = Int.max

  /// The value of a field that should be a string.
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

    /// The text; `nil` if the value is missing or not a string.
    var text: JSONText? {
      if case .text(let text) = self { text } else { nil }
    }

    /// Returns the text, or throws if the value is missing or not a string.
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

  /// Maximum JSON values of a message, in addition to two for each permitted component: the Whaler
  /// family sends two values for each component.
  private static let otherValuesMax = 50_000

  /// Reads the envelope of a message.
  ///
  /// - Parameter operationComponentsMax: Maximum components of a change's operation. It also limits
  ///   the values of the message: reading stops at the first value beyond the limit.
  /// - Throws: `MessageError`, with the message's id if it precedes the error.
  package init(
    _ message: UnsafeRawBufferPointer, operationComponentsMax: Int = .max
  ) throws(MessageError) {
    bytes = message.assumingMemoryBound(to: UInt8.self)
    self.operationComponentsMax = operationComponentsMax
    var reader = JSONReader(bytes)
    let (twice, overflows) = operationComponentsMax.multipliedReportingOverflow(by: 2)
    if !overflows {
      reader.limitValues(to: twice.addingReportingOverflow(Self.otherValuesMax).partialValue)
    }
    var messageID = Found.nothing
    var type = Found.nothing
    var data: Range<Int>?
    var place: Int?
    do throws(JSONError) {
      try reader.object { key, reader throws(JSONError) in
        switch key {
        case "messageId": messageID = try Found(&reader)
        case "type": type = try Found(&reader)
        case "data":
          place = reader.offset
          data = try reader.skipValue()
        default: try reader.skipValue()
        }
      }
      try reader.finish()
    } catch {
      var failure = MessageError(error, in: "envelope", field: nil)
      failure.messageID = messageID.text?.string
      if case .tooManyValues = error, let type = type.text, type == "change", let place {
        failure.change = Self.change(in: bytes, from: place)
      }
      throw failure
    }
    self.type = try type.text(as: "type", of: messageID.text)
    if case .nothing = messageID, self.type == "c" {
      self.messageID = .empty
    } else {
      self.messageID = try messageID.text(as: "messageId", of: nil)
    }
    self.data = data
  }

  /// Returns the change that is rejected because its message has too many values; `nil` unless the
  /// change's name precedes its operation.
  private static func change(
    in bytes: UnsafeBufferPointer<UInt8>, from place: Int
  ) -> MessageError.RejectedChange? {
    var reader = JSONReader(bytes, range: place..<bytes.count)
    var documentID: String?
    var sequence: Int?
    do throws(JSONError) {
      guard try reader.beginObject() else { return nil }
      repeat {
        switch try reader.key() {
        case "documentId": documentID = try reader.string()
        case "sequence": sequence = try reader.integer()
        case "operation":
          guard let documentID, let sequence else { return nil }
          return MessageError.RejectedChange(documentID: documentID, sequence: sequence)
        default: try reader.skipValue()
        }
      } while try reader.nextField()
    } catch {}
    return nil
  }

  /// Reads `data` into an object.
  mutating func read<Object: MessageObject>() throws(MessageError) -> Object {
    var fields = try fields()
    var object = Object.blank
    do throws(JSONError) {
      try fields.read(into: &object)
    } catch {
      throw failure(error, fields, object.rejectedChange)
    }
    return object
  }

  /// Returns a reader of the fields of `data`.
  #if hasFeature(Embedded)
    @inline(never)
  #endif
  private func fields() throws(MessageError) -> MessageFields {
    MessageFields(reading: try reader(), operationComponentsMax: operationComponentsMax)
  }

  /// Returns the message error for an error in `data`.
  #if hasFeature(Embedded)
    @inline(never)
  #endif
  private func failure(
    _ error: JSONError, _ fields: MessageFields, _ change: MessageError.RejectedChange?
  ) -> MessageError {
    var failure = named(MessageError(error, in: type.string, field: fields.failedKey))
    if failure.code == .tooLarge { failure.change = change }
    return failure
  }

  /// Reads a change of the Whaler family, in which two arrays represent the operation.
  ///
  /// - Parameter componentsMax: Maximum components. Reading stops at the first one beyond it.
  /// - Returns: The change, with revision 0 if the message has no revision.
  func change(
    hasRevision: Bool, componentsMax: Int = .max
  ) throws(MessageError) -> (resourceID: String, revision: Int, operation: TextOperation) {
    var reader = try reader()
    var place: JSONText?
    var resourceID: String?
    var revision: Int? = hasRevision ? nil : 0
    var arrays = WhalerArrays()
    do throws(JSONError) {
      try reader.object { key, reader throws(JSONError) in
        place = key
        switch key {
        case "resourceId": resourceID = try reader.string()
        case "rev" where hasRevision: revision = try reader.integer()
        case "n": arrays.numbers = try reader.skipArray()
        case "s": arrays.texts = try reader.skipArray()
        default: try reader.skipValue()
        }
      }
    } catch {
      throw named(MessageError(error, in: type.string, field: place?.string ?? "data"))
    }
    guard let resourceID else { throw missing("resourceId") }
    guard let revision else { throw missing("rev") }
    return (resourceID, revision, try arrays.operation(in: self, componentsMax: componentsMax))
  }

  private func reader() throws(MessageError) -> JSONReader {
    guard let data else { throw missing("data") }
    return JSONReader(bytes, range: data)
  }

  /// Returns a reader of a part whose range is known.
  func reader(at range: Range<Int>) -> JSONReader { JSONReader(bytes, range: range) }

  /// Returns the error for a missing field.
  func missing(_ field: String) -> MessageError {
    named(MessageError(.missing(field: field), in: type.string, field: nil))
  }

  /// Returns an error with this message's id.
  func named(_ error: MessageError) -> MessageError {
    var error = error
    error.messageID = messageID.string
    return error
  }

  static func write(
    messageID: String?, type: String, into buffer: inout [UInt8],
    data: (inout MessageFields) -> Void
  ) {
    write(messageID: messageID, type: type, into: &buffer) { _, buffer in
      var fields = MessageFields(.writing)
      swap(&fields.buffer, &buffer)
      data(&fields)
      swap(&fields.buffer, &buffer)
    }
  }

  static func write(
    messageID: String?, type: String, sender: String? = nil, into buffer: inout [UInt8],
    data: (inout JSONWriter.Object, inout [UInt8]) -> Void
  ) {
    JSONWriter.object(&buffer) { object, buffer in
      object.field("senderId", sender, &buffer)
      object.field("messageId", messageID, &buffer)
      object.key("type", &buffer)
      var type = type
      buffer.append(UInt8(ascii: "\""))
      type.withUTF8 { buffer.append(contentsOf: $0) }
      buffer.append(UInt8(ascii: "\""))
      object.key("data", &buffer)
      JSONWriter.object(&buffer, data)
    }
  }
}

/// A source from which a message is read once its type is known.
protocol MessageSource {
  /// Reads a message's `data`.
  mutating func read<Object: MessageObject>() throws(MessageError) -> Object
}

extension JSONWriter.Object {
  /// Writes an object's fields among the fields of this object.
  mutating func fields(of object: some MessageObject, _ buffer: inout [UInt8]) {
    var fields = MessageFields(.writing)
    swap(&fields.buffer, &buffer)
    fields.isFirst = isFirst
    fields.show(object)
    isFirst = fields.isFirst
    swap(&fields.buffer, &buffer)
  }

  /// Writes a position in a room's history as two fields.
  package mutating func fields(_ point: RoomPosition, _ buffer: inout [UInt8]) {
    fields(of: point, &buffer)
  }

  /// Writes the field `publications`.
  package mutating func field(
    _ publications: [Publication], _ buffer: inout [UInt8]
  ) {
    key("publications", &buffer)
    append(publications, &buffer)
  }

  /// Writes a list of people as a field.
  package mutating func field(
    _ name: StaticString, _ people: [PersonProfile], _ buffer: inout [UInt8]
  ) {
    key(name, &buffer)
    append(people, &buffer)
  }

  private func append(_ value: some MessageForm, _ buffer: inout [UInt8]) {
    var fields = MessageFields(.writing)
    swap(&fields.buffer, &buffer)
    value.write(&fields)
    swap(&fields.buffer, &buffer)
  }
}
