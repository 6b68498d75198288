#if !hasFeature(Embedded)
  package import ParleyJSON

  // The JSON of operations:
  //
  //     {"set":"card-7","to":{"column":"done"}}       {"add":"votes","by":1}
  //     {"merge":"card-7","with":{"by":"ann"}}        {"delete":"card-7"}
  //
  // Each but the last may also have "ttl":SECONDS or "while":"connected".

  extension ValueOperation {
    /// Reads an operation.
    package init(_ reader: inout JSONReader) throws(JSONError) {
      let start = reader.offset
      var fields = Fields()
      try reader.object { key, reader throws(JSONError) in try fields.read(key, &reader) }
      let expected =
        "one of set with to, merge with an object in with, add with an integer in by, and delete"
      guard let operation = fields.operation else {
        throw .wrongType(expected: expected, offset: start)
      }
      self = operation
    }

    /// The fields of an operation so far.
    private struct Fields {
      var word: (word: Word, name: ValueName)?
      var hasTwoWords = false
      var value: JSONTree?
      var patch: JSONTree?
      var number: Int?
      var seconds: Int?
      var isWhileConnected = false

      enum Word { case set, merge, add, delete }

      mutating func read(_ key: JSONText, _ reader: inout JSONReader) throws(JSONError) {
        switch key {
        case "set": note(.set, try reader.string())
        case "merge": note(.merge, try reader.string())
        case "add": note(.add, try reader.string())
        case "delete": note(.delete, try reader.string())
        case "to": value = try Self.tree(&reader)
        case "with": patch = try Self.tree(&reader)
        case "by": number = try reader.integer()
        case "ttl": seconds = try reader.skipNull() ? nil : try reader.integer()
        case "while":
          guard try !reader.skipNull() else { return isWhileConnected = false }
          let start = reader.offset
          guard try reader.text() == "connected" else {
            throw .wrongType(expected: "connected", offset: start)
          }
          isWhileConnected = true
        default: try reader.skipValue()
        }
      }

      private mutating func note(_ word: Word, _ name: String) {
        if let former = self.word, former.word != word { hasTwoWords = true }
        self.word = (word, ValueName(name))
      }

      /// Reads a tree whose nesting is that of a ``JSONValue``.
      private static func tree(_ reader: inout JSONReader) throws(JSONError) -> JSONTree {
        JSONTree(try reader.value())
      }

      /// The operation; `nil` if the fields do not form one.
      var operation: ValueOperation? {
        guard let (word, name) = word, !hasTwoWords, name.isValid, let lifetime,
          let effect = effect(word)
        else { return nil }
        if word == .delete, lifetime != .unlimited { return nil }
        return ValueOperation(name, effect, lifetime: lifetime)
      }

      private func effect(_ word: Word) -> Effect? {
        switch word {
        case .set: return value.map { .set($0.canonical) }
        case .merge:
          guard let patch, case .object = patch else { return nil }
          return .merge(patch.canonical)
        case .add: return number.map { .add($0) }
        case .delete: return .delete
        }
      }

      private var lifetime: Lifetime? {
        switch (seconds, isWhileConnected) {
        case (nil, false): .unlimited
        case (nil, true): .connection
        case (let seconds?, false) where (1...ValueOperation.secondsMax).contains(seconds):
          .seconds(seconds)
        default: nil
        }
      }
    }

    /// Writes the operation as canonical JSON.
    package func write(_ buffer: inout [UInt8]) {
      JSONWriter.object(&buffer) { object, buffer in
        switch effect {
        case .set(let value):
          object.field("set", name.text, &buffer)
          object.field("to", value, &buffer)
        case .merge(let patch):
          object.field("merge", name.text, &buffer)
          object.field("with", patch, &buffer)
        case .add(let number):
          object.field("add", name.text, &buffer)
          object.field("by", number, &buffer)
        case .delete: object.field("delete", name.text, &buffer)
        }
        switch lifetime {
        case .unlimited: break
        case .seconds(let seconds): object.field("ttl", seconds, &buffer)
        case .connection: object.field("while", "connected", &buffer)
        }
      }
    }

    /// Returns a list of operations as canonical JSON.
    package static func json(of operations: [ValueOperation]) -> JSONValue {
      JSONValue(
        trusted: JSONWriter.bytes { buffer in
          JSONWriter.array(operations, &buffer) { $0.write(&$1) }
        })
    }

    /// Reads a list of operations.
    ///
    /// - Parameter countMax: Maximum operations. Reading stops at the first one beyond it.
    /// - Throws: `tooManyValues` for more operations.
    package static func list(
      _ reader: inout JSONReader, countMax: Int
    ) throws(JSONError) -> [ValueOperation] {
      var operations: [ValueOperation] = []
      try reader.array { reader throws(JSONError) in
        guard operations.count < countMax else { throw .tooManyValues(valuesMax: countMax) }
        operations.append(try ValueOperation(&reader))
      }
      return operations
    }

    /// Reads the operations of a publication; `nil` for other JSON.
    package static func list(in json: JSONValue) -> [ValueOperation]? {
      json.utf8.withUnsafeBufferPointer { bytes -> [ValueOperation]? in
        var reader = JSONReader(bytes)
        do throws(JSONError) { return try list(&reader, countMax: .max) } catch { return nil }
      }
    }
  }
#endif
