/// A reader of the JSON forms of formats and attribute sets.
struct FormatJSONReader {
  /// The lists of a format, before they are checked against its text.
  struct Lists {
    var sets: [AttributeSet] = []
    var kept: [Int] = []
    var put: [Int] = []
    /// Whether the field `kind` was found; its only value is `rich`.
    var makesRich = false
  }

  private let bytes: UnsafeBufferPointer<UInt8>
  private var next = 0
  /// Maximum bytes of a string: no key and no value is longer.
  private static let stringBytesMax = 8_192
  /// Maximum sets; more are an error.
  private var setsMax = Format.setsMax

  /// Reads the lists of a format that fills all bytes.
  @inline(never)
  static func lists(_ json: [UInt8], setsMax: Int) throws(OperationError) -> Lists {
    try whole(json) { (reader) throws(OperationError) in
      reader.setsMax = setsMax
      return try reader.readLists()
    }
  }

  /// Reads a value that fills all bytes, except for surrounding space.
  static func whole<Value>(
    _ json: [UInt8], _ read: (inout FormatJSONReader) throws(OperationError) -> Value
  ) throws(OperationError) -> Value {
    let result: Result<Value, OperationError> = json.withUnsafeBufferPointer { bytes in
      var reader = FormatJSONReader(bytes: bytes)
      do throws(OperationError) {
        let value = try read(&reader)
        reader.skipSpace()
        return reader.next == bytes.count ? .success(value) : .failure(reader.malformed)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  private var malformed: OperationError { .malformed(offset: next) }

  /// The next byte; at the end 0, which never occurs in JSON.
  private var current: UInt8 { next < bytes.count ? bytes[next] : 0 }

  private mutating func skipSpace() {
    while [0x20, 0x0a, 0x0d, 0x09].contains(current) { next += 1 }
  }

  /// Skips space, and takes the next byte if it equals `byte`. Returns whether it does.
  private mutating func take(_ byte: Unicode.Scalar) -> Bool {
    skipSpace()
    guard current == UInt8(ascii: byte) else { return false }
    next += 1
    return true
  }

  private mutating func expect(_ byte: Unicode.Scalar) throws(OperationError) {
    guard take(byte) else { throw malformed }
  }

  /// Reads items between two brackets.
  private mutating func readItems(
    _ open: Unicode.Scalar, _ close: Unicode.Scalar,
    _ read: (inout FormatJSONReader) throws(OperationError) -> Void
  ) throws(OperationError) {
    try expect(open)
    if take(close) { return }
    repeat { try read(&self) } while take(",")
    try expect(close)
  }

  private mutating func readLists() throws(OperationError) -> Lists {
    var lists = Lists()
    try readItems("{", "}") { (reader) throws(OperationError) in
      let name = try reader.readKey()
      if name.isEqual(to: "sets") {
        lists.sets = []
        try reader.readItems("[", "]") { (reader) throws(OperationError) in
          guard lists.sets.count < reader.setsMax else { throw .tooLong }
          lists.sets.append(try reader.readSet())
        }
      } else if name.isEqual(to: "kept") {
        lists.kept = try reader.readNumbers()
      } else if name.isEqual(to: "put") || name.isEqual(to: "runs") {
        lists.put = try reader.readNumbers()
      } else if name.isEqual(to: "kind") {
        let kind = try reader.readString()
        guard kind.isEqual(to: "rich") else { throw reader.malformed }
        lists.makesRich = true
      } else {
        try reader.skipValue(depth: 0)
      }
    }
    return lists
  }

  private mutating func readNumbers() throws(OperationError) -> [Int] {
    var numbers: [Int] = []
    try readItems("[", "]") { (reader) throws(OperationError) in
      reader.skipSpace()
      let start = reader.next
      var number = 0
      while case UInt8(ascii: "0")...UInt8(ascii: "9") = reader.current {
        guard number < TextOperation.lengthMax / 10 else { throw .tooLong }
        number = number * 10 + Int(reader.current - UInt8(ascii: "0"))
        reader.next += 1
      }
      let isLong = reader.next - start > 1
      guard reader.next > start, !isLong || reader.bytes[start] != UInt8(ascii: "0") else {
        throw reader.malformed
      }
      numbers.append(number)
    }
    return numbers
  }

  /// Reads a name and the colon after it.
  private mutating func readKey() throws(OperationError) -> [UInt8] {
    let name = try readString()
    try expect(":")
    return name
  }

  mutating func readSet() throws(OperationError) -> AttributeSet {
    // Sorted by key.
    var entries: [(key: [UInt8], value: [UInt8])] = []
    try readItems("{", "}") { (reader) throws(OperationError) in
      let key = try reader.readKey()
      guard Self.isKey(key) else { throw reader.malformed }
      let value =
        key.isEqual(to: "embed") ? try reader.readEmbed() : try reader.readValue()
      let place = entries.firstIndex { !$0.key.lexicographicallyPrecedes(key) } ?? entries.count
      if place < entries.count, entries[place].key == key {
        entries[place].value = value
      } else {
        guard entries.count < AttributeSet.keysMax else { throw reader.malformed }
        entries.insert((key, value), at: place)
      }
    }
    var bytes: [UInt8] = []
    for entry in entries {
      entry.key.withUnsafeBufferPointer { key in
        entry.value.withUnsafeBufferPointer { AttributeSet.append(key, $0, to: &bytes) }
      }
    }
    return AttributeSet(bytes: bytes)
  }

  private static func isKey(_ key: [UInt8]) -> Bool {
    guard let first = key.first, key.count <= AttributeSet.keyBytesMax, isLetter(first) else {
      return false
    }
    return key.allSatisfy {
      isLetter($0) || $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0)
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
  }

  /// Reads a value, and returns its shortest form.
  private mutating func readValue(
    bytesMax: Int = AttributeSet.valueBytesMax, isEmbed: Bool = false
  ) throws(OperationError) -> [UInt8] {
    skipSpace()
    var value: [UInt8] = []
    switch current {
    case UInt8(ascii: "\""):
      try readString().withUnsafeBufferPointer { TextOperation.appendString($0, to: &value) }
    case UInt8(ascii: "t"):
      value = try readWord("true")
    case UInt8(ascii: "n") where !isEmbed:
      value = try readWord("null")
    default:
      value = try readWholeNumber()
    }
    guard value.count <= bytesMax else { throw malformed }
    return value
  }

  private mutating func readWord(_ word: StaticString) throws(OperationError) -> [UInt8] {
    var found: [UInt8] = []
    Format.append(word, to: &found)
    for byte in found {
      guard current == byte else { throw malformed }
      next += 1
    }
    return found
  }

  /// Reads an integer that the numbers of every language can represent.
  private mutating func readWholeNumber() throws(OperationError) -> [UInt8] {
    let start = next
    if current == UInt8(ascii: "-") { next += 1 }
    let digits = next
    while case UInt8(ascii: "0")...UInt8(ascii: "9") = current { next += 1 }
    let count = next - digits
    guard 1...15 ~= count, count == 1 || bytes[digits] != UInt8(ascii: "0"),
      ![UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains(current)
    else { throw malformed }
    // Minus zero is zero.
    return Array(bytes[(bytes[digits] == UInt8(ascii: "0") ? digits : start)..<next])
  }

  /// Reads an object with one key, or a removal, which inserted text cannot have.
  private mutating func readEmbed() throws(OperationError) -> [UInt8] {
    skipSpace()
    if current == UInt8(ascii: "n") { return try readWord("null") }
    var embed: [UInt8] = []
    try readItems("{", "}") { (reader) throws(OperationError) in
      let kind = try reader.readKey()
      guard embed.isEmpty, Self.isKey(kind) else { throw reader.malformed }
      embed.append(UInt8(ascii: "{"))
      kind.withUnsafeBufferPointer { TextOperation.appendString($0, to: &embed) }
      embed.append(UInt8(ascii: ":"))
      embed += try reader.readValue(bytesMax: AttributeSet.embedBytesMax, isEmbed: true)
      embed.append(UInt8(ascii: "}"))
    }
    guard !embed.isEmpty, embed.count <= AttributeSet.embedBytesMax else { throw malformed }
    return embed
  }

  /// Reads a string.
  private mutating func readString() throws(OperationError) -> [UInt8] {
    try expect("\"")
    let start = next
    var text: [UInt8] = []
    while current != UInt8(ascii: "\"") {
      let byte = current
      guard byte >= 0x20, text.count <= Self.stringBytesMax else { throw malformed }
      next += 1
      if byte == UInt8(ascii: "\\") { try readEscape(to: &text) } else { text.append(byte) }
    }
    next += 1
    // Escapes are decoded to valid UTF-8, so an invalid byte was copied from the input.
    if let offset = text.withUnsafeBufferPointer(UTF8Check.firstInvalid) {
      throw .invalidUTF8(offset: start + offset)
    }
    return text
  }

  /// Reads the rest of an escape, and appends the bytes that it represents.
  private mutating func readEscape(to text: inout [UInt8]) throws(OperationError) {
    let kind = current
    guard kind != 0 else { throw malformed }
    next += 1
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(kind)
    case UInt8(ascii: "n"): text.append(0x0a)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "r"): text.append(0x0d)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0c)
    case UInt8(ascii: "u"):
      var value = try readHexadecimal()
      if value >= 0xd800, value < 0xdc00 {
        guard current == UInt8(ascii: "\\") else { throw malformed }
        next += 1
        guard current == UInt8(ascii: "u") else { throw malformed }
        next += 1
        let low = try readHexadecimal()
        guard low >= 0xdc00, low < 0xe000 else { throw malformed }
        value = 0x10000 + (value - 0xd800) << 10 + (low - 0xdc00)
      }
      guard let scalar = Unicode.Scalar(value), let utf8 = UTF8.encode(scalar) else {
        throw malformed
      }
      text.append(contentsOf: utf8)
    default: throw malformed
    }
  }

  private mutating func readHexadecimal() throws(OperationError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      let byte = current
      let letter = byte | 0x20
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte & 0x0f)
      default:
        guard UInt8(ascii: "a")...UInt8(ascii: "f") ~= letter else { throw malformed }
        value = value << 4 | UInt32(letter - UInt8(ascii: "a") + 10)
      }
      next += 1
    }
    return value
  }

  /// Skips a value of any type.
  private mutating func skipValue(depth: Int) throws(OperationError) {
    skipSpace()
    guard depth < 8 else { throw malformed }
    switch current {
    case UInt8(ascii: "{"):
      try readItems("{", "}") { (reader) throws(OperationError) in
        _ = try reader.readKey()
        try reader.skipValue(depth: depth + 1)
      }
    case UInt8(ascii: "["):
      try readItems("[", "]") { (reader) throws(OperationError) in
        try reader.skipValue(depth: depth + 1)
      }
    case UInt8(ascii: "f"): _ = try readWord("false")
    default: _ = try readValue(bytesMax: .max)
    }
  }
}

extension [UInt8] {
  /// Whether the bytes are those of an ASCII text.
  func isEqual(to text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    for index in indices where self[index] != text.utf8Start[index] { return false }
    return true
  }
}
