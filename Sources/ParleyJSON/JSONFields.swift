/// The fields of a JSON object in their order, values as they were written.
public struct JSONFields: Sendable, Hashable {
  /// A field of an object.
  public struct Field: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// Its value.
    public let value: JSONValue

    /// Makes a field.
    public init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// Of a name that comes twice, the last one.
  public private(set) var all: [Field]

  /// The fields given.
  public init(_ fields: [Field] = []) { all = fields }

  /// Reads a JSON object; `nil` if the text is not an object.
  public init?(_ json: some Sequence<UInt8>) {
    guard let value = JSONValue(json), let fields = value.fields else { return nil }
    self = fields
  }

  /// The value of a field. Names are compared byte by byte.
  ///
  /// - Complexity: O(*n*) fields.
  public subscript(name: String) -> JSONValue? {
    all.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// Adds a field.
  public mutating func append(_ field: Field) { all.append(field) }

  /// Removes the fields of a name.
  package mutating func remove(_ name: String) {
    all.removeAll { $0.name.utf8.elementsEqual(name.utf8) }
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

/// Looking into JSON that was kept as it was written.
extension JSONValue {
  /// A string.
  public init(_ text: String) {
    var buffer: [UInt8] = []
    JSONWriter.string(text, &buffer)
    self.init(trusted: buffer)
  }

  /// An integer.
  public init(_ number: Int) {
    var buffer: [UInt8] = []
    JSONWriter.integer(number, &buffer)
    self.init(trusted: buffer)
  }

  /// `true` or `false`.
  public init(_ flag: Bool) { self.init(trusted: Array((flag ? "true" : "false").utf8)) }

  /// An object.
  public init(_ fields: JSONFields) { self.init(trusted: fields.json) }

  /// An array.
  public init(_ elements: [JSONValue]) {
    var buffer: [UInt8] = []
    JSONWriter.array(elements, &buffer) { $1.append(contentsOf: $0.utf8) }
    self.init(trusted: buffer)
  }

  /// Whether it is `null`.
  public var isNull: Bool { utf8.elementsEqual("null".utf8) }

  /// Its text, if it is a string.
  public var string: String? { read { reader throws(JSONError) in try reader.string() } }

  /// Its value, if it is an integer that a double holds exactly.
  public var integer: Int? { read { reader throws(JSONError) in try reader.integer() } }

  /// Its value, if it is `true` or `false`.
  public var boolean: Bool? { read { reader throws(JSONError) in try reader.boolean() } }

  /// Its elements, if it is an array.
  public var elements: [JSONValue]? {
    read { reader throws(JSONError) in
      var elements: [JSONValue] = []
      try reader.array { reader throws(JSONError) in elements.append(try reader.value()) }
      return elements
    }
  }

  /// Its fields, if it is an object.
  ///
  /// - Complexity: O(*n*) bytes, also where names come again and again.
  public var fields: JSONFields? {
    read { reader throws(JSONError) in
      // A name that comes again leaves a gap: moving the fields behind it, each time, would take
      // time in proportion to the square of the object's size.
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
  /// The fields given, in their order: `["a": JSONValue(1)]`.
  public init(dictionaryLiteral fields: (String, JSONValue)...) {
    self.init(fields.map { Field($0, $1) })
  }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
  /// An object.
  public init(dictionaryLiteral fields: (String, JSONValue)...) {
    self.init(JSONFields(fields.map { JSONFields.Field($0, $1) }))
  }
}
