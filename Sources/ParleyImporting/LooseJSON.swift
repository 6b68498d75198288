/// A reader of JSON from other programs, in one pass. It accepts any numbers, and half surrogate
/// pairs, which become U+FFFD.
///
/// It is total: any input results in values or a `Broken`. Skipping is not recursive.
struct LooseJSON {
  struct Broken: Error {}

  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  // MARK: Values

  /// The first byte of the next value; 0 at the end.
  var kind: UInt8 {
    mutating get {
      skipSpace()
      return position < bytes.count ? bytes[position] : 0
    }
  }

  /// Throws unless only white space is left.
  mutating func finish() throws(Broken) {
    guard kind == 0, position == bytes.count else { throw Broken() }
  }

  /// Reads an object. Calls `body` for each key; `body` must read or skip the value.
  mutating func object(
    _ body: (String, inout LooseJSON) throws(Broken) -> Void
  ) throws(Broken) {
    try expect(0x7b)
    if skipIfNext(0x7d) { return }
    repeat {
      let key = String(decoding: try string(), as: UTF8.self)
      try expect(0x3a)
      try body(key, &self)
    } while skipIfNext(0x2c)
    try expect(0x7d)
  }

  /// Reads an array. Calls `body` for each element, which it must read or skip.
  mutating func array(_ body: (inout LooseJSON) throws(Broken) -> Void) throws(Broken) {
    try expect(0x5b)
    if skipIfNext(0x5d) { return }
    repeat { try body(&self) } while skipIfNext(0x2c)
    try expect(0x5d)
  }

  /// Reads a string, in UTF-8.
  mutating func string() throws(Broken) -> [UInt8] {
    var text: [UInt8] = []
    try readString(into: &text)
    return text
  }

  /// Reads a string; `nil` for a value of another type, which is skipped.
  mutating func stringOrSkip() throws(Broken) -> [UInt8]? {
    if kind == 0x22 { return try string() }
    try skip()
    return nil
  }

  /// Reads a non-negative integer; `nil` for any other value, which is skipped.
  mutating func integerOrSkip() throws(Broken) -> Int? {
    skipSpace()
    let start = position
    try skip()
    let digits = bytes[start..<position]
    guard !digits.isEmpty, digits.count <= 15, digits.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  /// Skips a value of any type, checking it.
  mutating func skip() throws(Broken) {
    // The open brackets, as bytes.
    var open: [UInt8] = []
    repeat {
      switch kind {
      case 0x22: try skipString()
      case 0x7b, 0x5b:
        open.append(bytes[position])
        position += 1
        if skipIfNext(open.last == 0x7b ? 0x7d : 0x5d) {
          open.removeLast()
        } else {
          if open.last == 0x7b { try skipKey() }
          continue
        }
      default: try skipWord()
      }
      while let bracket = open.last {
        if skipIfNext(0x2c) {
          if bracket == 0x7b { try skipKey() }
          break
        }
        try expect(bracket == 0x7b ? 0x7d : 0x5d)
        open.removeLast()
      }
    } while !open.isEmpty
  }

  // MARK: Parts

  private mutating func skipSpace() {
    while position < bytes.count, [0x20, 0x0a, 0x0d, 0x09].contains(bytes[position]) {
      position += 1
    }
  }

  private mutating func expect(_ byte: UInt8) throws(Broken) {
    guard skipIfNext(byte) else { throw Broken() }
  }

  private mutating func skipIfNext(_ byte: UInt8) -> Bool {
    guard kind == byte, position < bytes.count else { return false }
    position += 1
    return true
  }

  private mutating func skipKey() throws(Broken) {
    guard kind == 0x22 else { throw Broken() }
    try skipString()
    try expect(0x3a)
  }

  /// Skips a number, `true`, `false` or `null`.
  private mutating func skipWord() throws(Broken) {
    let start = position
    while position < bytes.count {
      switch bytes[position] {
      case 0x30...0x39, 0x61...0x7a, 0x45, 0x2b, 0x2d, 0x2e: position += 1
      default:
        guard isWord(bytes[start..<position]) else { throw Broken() }
        return
      }
    }
    guard isWord(bytes[start..<position]) else { throw Broken() }
  }

  private func isWord(_ word: ArraySlice<UInt8>) -> Bool {
    switch word.first {
    case UInt8(ascii: "t"): return word.elementsEqual("true".utf8)
    case UInt8(ascii: "f"): return word.elementsEqual("false".utf8)
    case UInt8(ascii: "n"): return word.elementsEqual("null".utf8)
    default: break
    }
    var rest = word.first == UInt8(ascii: "-") ? word.dropFirst() : word
    func digits() -> Int { rest.prefix { (0x30...0x39).contains($0) }.count }
    let whole = digits()
    guard whole > 0, whole == 1 || rest.first != 0x30 else { return false }
    rest = rest.dropFirst(whole)
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      let count = digits()
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest = rest.dropFirst()
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") {
        rest = rest.dropFirst()
      }
      let count = digits()
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return rest.isEmpty
  }

  private mutating func skipString() throws(Broken) {
    var text: [UInt8]? = nil
    try readString(into: &text)
  }

  private mutating func readString(into text: inout [UInt8]) throws(Broken) {
    var read: [UInt8]? = []
    try readString(into: &read)
    text = read ?? []
  }

  /// Reads a string; if `text` is `nil`, only checks it.
  private mutating func readString(into text: inout [UInt8]?) throws(Broken) {
    try expect(0x22)
    while position < bytes.count {
      let start = position
      while position < bytes.count, bytes[position] != 0x22, bytes[position] != 0x5c {
        guard bytes[position] >= 0x20 else { throw Broken() }
        position += 1
      }
      if position > start { text?.append(contentsOf: bytes[start..<position]) }
      guard position < bytes.count else { break }
      position += 1
      if bytes[position - 1] == 0x22 { return }
      ImportedText.append(try escape(), to: &text)
    }
    throw Broken()
  }

  private mutating func escape() throws(Broken) -> Unicode.Scalar {
    guard position < bytes.count else { throw Broken() }
    position += 1
    switch bytes[position - 1] {
    case 0x22: return "\""
    case 0x5c: return "\\"
    case 0x2f: return "/"
    case UInt8(ascii: "b"): return "\u{08}"
    case UInt8(ascii: "f"): return "\u{0c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw Broken()
    }
    let unit = try hex()
    guard unit & 0xfc00 == 0xd800 else { return Unicode.Scalar(unit) ?? "\u{fffd}" }
    guard position + 6 <= bytes.count, bytes[position] == 0x5c,
      bytes[position + 1] == UInt8(ascii: "u")
    else { return "\u{fffd}" }
    let before = position
    position += 2
    let low = try hex()
    guard low & 0xfc00 == 0xdc00 else {
      position = before
      return "\u{fffd}"
    }
    return Unicode.Scalar(0x10000 + (unit & 0x3ff) << 10 + (low & 0x3ff)) ?? "\u{fffd}"
  }

  private mutating func hex() throws(Broken) -> UInt32 {
    guard position + 4 <= bytes.count else { throw Broken() }
    var number: UInt32 = 0
    for _ in 0..<4 {
      let digit = bytes[position]
      position += 1
      switch digit {
      case 0x30...0x39: number = number << 4 | UInt32(digit - 0x30)
      case 0x41...0x46: number = number << 4 | UInt32(digit - 0x37)
      case 0x61...0x66: number = number << 4 | UInt32(digit - 0x57)
      default: throw Broken()
      }
    }
    return number
  }
}
