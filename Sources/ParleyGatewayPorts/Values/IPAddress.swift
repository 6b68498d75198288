/// An IPv4 or IPv6 address, as a number of 128 bits.
///
/// An IPv4 address is stored as its IPv6 form `::ffff:a.b.c.d`, so both notations are equal.
public struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  private let high: UInt64
  private let low: UInt64

  private init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  private static let ofFour: UInt64 = 0xffff_0000_0000

  /// Whether the address is an IPv4 address.
  public var isIPv4: Bool { high == 0 && low >> 32 == 0xffff }

  /// Whether the address is a loopback address.
  public var isLoopback: Bool {
    isIPv4 ? low & 0xff00_0000 == 0x7f00_0000 : high == 0 && low == 1
  }

  /// The part that identifies a subscriber of a network provider: an IPv4 address, or the first 64
  /// bits of an IPv6 address. Devices choose the other bits themselves and change them at will.
  public var subscriber: IPAddress { isIPv4 ? self : IPAddress(high: high, low: 0) }

  /// Four numbers with dots, or eight groups with colons, without abbreviation.
  public var description: String {
    if isIPv4 { return Self.text(ofFour: UInt32(truncatingIfNeeded: low)) }
    return [high, low].flatMap { half in
      [48, 32, 16, 0].map { String(half >> UInt64($0) & 0xffff, radix: 16) }
    }.joined(separator: ":")
  }

  /// Formats an IPv4 address: at most 15 bytes, which a string stores without an allocation.
  private static func text(ofFour number: UInt32) -> String {
    String(unsafeUninitializedCapacity: 15) { text in
      var count = 0
      func append(_ byte: UInt8) {
        text[count] = byte
        count += 1
      }
      for shift in stride(from: 24, through: 0, by: -8) {
        let part = UInt8(truncatingIfNeeded: number >> shift)
        if part >= 100 { append(0x30 + part / 100) }
        if part >= 10 { append(0x30 + part / 10 % 10) }
        append(0x30 + part % 10)
        if shift > 0 { append(UInt8(ascii: ".")) }
      }
      return count
    }
  }

  /// Returns the address with all but the first bits set to zero.
  fileprivate func prefix(_ bits: Int) -> IPAddress {
    IPAddress(
      high: high & Self.mask(bits), low: low & Self.mask(bits - 64))
  }

  private static func mask(_ bits: Int) -> UInt64 {
    bits <= 0 ? 0 : bits >= 64 ? .max : ~(.max >> UInt64(bits))
  }

  // MARK: Reading

  /// Creates an IPv4 address from a number in host order, such as 0x7f000001 for 127.0.0.1.
  public init(four number: UInt32) { self.init(high: 0, low: Self.ofFour | UInt64(number)) }

  /// Creates an address from the bytes of a packet: 4 for IPv4, 16 for IPv6.
  ///
  /// - Precondition: There are 4 or 16 bytes.
  public init(bytes: [UInt8]) {
    precondition(bytes.count == 4 || bytes.count == 16, "an address has 4 bytes, or 16")
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    if bytes.count == 4 {
      self.init(high: 0, low: Self.ofFour | number(bytes[...]))
    } else {
      self.init(high: number(bytes[..<8]), low: number(bytes[8...]))
    }
  }

  /// Parses an IPv6 address as in RFC 4291, or an IPv4 address; `nil` for any other text.
  ///
  /// Numbers with leading zeros are rejected, because some programs read them as octal.
  public init?(_ text: some StringProtocol) {
    var text = String(text)
    guard let address = text.withUTF8({ Self.read($0.span) }) else { return nil }
    self = address
  }

  /// Parses an address in a proxy's header. An IPv6 address with a port is in brackets.
  public init?(hop text: some StringProtocol) {
    var text = String(text)
    guard let address = text.withUTF8({ Self.readHop($0.span) }) else { return nil }
    self = address
  }

  // Several addresses are parsed per connection and request, so parsing IPv4 does not allocate.
  private static func read(_ text: Span<UInt8>) -> IPAddress? {
    // The longest address has 45 characters; a zone may follow.
    guard text.count <= 64 else { return nil }
    let bytes = text.extracting(..<first(UInt8(ascii: "%"), in: text))
    guard first(UInt8(ascii: ":"), in: bytes) < bytes.count else {
      return four(bytes).map { IPAddress(high: 0, low: ofFour | UInt64($0)) }
    }
    guard let groups = groups(bytes.withUnsafeBufferPointer { Array($0) }) else { return nil }
    return IPAddress(
      high: groups[..<4].reduce(0) { $0 << 16 | UInt64($1) },
      low: groups[4...].reduce(0) { $0 << 16 | UInt64($1) })
  }

  private static func readHop(_ text: Span<UInt8>) -> IPAddress? {
    if text.count > 0, text[0] == UInt8(ascii: "[") {
      let end = first(UInt8(ascii: "]"), in: text)
      guard end < text.count else { return nil }
      guard end + 1 == text.count || isPort(text.extracting((end + 1)...)) else { return nil }
      return read(text.extracting(1..<end))
    }
    let colon = first(UInt8(ascii: ":"), in: text)
    return read(isPort(text.extracting(colon...)) ? text.extracting(..<colon) : text)
  }

  /// Returns the index of a byte; the count if the byte does not occur.
  private static func first(_ byte: UInt8, in bytes: Span<UInt8>) -> Int {
    var index = 0
    while index < bytes.count, bytes[index] != byte { index += 1 }
    return index
  }

  private static func isPort(_ bytes: Span<UInt8>) -> Bool {
    guard (2...6).contains(bytes.count), bytes[0] == UInt8(ascii: ":") else { return false }
    for index in 1..<bytes.count where !(0x30...0x39).contains(bytes[index]) { return false }
    return true
  }

  private static func four(_ bytes: Span<UInt8>) -> UInt32? {
    var address: UInt32 = 0
    var partCount = 1
    var digitCount = 0
    var number: UInt32 = 0
    for index in 0..<bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: ".") {
        guard digitCount > 0, partCount < 4 else { return nil }
        address = address << 8 | number
        partCount += 1
        digitCount = 0
        number = 0
      } else {
        // A number that begins with zero has no further digit.
        guard (0x30...0x39).contains(byte), digitCount == 0 || number > 0 else { return nil }
        number = number * 10 + UInt32(byte - 0x30)
        digitCount += 1
        guard number <= 255 else { return nil }
      }
    }
    return partCount == 4 && digitCount > 0 ? address << 8 | number : nil
  }

  /// Parses the eight groups of 16 bits.
  private static func groups(_ bytes: [UInt8]) -> [UInt16]? {
    let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    // `::` results in one empty part, or in two at the start or the end.
    let gaps = parts.indices.filter { parts[$0].isEmpty }
    var head: [UInt16] = []
    var tail: [UInt16] = []
    var isPastGap = false
    for (index, part) in parts.enumerated() {
      if part.isEmpty {
        isPastGap = true
        continue
      }
      var numbers: [UInt16] = []
      if part.contains(UInt8(ascii: ".")) {
        guard index == parts.count - 1, let four = four(part.span) else { return nil }
        numbers = [UInt16(four >> 16), UInt16(truncatingIfNeeded: four)]
      } else {
        guard part.count <= 4,
          let number = UInt16(String(decoding: part, as: UTF8.self), radix: 16),
          part.first != UInt8(ascii: "+")
        else { return nil }
        numbers = [number]
      }
      if isPastGap { tail += numbers } else { head += numbers }
    }
    guard isPastGap else { return head.count == 8 ? head : nil }
    let last = parts.count - 1
    switch gaps {
    case [0, 1, 2] where last == 2: break
    case [0, 1] where last > 1, [last - 1, last] where last > 1: break
    case let gaps where gaps.count == 1 && gaps[0] != 0 && gaps[0] != last: break
    default: return nil
    }
    let missing = 8 - head.count - tail.count
    guard missing >= 1 else { return nil }
    return head + [UInt16](repeating: 0, count: missing) + tail
  }
}

/// A range of addresses with the same first bits (CIDR, RFC 4632).
public struct AddressRange: Sendable, Hashable {
  private let base: IPAddress
  private let bits: Int

  /// Parses `10.0.0.0/8`, `2001:db8::/32` or a single address; `nil` for any other text.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let first = parts.first, let address = IPAddress(first) else {
      return nil
    }
    var bits = address.isIPv4 ? 32 : 128
    if parts.count == 2 {
      guard (1...3).contains(parts[1].utf8.count), let number = Int(parts[1]),
        (0...bits).contains(number), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) })
      else { return nil }
      bits = number
    }
    self.bits = address.isIPv4 ? bits + 96 : bits
    base = address.prefix(self.bits)
  }

  /// Whether the range contains an address.
  public func contains(_ address: IPAddress) -> Bool { address.prefix(bits) == base }
}
