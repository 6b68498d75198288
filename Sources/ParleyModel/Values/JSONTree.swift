#if !hasFeature(Embedded)
  package import ParleyJSON

  /// JSON as a tree, for merging. Written, it is canonical: without white space, each object's
  /// fields in the order of their names' bytes, strings with the fewest escapes, and numbers as they
  /// were read.
  ///
  /// Of a repeated field only the last one remains, as in all readers of this package.
  package indirect enum JSONTree: Sendable, Hashable {
    /// A field of an object.
    package struct Field: Sendable, Hashable {
      package let name: [UInt8]
      package let value: JSONTree

      package init(name: [UInt8], value: JSONTree) {
        self.name = name
        self.value = value
      }
    }

    /// An object, whose fields ascend by name and have different names.
    case object([Field])
    case array([JSONTree])
    /// A string, a number or a word, as canonical JSON.
    case atom([UInt8])

    /// Reads a value. Its nesting has the limit of the reader.
    package init(_ reader: inout JSONReader) throws(JSONError) {
      if reader.isAtObject() {
        var fields: [Field] = []
        try reader.object { key, reader throws(JSONError) in
          let name = key.withUTF8 { Array($0) }
          fields.append(Field(name: name, value: try JSONTree(&reader)))
        }
        self = .object(Self.ordered(fields))
      } else if reader.isAtArray() {
        var elements: [JSONTree] = []
        try reader.array { reader throws(JSONError) in elements.append(try JSONTree(&reader)) }
        self = .array(elements)
      } else if reader.isAtString {
        let text = try reader.text()
        self = .atom(text.withUTF8 { text in JSONWriter.bytes { JSONWriter.string(text, &$0) } })
      } else {
        let range = try reader.skipValue()
        self = .atom(reader.value(at: range).utf8)
      }
    }

    /// Reads a value that was checked before.
    package init(_ value: JSONValue) {
      let tree = value.utf8.withUnsafeBufferPointer { bytes -> JSONTree? in
        var reader = JSONReader(bytes)
        do throws(JSONError) { return try JSONTree(&reader) } catch { return nil }
      }
      guard let tree else { preconditionFailure("a JSONValue contains other bytes than JSON") }
      self = tree
    }

    /// The canonical JSON.
    package var canonical: JSONValue { JSONValue(trusted: JSONWriter.bytes(write)) }

    package func write(_ buffer: inout [UInt8]) {
      switch self {
      case .atom(let bytes): buffer.append(contentsOf: bytes)
      case .array(let elements): JSONWriter.array(elements, &buffer) { $0.write(&$1) }
      case .object(let fields):
        buffer.append(UInt8(ascii: "{"))
        for (index, field) in fields.enumerated() {
          if index > 0 { buffer.append(UInt8(ascii: ",")) }
          field.name.withUnsafeBufferPointer { JSONWriter.string($0, &buffer) }
          buffer.append(UInt8(ascii: ":"))
          field.value.write(&buffer)
        }
        buffer.append(UInt8(ascii: "}"))
      }
    }

    /// Whether it is `null`.
    package var isNull: Bool {
      if case .atom(let bytes) = self { bytes.first == UInt8(ascii: "n") } else { false }
    }

    /// Returns the fields in the order of their names; of a repeated name, the last one.
    private static func ordered(_ fields: [Field]) -> [Field] {
      let isOrdered = zip(fields, fields.dropFirst()).allSatisfy {
        $0.name.lexicographicallyPrecedes($1.name)
      }
      if isOrdered { return fields }
      let sorted = fields.enumerated().sorted { one, other in
        if one.element.name == other.element.name { return one.offset < other.offset }
        return one.element.name.lexicographicallyPrecedes(other.element.name)
      }
      var kept: [Field] = []
      for (_, field) in sorted {
        if kept.last?.name == field.name { kept.removeLast() }
        kept.append(field)
      }
      return kept
    }

    // MARK: Merging

    /// Returns this value with a patch merged into it (JSON Merge Patch, RFC 7396): fields of objects
    /// merge, `null` removes a field, and any other patch replaces the value. A value that is not an
    /// object is replaced by an object.
    ///
    /// - Complexity: O(*n* + *m*) fields of the objects that the patch names.
    package func merged(with patch: JSONTree) -> JSONTree {
      guard case .object(let changes) = patch else { return patch }
      var fields: [Field] = []
      if case .object(let own) = self { fields = own }
      var merged: [Field] = []
      merged.reserveCapacity(fields.count + changes.count)
      var rest = fields[...]
      for change in changes {
        while let next = rest.first, next.name.lexicographicallyPrecedes(change.name) {
          merged.append(next)
          rest.removeFirst()
        }
        let former = rest.first?.name == change.name ? rest.removeFirst().value : nil
        guard !change.value.isNull else { continue }
        let value = (former ?? .object([])).merged(with: change.value)
        merged.append(Field(name: change.name, value: value))
      }
      return .object(merged + rest)
    }

    /// The nesting of objects and arrays; 0 for a string, a number or a word.
    package var depth: Int {
      switch self {
      case .atom: 0
      case .array(let elements): 1 + (elements.lazy.map(\.depth).max() ?? 0)
      case .object(let fields): 1 + (fields.lazy.map(\.value.depth).max() ?? 0)
      }
    }
  }
#endif
