public import ParleyJSON

/// A typed model of one JSON object.
///
/// A model declares its fields once, in ``visit(_:)``, for reading and writing. Unknown fields are
/// stored in ``rest`` and written back, so that a newer peer's fields are preserved. As `Codable` a
/// model has the same fields.
public protocol JSONModel: Sendable, Hashable, Codable {
  /// Fields without a property, and fields that are `null`.
  var rest: JSONFields { get set }
  /// Creates an empty model to read into: texts are empty, numbers are 0.
  init()
  /// Visits every field once, in the order in which they are written.
  mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError)
}

/// The reason why JSON does not match a model. It never contains the sender's text.
public enum ModelError: Error, Sendable, Hashable {
  /// The bytes are not a JSON object.
  case malformed
  /// A required field is missing.
  case missing(field: String)
  /// A field has another type.
  case wrongType(field: String, expected: String)
}

extension ModelError: CustomStringConvertible {
  /// The reason.
  public var description: String {
    switch self {
    case .malformed: "expected a JSON object"
    case .missing(let field): "the field \(field) is missing"
    case .wrongType(let field, let expected): "expected \(expected) in the field \(field)"
    }
  }
}

extension JSONModel {
  /// Reads a model from a JSON object.
  public init(json: some Sequence<UInt8>) throws(ModelError) {
    guard let fields = JSONFields(json) else { throw .malformed }
    try self.init(fields)
  }

  /// Reads a model from an object's fields.
  public init(_ fields: JSONFields) throws(ModelError) {
    self.init()
    var visitor = JSONFieldVisitor(reading: fields)
    try visit(&visitor)
    rest = visitor.rest
  }

  /// The model's fields: its own, then those of ``rest``.
  ///
  /// - Complexity: O(*n*) fields.
  public var fields: JSONFields {
    var copy = self
    var visitor = JSONFieldVisitor.writing()
    // Writing cannot fail: only reading throws.
    try? copy.visit(&visitor)
    var fields = visitor.written
    var names = Set(fields.all.map { Array($0.name.utf8) })
    for field in rest.all where names.insert(Array(field.name.utf8)).inserted {
      fields.append(field)
    }
    return fields
  }

  /// The model as JSON.
  public var json: [UInt8] { fields.json }
}
