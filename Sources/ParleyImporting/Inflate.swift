/// A decoder of DEFLATE (RFC 1951) with a known output size.
///
/// It is total: any input results in bytes or `nil`. It never writes more than the expected bytes,
/// so an archive that declares a small size cannot exhaust memory.
struct Inflate {
  private let bytes: ArraySlice<UInt8>
  private var position: Int
  private var bits: UInt32 = 0
  private var bitCount = 0
  private var output: [UInt8] = []
  private let size: Int

  private init(_ bytes: ArraySlice<UInt8>, size: Int) {
    self.bytes = bytes
    self.size = size
    position = bytes.startIndex
    output.reserveCapacity(size)
  }

  /// Returns the inflated bytes; `nil` if the input is malformed, or has another size.
  ///
  /// - Complexity: O(*n* + *size*).
  static func bytes(of packed: ArraySlice<UInt8>, size: Int) -> [UInt8]? {
    var inflate = Inflate(packed, size: size)
    do throws(Broken) {
      while try !inflate.block() {}
    } catch { return nil }
    // The packed bytes must end with the last block.
    guard inflate.output.count == size, inflate.position - inflate.bitCount / 8 == packed.endIndex
    else { return nil }
    return inflate.output
  }

  private struct Broken: Error {}

  // MARK: Bits

  /// Returns the next bits, lowest first.
  private mutating func take(_ count: Int) throws(Broken) -> Int {
    while bitCount < count {
      guard position < bytes.endIndex else { throw Broken() }
      bits |= UInt32(bytes[position]) << bitCount
      bitCount += 8
      position += 1
    }
    let value = bits & ((1 << count) - 1)
    bits >>= count
    bitCount -= count
    return Int(value)
  }

  // MARK: Codes

  /// A canonical Huffman code: short codes are looked up, long ones are decoded bit by bit.
  private struct Code {
    static let lookupBits = 9
    /// Symbol and length (`symbol << 4 | length`) by the next bits; 0 for longer and invalid codes.
    var lookup = [UInt16](repeating: 0, count: 1 << Code.lookupBits)
    /// The number of codes of each length, and the symbols in the order of their codes.
    var counts = [Int](repeating: 0, count: 16)
    var symbols: [UInt16] = []

    /// - Throws: If the lengths are over-subscribed, or incomplete with more than one code.
    init(_ lengths: ArraySlice<UInt8>) throws(Broken) {
      for length in lengths { counts[Int(length)] += 1 }
      let used = lengths.count - counts[0]
      counts[0] = 0
      var left = 1
      for length in 1...15 {
        left = left << 1 - counts[length]
        guard left >= 0 else { throw Broken() }
      }
      guard left == 0 || used <= 1 else { throw Broken() }
      var offsets = [Int](repeating: 0, count: 16)
      var codes = [Int](repeating: 0, count: 16)
      for length in 1..<15 {
        offsets[length + 1] = offsets[length] + counts[length]
        codes[length + 1] = (codes[length] + counts[length]) << 1
      }
      symbols = [UInt16](repeating: 0, count: used)
      for (symbol, length) in lengths.enumerated() where length > 0 {
        let length = Int(length)
        symbols[offsets[length]] = UInt16(symbol)
        offsets[length] += 1
        let code = codes[length]
        codes[length] += 1
        guard length <= Code.lookupBits else { continue }
        // In the stream, the highest bit of a code comes first.
        var reversed = 0
        for bit in 0..<length where code >> bit & 1 == 1 { reversed |= 1 << (length - 1 - bit) }
        for rest in stride(from: reversed, to: 1 << Code.lookupBits, by: 1 << length) {
          lookup[rest] = UInt16(symbol) << 4 | UInt16(length)
        }
      }
    }
  }

  private mutating func symbol(_ code: borrowing Code) throws(Broken) -> Int {
    while bitCount < Code.lookupBits, position < bytes.endIndex {
      bits |= UInt32(bytes[position]) << bitCount
      bitCount += 8
      position += 1
    }
    let found = code.lookup[Int(bits & UInt32((1 << Code.lookupBits) - 1))]
    let length = Int(found & 15)
    if length > 0, length <= bitCount {
      bits >>= length
      bitCount -= length
      return Int(found >> 4)
    }
    var value = 0
    var first = 0
    var index = 0
    for length in 1...15 {
      value |= try take(1)
      let count = code.counts[length]
      if value - count < first { return Int(code.symbols[index + value - first]) }
      index += count
      first = (first + count) << 1
      value <<= 1
    }
    throw Broken()
  }

