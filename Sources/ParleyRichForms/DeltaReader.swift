package import OTCore
import ParleyJSON
import ParleyModel

/// The limits of a Delta. The bytes are limited by the caller.
package struct DeltaLimits: Sendable {
  /// Maximum length of the text, in Unicode scalars.
  package let scalarsMax: Int
  /// Maximum attribute sets and runs.
  package let format: FormatLimits

  /// Creates limits.
  package init(
    scalarsMax: Int = TextOperation.lengthMax, format: FormatLimits = FormatLimits()
  ) {
    self.scalarsMax = scalarsMax
    self.format = format
  }
}

/// The reason why a Delta was refused, without the sender's text. Operations count from 0.
package enum DeltaError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The bytes at this offset are not JSON, or half a surrogate pair.
  case malformed(offset: Int)
  /// The value at this offset has another type than expected.
  case wrongType(offset: Int, expected: String)
  /// An operation retains or deletes, but a whole text only has inserts.
  case notAnInsert(operation: Int)
  /// An operation inserts neither a text nor an object with one key, of text, `true` or an integer.
  case noInsert(operation: Int)
  /// An attribute's name or value, or their number, is not allowed.
  case badAttributes(operation: Int)
  /// The text is longer than allowed, in Unicode scalars.
  case tooLong(scalarsMax: Int)
  /// There are more different sets of attributes than allowed.
  case tooManySets(max: Int)
  /// There are more changes of attributes in the text than allowed.
  case tooManyRuns(max: Int)

  /// The expected value, the actual value, and the remedy.
  package var description: String {
    switch self {
    case .malformed(let offset):
      "the Delta is not JSON at byte \(offset), or has half a surrogate pair there"
    case .wrongType(let offset, let expected):
      "expected \(expected) at byte \(offset) of the Delta"
    case .notAnInsert(let operation):
      "expected inserts alone, since a Delta describes the whole text; operation \(operation) "
        + "(from 0) retains or deletes"
    case .noInsert(let operation):
      "expected operation \(operation) (from 0) to insert a text, or an object with one key whose "
        + "value is a text, true or an integer"
    case .badAttributes(let operation):
      "expected attributes of operation \(operation) (from 0) with names like code-block, and "
        + "texts, true or integers as values: at most \(AttributeSet.keysMax), of at most "
        + "\(AttributeSet.valueBytesMax) bytes each"
    case .tooLong(let scalarsMax):
      "expected a text of at most \(scalarsMax) characters; split it"
    case .tooManySets(let max):
      "expected at most \(max) different sets of attributes; use fewer colours, links or sizes"
    case .tooManyRuns(let max):
      "expected at most \(max) changes of attributes in the text; remove formatting"
    }
  }

  /// Whether the Delta is beyond a limit, and not malformed.
  package var isLimit: Bool {
    switch self {
    case .tooLong, .tooManySets, .tooManyRuns: true
    case .malformed, .wrongType, .notAnInsert, .noInsert, .badAttributes: false
    }
  }
}

extension RichDocument {
  /// Reads a whole text from a Delta: a list of inserts, or an object with such a list as `ops`.
  ///
  /// Line ends become `\n`. Quill's names of a line's kind become `block`. `false` and `null`
  /// remove an attribute, which means nothing in a whole text. Empty inserts and retains mean
  /// nothing either. Unknown attributes are contained as they are.
  ///
  /// - Throws: A `DeltaError`, and no other error for any input.
  /// - Complexity: O(bytes). Nothing beyond the limits is allocated.
  package init(
    delta bytes: UnsafeBufferPointer<UInt8>, limits: DeltaLimits = DeltaLimits()
  ) throws(DeltaError) {
    var reader = DeltaReader(limits: limits)
    do throws(JSONError) {
      var json = JSONReader(bytes)
      try reader.readAll(&json, bytes)
      try json.finish()
    } catch {
      if let refusal = reader.refusal { throw refusal }
      throw DeltaError(error)
    }
    do throws(OperationError) {
      self = try reader.builder.finished()
    } catch {
      throw .tooLong(scalarsMax: limits.scalarsMax)
    }
  }

