import ParleyJSON
import OTCore
import ParleyModel

/// Types that can be the value of a message's field.
protocol MessageForm {
  /// Reads the value at the reader's position. Returns `nil` for a value of the right type that the
  /// field does not allow.
  static func read(_ fields: inout MessageFields) throws(JSONError) -> Self?
  /// Appends the value.
  func write(_ fields: inout MessageFields)
  /// Returns the error for a field for which ``read(_:)`` returned `nil`.
  static func mistake(in field: String, of fields: MessageFields) -> JSONError
  /// The shape of the value, for descriptions.
  static var shape: MessageShape { get }
  /// Whether programs of this build write values of this type. A client may omit the code for it.
  static var isSent: Bool { get }
  /// Whether programs of this build read values of this type.
  static var isReceived: Bool { get }
}

extension MessageForm {
  @inline(__always) static var isSent: Bool { true }
  @inline(__always) static var isReceived: Bool { true }
  static func mistake(in field: String, of fields: MessageFields) -> JSONError {
    .wrongValue(field: field, expected: "another value")
  }
}

/// A JSON object whose fields are named once, for reading, writing and describing.
protocol MessageObject: MessageForm {
  /// A value to read into: strings and lists are empty, numbers are 0.
  static var blank: Self { get }
  /// Visits every field in the order of writing, at most 64 fields.
  ///
  /// The value changes only while fields are read.
  mutating func visit(_ fields: inout MessageFields) throws(JSONError)
  /// The change that is rejected together with the message if its operation is too large.
  var rejectedChange: MessageError.RejectedChange? { get }
}

extension MessageObject {
  var rejectedChange: MessageError.RejectedChange? { nil }
  static func read(_ fields: inout MessageFields) throws(JSONError) -> Self? {
    try fields.object() as Self
  }
  func write(_ fields: inout MessageFields) { fields.write(self) }
}

/// A string out of a fixed list.
protocol MessageWord: MessageForm, RawRepresentable<String>, CaseIterable {}

extension MessageWord {
  static func read(_ fields: inout MessageFields) throws(JSONError) -> Self? {
    let text = try fields.reader.text()
    for word in allCases where text.isEqual(to: word.rawValue) { return word }
    return nil
  }
  func write(_ fields: inout MessageFields) { rawValue.write(&fields) }
  #if !hasFeature(Embedded)
    static func mistake(in field: String, of fields: MessageFields) -> JSONError {
      var words = ""
      for word in allCases { words += words.isEmpty ? word.rawValue : ", \(word.rawValue)" }
      return .wrongValue(field: field, expected: "one of \(words)")
    }
  #endif
}

extension String: MessageForm {
  static func read(_ fields: inout MessageFields) throws(JSONError) -> String? {
    try fields.reader.string()
  }
  func write(_ fields: inout MessageFields) { JSONWriter.string(self, &fields.buffer) }
}

extension PersonID: MessageForm {
  static func read(_ fields: inout MessageFields) throws(JSONError) -> PersonID? {
    PersonID(try fields.reader.string())
  }
  func write(_ fields: inout MessageFields) { text.write(&fields) }
}

extension Int: MessageForm {
  static func read(_ fields: inout MessageFields) throws(JSONError) -> Int? {
    try fields.reader.integer()
  }
  func write(_ fields: inout MessageFields) { JSONWriter.integer(self, &fields.buffer) }
}

/// Milliseconds since 1970, which an `Int` of 32 bits cannot hold.
extension Int64: MessageForm {
  static func read(_ fields: inout MessageFields) throws(JSONError) -> Int64? {
    try fields.reader.integer(as: Int64.self)
  }
  func write(_ fields: inout MessageFields) { JSONWriter.integer(self, &fields.buffer) }
}

extension Bool: MessageForm {
  static func read(_ fields: inout MessageFields) throws(JSONError) -> Bool? {
    try fields.reader.boolean()
  }
  func write(_ fields: inout MessageFields) {
    JSONWriter.raw(self ? "true" : "false", &fields.buffer)
  }
}

/// A JSON value, forwarded as it was written.
extension JSONValue: MessageForm {
  /// An empty value, to read into.
  static var blank: JSONValue { JSONValue(trusted: []) }
  static func read(_ fields: inout MessageFields) throws(JSONError) -> JSONValue? {
    try fields.reader.value()
  }
  func write(_ fields: inout MessageFields) { fields.buffer.append(contentsOf: utf8) }
}

extension Array: MessageForm where Element: MessageForm {
  static func read(_ fields: inout MessageFields) throws(JSONError) -> [Element]? {
    var elements: [Element] = []
    var isRight = true
    guard try fields.reader.beginArray() else { return elements }
    var count = 0
    repeat {
      count += 1
      guard count <= fields.listMax else { throw .tooManyValues(valuesMax: fields.listMax) }
      if let element = try Element.read(&fields) {
        elements.append(element)
      } else {
        isRight = false
      }
    } while try fields.reader.nextElement()
    return isRight ? elements : nil
  }
  func write(_ fields: inout MessageFields) {
    fields.buffer.append(UInt8(ascii: "["))
    var isFirst = true
    for element in self {
      if !isFirst { fields.buffer.append(UInt8(ascii: ",")) }
      isFirst = false
      element.write(&fields)
    }
    fields.buffer.append(UInt8(ascii: "]"))
  }
  static func mistake(in field: String, of fields: MessageFields) -> JSONError {
    Element.mistake(in: field, of: fields)
  }
}

/// `[2000, 8000]`: a range's bounds.
extension ClosedRange<Int>: MessageForm {
  static func read(_ fields: inout MessageFields) throws(JSONError) -> ClosedRange<Int>? {
    guard let bounds = try [Int].read(&fields), bounds.count == 2, bounds[0] <= bounds[1] else {
      return nil
    }
    return bounds[0]...bounds[1]
  }
  func write(_ fields: inout MessageFields) { [lowerBound, upperBound].write(&fields) }
  static func mistake(in field: String, of fields: MessageFields) -> JSONError {
    .wrongValue(field: field, expected: "two numbers, the second not below the first")
  }
}

/// `[anchor, head]`
extension Selection: MessageForm {
  static func read(_ fields: inout MessageFields) throws(JSONError) -> Selection? {
    try fields.reader.selection()
  }
  func write(_ fields: inout MessageFields) {
    fields.buffer.append(UInt8(ascii: "["))
    anchor.write(&fields)
    fields.buffer.append(UInt8(ascii: ","))
    head.write(&fields)
    fields.buffer.append(UInt8(ascii: "]"))
  }
}

/// `[1,"tag",-2]`
extension TextOperation: MessageForm {
  static func read(_ fields: inout MessageFields) throws(JSONError) -> TextOperation? {
    try fields.reader.operation(componentsMax: fields.operationComponentsMax)
  }
  func write(_ fields: inout MessageFields) { appendJSON(to: &fields.buffer) }
  static func mistake(in field: String, of fields: MessageFields) -> JSONError {
    .tooManyComponents(componentsMax: fields.operationComponentsMax)
  }
}