  // MARK: Blocks

  /// Reads a block. Returns whether it was the last one.
  private mutating func block() throws(Broken) -> Bool {
    let isLast = try take(1) == 1
    switch try take(2) {
    case 0: try stored()
    case 1: try compressed(Self.fixedLengths(), Self.fixedDistances())
    case 2:
      let codes = try dynamicCodes()
      try compressed(codes.lengths, codes.distances)
    default: throw Broken()
    }
    return isLast
  }

  private mutating func stored() throws(Broken) {
    // Return the whole bytes that were read ahead.
    position -= bitCount / 8
    (bits, bitCount) = (0, 0)
    let count = try take(16)
    guard try take(16) == ~count & 0xffff else { throw Broken() }
    guard count <= bytes.endIndex - position, count <= size - output.count else { throw Broken() }
    output.append(contentsOf: bytes[position..<position + count])
    position += count
  }

  private static func fixedLengths() throws(Broken) -> Code {
    var lengths = [UInt8](repeating: 8, count: 288)
    for symbol in 144..<256 { lengths[symbol] = 9 }
    for symbol in 256..<280 { lengths[symbol] = 7 }
    return try Code(lengths[...])
  }

  private static func fixedDistances() throws(Broken) -> Code {
    try Code([UInt8](repeating: 5, count: 32)[...])
  }

  private mutating func dynamicCodes() throws(Broken) -> (lengths: Code, distances: Code) {
    let lengthCount = try take(5) + 257
    let distanceCount = try take(5) + 1
    let orderCount = try take(4) + 4
    guard lengthCount <= 286, distanceCount <= 30 else { throw Broken() }
    let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    var orderLengths = [UInt8](repeating: 0, count: 19)
    for index in 0..<orderCount { orderLengths[order[index]] = UInt8(try take(3)) }
    let code = try Code(orderLengths[...])
    var lengths: [UInt8] = []
    while lengths.count < lengthCount + distanceCount {
      let symbol = try symbol(code)
      switch symbol {
      case 0..<16: lengths.append(UInt8(symbol))
      case 16:
        guard let last = lengths.last else { throw Broken() }
        lengths += [UInt8](repeating: last, count: 3 + (try take(2)))
      case 17: lengths += [UInt8](repeating: 0, count: 3 + (try take(3)))
      default: lengths += [UInt8](repeating: 0, count: 11 + (try take(7)))
      }
    }
    guard lengths.count == lengthCount + distanceCount, lengths[256] > 0 else { throw Broken() }
    return (try Code(lengths[..<lengthCount]), try Code(lengths[lengthCount...]))
  }

  private mutating func compressed(
    _ lengths: borrowing Code, _ distances: borrowing Code
  ) throws(Broken) {
    while true {
      let symbol = try symbol(lengths)
      if symbol < 256 {
        guard output.count < size else { throw Broken() }
        output.append(UInt8(symbol))
        continue
      }
      if symbol == 256 { return }
      guard symbol < 286 else { throw Broken() }
      let count = try run(symbol - 257, Self.lengthBases, extra: Self.lengthExtra(symbol - 257))
      let code = try self.symbol(distances)
      guard code < 30 else { throw Broken() }
      let distance = try run(code, Self.distanceBases, extra: max(0, code / 2 - 1))
      guard distance <= output.count, count <= size - output.count else { throw Broken() }
      var from = output.count - distance
      for _ in 0..<count {
        output.append(output[from])
        from += 1
      }
    }
  }

  private mutating func run(_ code: Int, _ bases: [Int], extra: Int) throws(Broken) -> Int {
    bases[code] + (extra > 0 ? try take(extra) : 0)
  }

  private static func lengthExtra(_ code: Int) -> Int {
    code < 8 || code == 28 ? 0 : code / 4 - 1
  }

  private static let lengthBases = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258,
  ]
  private static let distanceBases = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1_025, 1_537,
    2_049, 3_073, 4_097, 6_145, 8_193, 12_289, 16_385, 24_577,
  ]
}
