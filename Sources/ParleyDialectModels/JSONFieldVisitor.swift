public import ParleyJSON
import ParleyModel

/// A visitor of a model's fields, which reads them from JSON or writes them to it.
public struct JSONFieldVisitor {
  /// The fields that were not read yet.
  private(set) var rest = JSONFields()
  /// The fields written so far.
  private(set) var written = JSONFields()
  private let isReading: Bool

  init(reading fields: JSONFields) {
    rest = fields
    isReading = true
  }

  private init(isReading: Bool) { self.isReading = isReading }

  static func writing() -> JSONFieldVisitor { JSONFieldVisitor(isReading: false) }

  /// Removes a field from the rest, and returns its value; `null` remains, and counts as missing.
  private mutating func take(_ name: String) -> JSONValue? {
    guard let value = rest[name], !value.isNull else { return nil }
    rest.remove(name)
    return value
  }

  private mutating func write(_ name: String, _ value: JSONValue?) {
    if let value { written.append(JSONFields.Field(name, value)) }
  }

  /// Visits a field that may be missing.
  public mutating func optional<Form: JSONFieldForm>(
    _ name: String, _ property: inout Form?
  ) throws(ModelError) {
    guard isReading else { return write(name, property?.jsonValue) }
    guard let value = take(name) else { return property = nil }
    guard let form = Form(jsonValue: value) else {
      throw .wrongType(field: name, expected: Form.jsonExpectation)
    }
    property = form
  }

  /// Visits a field that must not be missing.
  public mutating func required<Form: JSONFieldForm>(
    _ name: String, _ property: inout Form
  ) throws(ModelError) {
    var value: Form? = isReading ? nil : property
    try optional(name, &value)
    guard let value else { throw .missing(field: name) }
    property = value
  }

  /// Visits a field with a default value.
  ///
  /// It is written if its value differs from the default. A field that was received with the
  /// default value remains in the rest, so it is written as well.
  public mutating func defaulted<Form: JSONFieldForm & Equatable>(
    _ name: String, _ property: inout Form, to standard: Form
  ) throws(ModelError) {
    guard isReading else { return write(name, property == standard ? nil : property.jsonValue) }
    let stood = rest[name]
    var value: Form?
    try optional(name, &value)
    property = value ?? standard
    if property == standard, let stood, !stood.isNull {
      rest.append(JSONFields.Field(name, stood))
    }
  }

  /// Visits a nested model.
  public mutating func required<Model: JSONModel>(
    model name: String, _ property: inout Model
  ) throws(ModelError) {
    guard isReading else { return write(name, JSONValue(property.fields)) }
    guard let value = take(name) else { throw .missing(field: name) }
    property = try Self.model(value, name)
  }

  /// Visits a nested model that may be missing.
  public mutating func optional<Model: JSONModel>(
    model name: String, _ property: inout Model?
  ) throws(ModelError) {
    guard isReading else { return write(name, property.map { JSONValue($0.fields) }) }
    guard let value = take(name) else { return property = nil }
    property = try Self.model(value, name) as Model
  }

  /// Visits a list of models.
  public mutating func required<Model: JSONModel>(
    models name: String, _ property: inout [Model]
  ) throws(ModelError) {
    guard isReading else {
      return write(name, JSONValue(property.map { JSONValue($0.fields) }))
    }
    guard let value = take(name) else { throw .missing(field: name) }
    guard let elements = value.elements else {
      throw .wrongType(field: name, expected: "an array of objects")
    }
    property = []
    for element in elements { property.append(try Self.model(element, name)) }
  }

  private static func model<Model: JSONModel>(
    _ value: JSONValue, _ name: String
  ) throws(ModelError) -> Model {
    guard let fields = value.fields else { throw .wrongType(field: name, expected: "an object") }
    return try Model(fields)
  }
}

/// A type that a model's field can have.
public protocol JSONFieldForm {
  /// The expected value, for error messages.
  static var jsonExpectation: String { get }
  /// Reads a value; `nil` if it has another type.
  init?(jsonValue: JSONValue)
  /// The value as JSON.
  var jsonValue: JSONValue { get }
}

