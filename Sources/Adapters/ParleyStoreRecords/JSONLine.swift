package import ParleyGatewayPorts
package import OTCore

/// A writer of JSON objects whose values are strings, integers and operations.
///
/// Strings are written in the JSON form of `TextOperation`, so logs, wire messages and exports use
/// the same reader and writer.
package struct JSONLine {
  /// The bytes so far.
  package private(set) var bytes: [UInt8] = [0x7b]

  /// Begins an object.
  package init() {}

  /// Adds a field. Field names are constants of this module, in ASCII that needs no escape.
  package mutating func add(_ name: StaticString, _ value: String) {
    begin(name)
    Self.append(value, to: &bytes)
  }

  package mutating func add(_ name: StaticString, _ value: some ByteName) { add(name, value.text) }

  package mutating func add(_ name: StaticString, _ value: Int) {
    begin(name)
    bytes.append(contentsOf: String(value).utf8)
  }

  package mutating func add(_ name: StaticString, _ value: TextOperation) {
    begin(name)
    value.appendJSON(to: &bytes)
  }

  /// Adds a field whose value is JSON.
  package mutating func add(_ name: StaticString, json value: [UInt8]) {
    begin(name)
    bytes.append(contentsOf: value)
  }

  /// Ends the object and adds a newline.
  package mutating func end() { bytes.append(contentsOf: [0x7d, 0x0a]) }

  private mutating func begin(_ name: StaticString) {
    if bytes.count > 1 { bytes.append(0x2c) }
    bytes.append(0x22)
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: [0x22, 0x3a])
  }

  private static func append(_ value: String, to bytes: inout [UInt8]) {
    guard !value.isEmpty else {
      bytes.append(contentsOf: [0x22, 0x22])
      return
    }
    var operation = TextOperation()
    operation.insert(value)
    var array: [UInt8] = []
    operation.appendJSON(to: &array)
    bytes.append(contentsOf: array.dropFirst().dropLast())
  }
}

/// The fields of a JSON object, each with the bytes of its value.
///
/// The reader accepts any input: it returns the fields or `nil`. A value is parsed when it is
/// requested; before that only its end is found.
package struct JSONFields {
  private var values: [String: ArraySlice<UInt8>] = [:]

  /// Splits an object into fields; `nil` if the bytes are not an object.
  package init?(_ bytes: ArraySlice<UInt8>) {
    var reader = Reader(bytes: bytes)
    guard reader.skip(0x7b) else { return nil }
    if !reader.skip(0x7d) {
      repeat {
        guard let name = reader.value().flatMap(Self.string), reader.skip(0x3a),
          let value = reader.value()
        else { return nil }
        values[name] = value
      } while reader.skip(0x2c)
      guard reader.skip(0x7d) else { return nil }
    }
    guard reader.isAtEnd else { return nil }
  }

  /// Whether the object has a field of this name.
  package func has(_ name: String) -> Bool { values[name] != nil }

  package func string(_ name: String) -> String? { values[name].flatMap(Self.string) }

  package func integer(_ name: String) -> Int? {
    values[name].flatMap { Int(String(decoding: $0, as: UTF8.self)) }
  }

  package func operation(_ name: String) -> TextOperation? {
    values[name].flatMap { Self.operation(Array($0)) }
  }

  /// Returns the JSON of a field; `nil` if it is missing.
  package func json(_ name: String) -> [UInt8]? { values[name].map { Array($0) } }

  private static func operation(_ bytes: [UInt8]) -> TextOperation? {
    bytes.withUnsafeBufferPointer { bytes in try? TextOperation(json: bytes) }
  }

  private static func string(_ bytes: ArraySlice<UInt8>) -> String? {
    guard bytes.first == 0x22 else { return nil }
    if bytes.count == 2 { return "" }
    guard let operation = operation([0x5b] + bytes + [0x5d]) else { return nil }
    var components = Array(operation.components)
    guard case .insert(let text)? = components.popLast(), components.isEmpty else { return nil }
    return text
  }

  /// A reader that finds the ends of values.
  private struct Reader {
    let bytes: ArraySlice<UInt8>
    private var index: Int

    init(bytes: ArraySlice<UInt8>) {
      self.bytes = bytes
      index = bytes.startIndex
    }

    var isAtEnd: Bool {
      mutating get {
        skipSpace()
        return index == bytes.endIndex
      }
    }

    /// Skips a byte; returns false if another byte is next.
    mutating func skip(_ byte: UInt8) -> Bool {
      skipSpace()
      guard index < bytes.endIndex, bytes[index] == byte else { return false }
      index += 1
      return true
    }

    /// Skips the next value and returns its bytes; `nil` if it is missing or has no end.
    mutating func value() -> ArraySlice<UInt8>? {
      skipSpace()
      let start = index
      var depth = 0
      while index < bytes.endIndex {
        switch bytes[index] {
        case 0x22:
          guard skipString() else { return nil }
          if depth == 0 { return bytes[start..<index] }
        case 0x5b, 0x7b:
          depth += 1
          index += 1
        case 0x5d, 0x7d, 0x2c, 0x20, 0x09, 0x0a, 0x0d:
          // A number or a literal ends before the next delimiter.
          if depth == 0 { return index > start ? bytes[start..<index] : nil }
          if bytes[index] == 0x5d || bytes[index] == 0x7d { depth -= 1 }
          index += 1
          if depth == 0 { return bytes[start..<index] }
        default: index += 1
        }
      }
      return nil
    }

    private mutating func skipString() -> Bool {
      index += 1
      while index < bytes.endIndex {
        switch bytes[index] {
        case 0x22:
          index += 1
          return true
        case 0x5c: index += 2
        default: index += 1
        }
      }
      return false
    }

    private mutating func skipSpace() {
      while index < bytes.endIndex,
        [0x20, 0x09, 0x0a, 0x0d].contains(bytes[index])
      {
        index += 1
      }
    }
  }
}