  /// Reads a whole text from a Delta.
  ///
  /// - Throws: As ``init(delta:limits:)-(UnsafeBufferPointer<UInt8>,_)``.
  package init(delta bytes: [UInt8], limits: DeltaLimits = DeltaLimits()) throws(DeltaError) {
    let made: Result<RichDocument, DeltaError> = bytes.withUnsafeBufferPointer { bytes in
      do throws(DeltaError) {
        return .success(try RichDocument(delta: bytes, limits: limits))
      } catch {
        return .failure(error)
      }
    }
    self = try made.get()
  }
}

extension DeltaError {
  fileprivate init(_ error: JSONError) {
    switch error {
    case .wrongType(let expected, let offset): self = .wrongType(offset: offset, expected: expected)
    case .malformed(let offset), .tooDeep(let offset), .tooLong(let offset):
      self = .malformed(offset: offset)
    case .tooManyValues, .missing, .wrongValue, .tooManyComponents: self = .malformed(offset: 0)
    }
  }
}

/// Reads operations one by one.
private struct DeltaReader {
  let limits: DeltaLimits
  var builder = RichDocumentBuilder()
  /// The reason to stop; thrown in place of the JSON error that ends the reading.
  var refusal: DeltaError?
  private var operation = 0
  /// Whether the last text ended with CR, so that LF at the start of the next one belongs to it.
  private var isAfterReturn = false
  /// The sets of attributes by their JSON as it came.
  private var known: [[UInt8]: UInt32] = [:]
  private var lastJSON: [UInt8] = []
  private var lastNumber: UInt32 = 0
  /// Maximum remembered sets, which may be written in several ways.
  private static let knownMax = 20_000

  init(limits: DeltaLimits) { self.limits = limits }

  /// The fields of an operation.
  private struct Operation {
    var text: JSONText?
    /// The range of an object that is inserted.
    var embed: Range<Int>?
    var attributes: Range<Int>?
    /// Whether a field retains or deletes text.
    var isChange = false
    /// Whether a field retains or deletes nothing, which is no operation.
    var isNothing = false
  }

  private mutating func refuse(_ error: DeltaError) -> JSONError {
    refusal = error
    return .malformed(offset: 0)
  }

