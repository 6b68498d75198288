public import ParleyJSON

/// A typed model of one JSON object.
///
/// A model names its fields once, in ``visit(_:)``, for reading and writing alike. What it does not
/// know it keeps in ``rest`` and writes back, so that a newer peer's fields survive.
public protocol JSONModel: Sendable, Hashable {
  /// Fields that the model has no property for, and those that are `null`.
  var rest: JSONFields { get set }
  /// A model whose texts are empty and whose numbers are 0, to be read into.
  init()
  /// Names every field once, in the order in which they are written.
  mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError)
}

/// Why JSON is not the model it should be. Never holds any of the sender's text.
public enum ModelError: Error, Sendable, Hashable {
  /// It is no JSON, or no object.
  case malformed
  /// A field that has to be there is not.
  case missing(field: String)
  /// A field holds something else.
  case wrongType(field: String, expected: String)
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

  /// The model as fields: its own, then those that it keeps for others.
  ///
  /// - Complexity: O(*n*) fields.
  public var fields: JSONFields {
    var copy = self
    var visitor = JSONFieldVisitor.writing()
    // Writing cannot fail: only reading finds fields missing.
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
