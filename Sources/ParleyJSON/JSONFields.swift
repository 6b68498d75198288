/// The fields of a JSON object in order, with their values as received.
public struct JSONFields: Sendable, Hashable {
  /// A field of an object.
  public struct Field: Sendable, Hashable {
    /// The field's name.
    public let name: String
    /// The field's value.
    public let value: JSONValue

    /// Creates a field.
    public init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// The fields; of a repeated name in read JSON, only the last one.
  public private(set) var all: [Field]

  /// Creates an object with the given fields.
  public init(_ fields: [Field] = []) { all = fields }

  /// Reads a JSON object; `nil` if the text is not an object.
  public init?(_ json: some Sequence<UInt8>) {
    guard let value = JSONValue(json), let fields = value.fields else { return nil }
    self = fields
  }

  /// The value of a field; of several, the last one's. Names are compared byte by byte.
  ///
  /// - Complexity: O(*n*) fields.
  public subscript(name: String) -> JSONValue? {
    all.last { $0.name.isExactly(name) }?.value
  }

  /// Adds a field.
  public mutating func append(_ field: Field) { all.append(field) }

  /// Removes all fields of a name.
  package mutating func remove(_ name: String) {
    all.removeAll { $0.name.isExactly(name) }
  }

  /// The object as JSON.
  public var json: [UInt8] {
    var buffer: [UInt8] = [UInt8(ascii: "{")]
    for field in all {
      if buffer.count > 1 { buffer.append(UInt8(ascii: ",")) }
      JSONWriter.string(field.name, &buffer)
      buffer.append(UInt8(ascii: ":"))
      buffer.append(contentsOf: field.value.utf8)
    }
    buffer.append(UInt8(ascii: "}"))
    return buffer
  }
}

/// Reading JSON that is stored as received.
extension JSONValue {
  /// Creates a string.
  public init(_ text: String) {
    var buffer: [UInt8] = []
    JSONWriter.string(text, &buffer)
    self.init(trusted: buffer)
  }

  /// Creates an integer.
  public init(_ number: Int) {
    var buffer: [UInt8] = []
    JSONWriter.integer(number, &buffer)
    self.init(trusted: buffer)
  }

  /// Creates `true` or `false`.
  public init(_ flag: Bool) { self.init(trusted: Array((flag ? "true" : "false").utf8)) }

  /// Creates an object.
  public init(_ fields: JSONFields) { self.init(trusted: fields.json) }

  /// Creates an array.
  public init(_ elements: [JSONValue]) {
    var buffer: [UInt8] = []
    JSONWriter.array(elements, &buffer) { $1.append(contentsOf: $0.utf8) }
    self.init(trusted: buffer)
  }

  /// Whether it is `null`.
  public var isNull: Bool { utf8.elementsEqual("null".utf8) }

  /// The text, if the value is a string.
  public var string: String? { read { reader throws(JSONError) in try reader.string() } }

  /// The number, if the value is an integer that a double represents exactly.
  public var integer: Int? { read { reader throws(JSONError) in try reader.integer() } }

  /// The Boolean, if the value is `true` or `false`.
  public var boolean: Bool? { read { reader throws(JSONError) in try reader.boolean() } }

  /// The elements, if the value is an array.
  public var elements: [JSONValue]? {
    read { reader throws(JSONError) in
      var elements: [JSONValue] = []
      try reader.array { reader throws(JSONError) in elements.append(try reader.value()) }
      return elements
    }
  }

  /// The fields, if the value is an object.
  ///
  /// - Complexity: O(*n*) bytes, also if names are repeated.
  public var fields: JSONFields? {
    read { reader throws(JSONError) in
      // A repeated name sets its former field to `nil`: removing that field from the array each
      // time would be quadratic.
      var fields: [JSONFields.Field?] = []
      var places: [[UInt8]: Int] = [:]
      try reader.object { key, reader throws(JSONError) in
        let name = key.string
        let value = try reader.value()
        if let former = places.updateValue(fields.count, forKey: Array(name.utf8)) {
          fields[former] = nil
        }
        fields.append(JSONFields.Field(name, value))
      }
      return JSONFields(fields.compactMap { $0 })
    }
  }

  func read<Value>(
    _ body: (inout JSONReader) throws(JSONError) -> Value
  ) -> Value? {
    utf8.withUnsafeBufferPointer { bytes -> Value? in
      var reader = JSONReader(bytes)
      do throws(JSONError) { return try body(&reader) } catch { return nil }
    }
  }
}

extension JSONFields: ExpressibleByDictionaryLiteral {
  /// Creates fields in the given order: `["a": JSONValue(1)]`.
  public init(dictionaryLiteral fields: (String, JSONValue)...) {
    self.init(fields.map { Field($0, $1) })
  }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
  /// Creates an object.
  public init(dictionaryLiteral fields: (String, JSONValue)...) {
    self.init(JSONFields(fields.map { JSONFields.Field($0, $1) }))
  }
}