extension String: JSONFieldForm {
  /// The expected value, for error messages.
  public static var jsonExpectation: String { "a string" }
  /// Reads a string.
  public init?(jsonValue: JSONValue) {
    guard let text = jsonValue.string else { return nil }
    self = text
  }
  /// The value as JSON.
  public var jsonValue: JSONValue { JSONValue(self) }
}

extension Int: JSONFieldForm {
  /// The expected value, for error messages.
  public static var jsonExpectation: String { "an integer" }
  /// Reads an integer, also in the forms in which other languages write it: `1.0`, `1e3`.
  public init?(jsonValue: JSONValue) {
    if let number = jsonValue.integer {
      self = number
      return
    }
    // A string is in quotes, so only numbers are read here.
    guard let number = Double(String(decoding: jsonValue.utf8, as: UTF8.self)),
      number.magnitude <= 0x1p53, let integer = Int(exactly: number)
    else { return nil }
    self = integer
  }
  /// The value as JSON.
  public var jsonValue: JSONValue { JSONValue(self) }
}

extension Bool: JSONFieldForm {
  /// The expected value, for error messages.
  public static var jsonExpectation: String { "true or false" }
  /// Reads a flag.
  public init?(jsonValue: JSONValue) {
    guard let flag = jsonValue.boolean else { return nil }
    self = flag
  }
  /// The value as JSON.
  public var jsonValue: JSONValue { JSONValue(self) }
}

extension JSONValue: JSONFieldForm {
  /// The expected value, for error messages.
  public static var jsonExpectation: String { "any value" }
  /// Accepts any value.
  public init?(jsonValue: JSONValue) { self = jsonValue }
  /// The value itself.
  public var jsonValue: JSONValue { self }
}

extension JSONFields: JSONFieldForm {
  /// The expected value, for error messages.
  public static var jsonExpectation: String { "an object" }
  /// Reads an object.
  public init?(jsonValue: JSONValue) {
    guard let fields = jsonValue.fields else { return nil }
    self = fields
  }
  /// The value as JSON.
  public var jsonValue: JSONValue { JSONValue(self) }
}

extension Array: JSONFieldForm where Element: JSONFieldForm {
  /// The expected value, for error messages.
  public static var jsonExpectation: String { "an array, each element \(Element.jsonExpectation)" }
  /// Reads an array.
  public init?(jsonValue: JSONValue) {
    guard let elements = jsonValue.elements else { return nil }
    self = []
    for element in elements {
      guard let form = Element(jsonValue: element) else { return nil }
      append(form)
    }
  }
  /// The value as JSON.
  public var jsonValue: JSONValue { JSONValue(map(\.jsonValue)) }
}

/// A word of an extensible list: unknown words are preserved.
public protocol JSONWord: RawRepresentable, JSONFieldForm, Sendable, Hashable, Codable
where RawValue == String {
  /// Creates a word, known or unknown.
  init(rawValue: String)
  /// The known words.
  static var known: [Self] { get }
}

extension JSONWord {
  /// Whether the word is known.
  public var isKnown: Bool { Self.known.contains(self) }
  /// The expected value, for error messages.
  public static var jsonExpectation: String { "a word" }
  /// Reads a word.
  public init?(jsonValue: JSONValue) {
    guard let text = jsonValue.string else { return nil }
    self.init(rawValue: text)
  }
  /// The value as JSON.
  public var jsonValue: JSONValue { JSONValue(rawValue) }
}

/// A hash of a text that is equal on all platforms and in all runs: 64-bit FNV-1a of its UTF-8.
///
/// Hash functions of languages differ, and some change from run to run. Apps use the sums below
/// only to detect changes.
public func stableHash(_ text: String?) -> Int {
  text.map { Int(truncatingIfNeeded: FNV1a($0.utf8).value) } ?? 0
}
