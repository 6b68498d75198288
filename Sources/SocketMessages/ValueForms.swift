#if !hasFeature(Embedded)
  public import ParleyJSON
  public import ParleyModel

  // Values of rooms in messages. The client in the browser's program has none.

  /// The names of values: `true` for all, or a prefix.
  public struct ValueNames: Sendable, Hashable {
    /// The prefix; empty for all names.
    public var prefix: String

    /// Creates a choice of names, by default of all.
    public init(prefix: String = "") { self.prefix = prefix }
  }

  extension ValueNames: MessageForm {
    static func read(_ fields: inout MessageFields) throws(JSONError) -> ValueNames? {
      if fields.reader.isAtString {
        return ValueNames(prefix: try fields.reader.string())
      }
      return try fields.reader.boolean() ? ValueNames() : nil
    }
    func write(_ fields: inout MessageFields) {
      if prefix.isEmpty { true.write(&fields) } else { prefix.write(&fields) }
    }
    static func mistake(in field: String, of fields: MessageFields) -> JSONError {
      .wrongValue(field: field, expected: "true, or a prefix of names")
    }
  }

  /// Operations on values, at most `ValueLimits.operationsMax`.
  public struct ValueOperationList: Sendable, Hashable {
    /// The operations.
    public var all: [ValueOperation]

    /// Creates a list.
    public init(_ all: [ValueOperation]) { self.all = all }
  }

  extension ValueOperationList: MessageForm {
    static func read(_ fields: inout MessageFields) throws(JSONError) -> ValueOperationList? {
      ValueOperationList(
        try ValueOperation.list(&fields.reader, countMax: ValueLimits.operationsMax))
    }
    func write(_ fields: inout MessageFields) {
      JSONWriter.array(all, &fields.buffer) { $0.write(&$1) }
    }
  }

  /// Offsets by names: `{"card-7":12,"votes":0}`, at most `ValueLimits.operationsMax`.
  public struct ValueOffsets: Sendable, Hashable {
    /// The offsets.
    public var all: [ValueName: Int]

    /// Creates a list of offsets.
    public init(_ all: [ValueName: Int]) { self.all = all }

    /// Reads an object of offsets; `nil` for other values of its fields.
    package init?(_ reader: inout JSONReader) throws(JSONError) {
      all = [:]
      var isRight = true
      var count = 0
      try reader.object { key, reader throws(JSONError) in
        count += 1
        guard count <= ValueLimits.operationsMax else {
          throw .tooManyValues(valuesMax: ValueLimits.operationsMax)
        }
        let name = ValueName(key.string)
        let offset = try reader.integer()
        isRight = isRight && name.isValid && offset >= 0
        all[name] = offset
      }
      guard isRight else { return nil }
    }
  }

  extension ValueOffsets: MessageForm {
    static func read(_ fields: inout MessageFields) throws(JSONError) -> ValueOffsets? {
      try ValueOffsets(&fields.reader)
    }
    func write(_ fields: inout MessageFields) {
      JSONWriter.object(&fields.buffer) { object, buffer in
        for (name, offset) in all.sorted(by: { $0.key < $1.key }) {
          object.key(named: name.text, &buffer)
          JSONWriter.integer(offset, &buffer)
        }
      }
    }
    static func mistake(in field: String, of fields: MessageFields) -> JSONError {
      .wrongValue(field: field, expected: "an offset for each name")
    }
  }

  /// Values by name: `{"card-7":{"value":{"column":"done"},"offset":12}}`.
  public struct NamedValues: Sendable, Hashable {
    /// A value with its name.
    public struct Item: Sendable, Hashable {
      /// The name.
      public var name: ValueName
      /// The value; `nil` for a name without a value.
      public var value: JSONValue?
      /// The offset of the last change; 0 for a name without a value.
      public var offset: Int

      /// Creates an item.
      public init(_ name: ValueName, _ value: JSONValue?, offset: Int) {
        self.name = name
        self.value = value
        self.offset = offset
      }
    }

    /// The values, in the order of writing.
    public var all: [Item]
    /// The values as they are written, in place of `all`.
    private var text: [UInt8]?

    /// Creates a list, by default without values.
    public init(_ all: [Item] = []) { self.all = all }

    /// Returns the same values for messages that are only written, and their bytes: they are written
    /// once for all messages.
    package func written() -> (NamedValues, bytes: Int) {
      var text: [UInt8] = []
      write(&text)
      var values = NamedValues()
      values.text = text
      return (values, text.count)
    }

    /// Writes the values as an object.
    package func write(_ buffer: inout [UInt8]) {
      if let text {
        buffer += text
        return
      }
      JSONWriter.object(&buffer) { object, buffer in
        for item in all {
          object.key(named: item.name.text, &buffer)
          JSONWriter.object(&buffer) { object, buffer in
            object.field("value", item.value, &buffer)
            object.field("offset", item.offset, &buffer)
          }
        }
      }
    }

    /// Reads the values of an object.
    package init(_ reader: inout JSONReader) throws(JSONError) {
      all = []
      try reader.object { key, reader throws(JSONError) in
        var item = Item(ValueName(key.string), nil, offset: 0)
        try reader.object { key, reader throws(JSONError) in
          switch key {
          case "value": item.value = try reader.value()
          case "offset": item.offset = try reader.integer()
          default: try reader.skipValue()
          }
        }
        all.append(item)
      }
    }
  }

  extension NamedValues: MessageForm {
    static func read(_ fields: inout MessageFields) throws(JSONError) -> NamedValues? {
      try NamedValues(&fields.reader)
    }
    func write(_ fields: inout MessageFields) { write(&fields.buffer) }
  }

  // Objects whose fields are names of values have no fixed shape.
  extension ValueNames { static var shape: MessageShape { .any } }
  extension ValueOperationList { static var shape: MessageShape { .list(.any) } }
  extension ValueOffsets { static var shape: MessageShape { .any } }
  extension NamedValues { static var shape: MessageShape { .any } }
#endif
