// The fields of events and actions. Nothing is inlined, to keep the page's program small.

/// Reads fields from the front of bytes. After an invalid field, all further fields are empty.
struct Input {
  private let source: UnsafeBufferPointer<UInt8>
  private var position = 0
  private(set) var hasFailed = false

  init(_ source: UnsafeBufferPointer<UInt8>) { self.source = source }

  @inline(never)
  mutating func byte() -> UInt8 {
    guard position < source.count else {
      hasFailed = true
      return 0
    }
    defer { position += 1 }
    return source[position]
  }

  @inline(never)
  mutating func number() -> Double {
    var bits: UInt64 = 0
    for shift in 0..<UInt64(8) { bits |= UInt64(byte()) << (shift * 8) }
    let number = Double(bitPattern: bits)
    guard number >= 0, number <= 9_007_199_254_740_992 else {
      hasFailed = true
      return 0
    }
    return number
  }

  /// Reads an integer that fits into an `Int` of 32 bits.
  @inline(never)
  mutating func integer() -> Int {
    let number = number()
    guard number <= 2_147_483_647 else {
      hasFailed = true
      return 0
    }
    return Int(number)
  }

  mutating func flag() -> Bool { number() != 0 }

  /// Reads a run of bytes, which is valid during the call.
  @inline(never)
  mutating func run() -> UnsafeBufferPointer<UInt8> {
    let count = integer()
    guard !hasFailed, count <= source.count - position else {
      hasFailed = true
      return UnsafeBufferPointer(start: nil, count: 0)
    }
    defer { position += count }
    return UnsafeBufferPointer(rebasing: source[position..<position + count])
  }

  @inline(never)
  mutating func bytes() -> [UInt8] { Array(run()) }

  @inline(never)
  mutating func text() -> String { String(decoding: run(), as: UTF8.self) }
}

/// Writes consecutive fields.
struct Output {
  var bytes: [UInt8] = []

  /// Empties the output, and releases the memory of a large one.
  @inline(never)
  mutating func restart() {
    bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
  }

  @inline(never)
  mutating func byte(_ byte: UInt8) { bytes.append(byte) }

  @inline(never)
  private mutating func number(_ number: Double) {
    for shift in 0..<UInt64(8) {
      bytes.append(UInt8(truncatingIfNeeded: number.bitPattern >> (shift * 8)))
    }
  }

  mutating func number(_ number: Int) { self.number(Double(number)) }

  mutating func number(_ number: Int64) { self.number(Double(number)) }

  @inline(never)
  mutating func run(_ run: [UInt8]) {
    number(run.count)
    bytes.append(contentsOf: run)
  }

  @inline(never)
  mutating func text(_ text: String) {
    number(text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }
}
