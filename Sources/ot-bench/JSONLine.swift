import OTCore

/// A value of a workload file. `ot-bench` writes these files, so malformed JSON ends the program.
enum JSONValue {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  subscript(_ key: String) -> JSONValue? {
    if case .object(let fields) = self { fields[key] } else { nil }
  }

  var int: Int? { if case .number(let value) = self { Int(value) } else { nil } }
  var text: String? { if case .string(let value) = self { value } else { nil } }
  var list: [JSONValue]? { if case .array(let values) = self { values } else { nil } }

  /// An operation's JSON form; deletions may also be written `{"d": n}`.
  var operation: TextOperation? {
    guard let list else { return nil }
    var operation = TextOperation()
    for component in list {
      switch component {
      case .string(let text): operation.insert(text)
      case .number(let count) where count >= 0: operation.retain(Int(count))
      case .number(let count): operation.delete(Int(-count))
      case .object(let fields):
        guard let count = fields["d"]?.int else { return nil }
        operation.delete(count)
      case .null, .bool, .array: return nil
      }
    }
    return operation
  }
}

/// Reads JSON values from bytes.
struct JSONParser {
  private let bytes: ArraySlice<UInt8>
  private var offset: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    offset = bytes.startIndex
  }

  static func value(of line: ArraySlice<UInt8>) throws(BenchError) -> JSONValue {
    var parser = JSONParser(line)
    return try parser.value()
  }

  private mutating func skipSpace() {
    while offset < bytes.endIndex, bytes[offset] <= 0x20 { offset += 1 }
  }

  private func expected(_ what: String) -> BenchError {
    BenchError("expected \(what) at byte \(offset - bytes.startIndex) of a line")
  }

  private mutating func value() throws(BenchError) -> JSONValue {
    skipSpace()
    guard offset < bytes.endIndex else { throw expected("a value") }
    switch bytes[offset] {
    case UInt8(ascii: "{"): return .object(try object())
    case UInt8(ascii: "["): return .array(try array())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return .number(try number())
    }
  }

  private mutating func word(
    _ word: StaticString, _ value: JSONValue
  ) throws(BenchError) -> JSONValue {
    let end = offset + word.utf8CodeUnitCount
    guard end <= bytes.endIndex,
      word.withUTF8Buffer({ bytes[offset..<end].elementsEqual($0) })
    else { throw expected("a value") }
    offset = end
    return value
  }

  private mutating func number() throws(BenchError) -> Double {
    let start = offset
    while offset < bytes.endIndex, !Self.endsNumber(bytes[offset]) { offset += 1 }
    guard let number = Double(String(decoding: bytes[start..<offset], as: UTF8.self)) else {
      throw expected("a number")
    }
    return number
  }

  private static func endsNumber(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]")
      || byte == UInt8(ascii: "}")
  }

  private mutating func array() throws(BenchError) -> [JSONValue] {
    var values: [JSONValue] = []
    try list(until: UInt8(ascii: "]")) { parser throws(BenchError) in
      values.append(try parser.value())
    }
    return values
  }

  private mutating func object() throws(BenchError) -> [String: JSONValue] {
    var fields: [String: JSONValue] = [:]
    try list(until: UInt8(ascii: "}")) { parser throws(BenchError) in
      parser.skipSpace()
      let key = try parser.string()
      parser.skipSpace()
      guard parser.offset < parser.bytes.endIndex, parser.bytes[parser.offset] == UInt8(ascii: ":")
      else { throw parser.expected("a colon") }
      parser.offset += 1
      fields[key] = try parser.value()
    }
    return fields
  }

  private mutating func list(
    until close: UInt8, _ element: (inout JSONParser) throws(BenchError) -> Void
  ) throws(BenchError) {
    offset += 1
    skipSpace()
    if offset < bytes.endIndex, bytes[offset] == close {
      offset += 1
      return
    }
    while true {
      try element(&self)
      skipSpace()
      guard offset < bytes.endIndex else { throw expected("an end") }
      let byte = bytes[offset]
      offset += 1
      if byte == close { return }
      guard byte == UInt8(ascii: ",") else { throw expected("a comma") }
    }
  }

  private mutating func string() throws(BenchError) -> String {
    guard offset < bytes.endIndex, bytes[offset] == UInt8(ascii: "\"") else {
      throw expected("a string")
    }
    offset += 1
    var text: [UInt8] = []
    while offset < bytes.endIndex {
      let byte = bytes[offset]
      offset += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): try escape(into: &text)
      default: text.append(byte)
      }
    }
    throw expected("the end of a string")
  }

  private mutating func escape(into text: inout [UInt8]) throws(BenchError) {
    guard offset < bytes.endIndex else { throw expected("an escape") }
    let byte = bytes[offset]
    offset += 1
    switch byte {
    case UInt8(ascii: "n"): text.append(0x0a)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "r"): text.append(0x0d)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0c)
    case UInt8(ascii: "u"):
      var value = try hexadecimal()
      if value & 0xfc00 == 0xd800 {
        offset += 2
        value = 0x10000 + (value - 0xd800) << 10 + (try hexadecimal() - 0xdc00)
      }
      guard let scalar = Unicode.Scalar(value) else { throw expected("a scalar") }
      text.append(contentsOf: Array(String(Character(scalar)).utf8))
    default: text.append(byte)
    }
  }

  private mutating func hexadecimal() throws(BenchError) -> UInt32 {
    guard offset + 4 <= bytes.endIndex,
      let value = UInt32(String(decoding: bytes[offset..<offset + 4], as: UTF8.self), radix: 16)
    else { throw expected("four hexadecimal digits") }
    offset += 4
    return value
  }
}

/// An error that ends the program, described for people.
struct BenchError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