  mutating func readAll(
    _ json: inout JSONReader, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(JSONError) {
    guard json.isAtObject() else { return try readList(&json, bytes) }
    var isFound = false
    guard try json.beginObject() else { throw .missing(field: "ops") }
    repeat {
      let key = try json.key()
      if key == "ops", !isFound {
        isFound = true
        try readList(&json, bytes)
      } else {
        try json.skipValue()
      }
    } while try json.nextField()
    if !isFound { throw .missing(field: "ops") }
  }

  private mutating func readList(
    _ json: inout JSONReader, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(JSONError) {
    guard try json.beginArray() else { return }
    repeat {
      let found = try readOperation(&json)
      try append(found, bytes)
      operation += 1
    } while try json.nextElement()
  }

  private func readOperation(_ json: inout JSONReader) throws(JSONError) -> Operation {
    var found = Operation()
    guard try json.beginObject() else { return found }
    repeat {
      let key = try json.key()
      if key == "insert" {
        (found.text, found.embed) = (nil, nil)
        if json.isAtString {
          found.text = try json.text()
        } else if json.isAtObject() {
          found.embed = try json.skipValue()
        } else {
          try json.skipValue()
        }
      } else if key == "attributes" {
        if json.isAtObject() {
          found.attributes = try json.skipValue()
        } else {
          guard try json.skipNull() else {
            throw .wrongType(expected: "an object", offset: json.offset)
          }
          found.attributes = nil
        }
      } else if key == "retain" || key == "delete" {
        // An object here would change an embed, which never changes.
        if json.isAtObject() {
          try json.skipValue()
          found.isChange = true
        } else if try json.integer() != 0 {
          found.isChange = true
        }
        found.isNothing = true
      } else {
        try json.skipValue()
      }
    } while try json.nextField()
    return found
  }

  private mutating func append(
    _ found: Operation, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(JSONError) {
    if found.isChange { throw refuse(.notAnInsert(operation: operation)) }
    let isInsert = found.text != nil || found.embed != nil
    if found.isNothing, !isInsert { return }
    guard isInsert else { throw refuse(.noInsert(operation: operation)) }
    if let text = found.text {
      if text.content.isEmpty { return }
      let number = try number(of: found.attributes, embed: nil, bytes)
      text.withUTF8 { appendText($0, number) }
    } else {
      let number = try number(of: found.attributes, embed: found.embed, bytes)
      let object: [UInt8] = [0xef, 0xbf, 0xbc]
      object.withUnsafeBufferPointer { builder.append($0, with: number) }
      isAfterReturn = false
    }
    guard builder.scalarCount <= limits.scalarsMax else {
      throw refuse(.tooLong(scalarsMax: limits.scalarsMax))
    }
    guard builder.setCount <= limits.format.setsMax else {
      throw refuse(.tooManySets(max: limits.format.setsMax))
    }
    guard builder.runCount <= limits.format.runsMax else {
      throw refuse(.tooManyRuns(max: limits.format.runsMax))
    }
  }

  /// Appends a text with `\n` at each line end, and without byte order marks at the start.
  private mutating func appendText(_ text: UnsafeBufferPointer<UInt8>, _ number: UInt32) {
    let isJoined = isAfterReturn && text.first == 0x0a
    let hasMark = builder.scalarCount == 0 && text.starts(with: Self.byteOrderMark)
    isAfterReturn = text.last == 0x0d
    if !isJoined, !hasMark, !text.contains(0x0d) {
      return builder.append(text, with: number)
    }
    var plain = WholeText.shown(Array(text))[...]
    if isJoined { plain.removeFirst() }
    while hasMark, plain.starts(with: Self.byteOrderMark) { plain.removeFirst(3) }
    plain.withUnsafeBufferPointer { builder.append($0, with: number) }
  }

  private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

  // MARK: Attributes

  /// Returns the number of a set of attributes, which is read only once for each way of writing it.
  private mutating func number(
    of attributes: Range<Int>?, embed: Range<Int>?, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(JSONError) -> UInt32 {
    if attributes == nil, embed == nil { return 0 }
    let none = bytes[..<bytes.startIndex]
    let own = attributes.map { bytes[$0] } ?? none
    let object = embed.map { bytes[$0] } ?? none
    // JSON has no byte 0, so that no two pairs have the same key.
    if lastJSON.count == own.count + 1 + object.count, lastJSON.starts(with: own),
      lastJSON[(own.count + 1)...].elementsEqual(object)
    {
      return lastNumber
    }
    let key = Array(own) + [0] + Array(object)
    let number: UInt32
    if let found = known[key] {
      number = found
    } else {
      do throws(OperationError) {
        number = builder.number(of: try AttributeSet(json: Self.mapped(own, object)))
      } catch {
        let isEmbed = attributes == nil && embed != nil
        throw refuse(
          isEmbed ? .noInsert(operation: operation) : .badAttributes(operation: operation))
      }
      if known.count < Self.knownMax { known[key] = number }
    }
    lastJSON = key
    lastNumber = number
    return number
  }

  /// Returns attributes with our names, as JSON. Both objects were checked as JSON.
  private static func mapped(
    _ attributes: Slice<UnsafeBufferPointer<UInt8>>, _ embed: Slice<UnsafeBufferPointer<UInt8>>
  ) throws(OperationError) -> [UInt8] {
    var json: [UInt8] = Array("{".utf8)
    if !attributes.isEmpty {
      let source = UnsafeBufferPointer(rebasing: attributes)
      var reader = JSONReader(source)
      do throws(JSONError) {
        try reader.object { (key, reader) throws(JSONError) in
          // An embed is inserted, and no attribute.
          if key == "embed" { throw .malformed(offset: 0) }
          let value = UnsafeBufferPointer(rebasing: source[try reader.skipValue()])
          key.withUTF8 { append($0, value, to: &json) }
        }
      } catch {
        throw .malformed(offset: 0)
      }
    }
    if !embed.isEmpty {
      if json.count > 1 { json.put(",") }
      json.put("\"embed\":")
      json += embed
    }
    json.put("}")
    return json
  }

  private static func append(
    _ key: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, to json: inout [UInt8]
  ) {
    if json.count > 1 { json.put(",") }
    if let block = DeltaNames.block(key, value) {
      json.put("\"block\":")
      json += block
      guard key.isEqual(to: "code-block"), !value.isEqual(to: "true"),
        !value.isEqual(to: "\"plain\"")
      else { return }
      json.put(",\"language\":")
      json += value
      return
    }
    JSONWriter.string(key, &json)
    json.put(":")
    if value.isEqual(to: "false") { json.put("null") } else { json += value }
  }
}
