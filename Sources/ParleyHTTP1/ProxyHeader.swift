/// The header in which a proxy reports its client (PROXY protocol, versions 1 and 2), before the
/// first byte of a connection.
///
/// Accept it from trusted peers only.
public enum ProxyHeader {
  /// The result of reading the bytes received so far.
  public enum Progress: Sendable, Hashable {
    /// More bytes are needed.
    case incomplete
    /// The client's address, 4 bytes of IPv4 or 16 of IPv6, and the header's length; the bytes
    /// after it are the client's. The address is `nil` if the proxy itself connects (a health
    /// check) or does not know the client; use the peer's address then.
    case whole(client: [UInt8]?, byteCount: Int)
    /// The bytes are not a valid header: close the connection.
    case malformed
  }

  /// Maximum bytes of a header of version 1.
  static let textBytesMax = 107
  private static let signature: [UInt8] = [
    0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a,
  ]

  /// Reads a header from the first bytes of a connection.
  ///
  /// - Parameters:
  ///   - bytes: All bytes received so far. A header is short: peek, and call again with more.
  ///   - bytesMax: Maximum bytes of a header of version 2; its contents beyond addresses are
  ///     ignored.
  public static func read(
    _ bytes: UnsafeRawBufferPointer, bytesMax: Int = 536
  ) -> Progress {
    guard let first = bytes.first else { return .incomplete }
    if first == signature[0] { return readBinary(bytes, bytesMax) }
    return readText(bytes)
  }

  // MARK: Version 2

  private static func readBinary(
    _ bytes: UnsafeRawBufferPointer, _ bytesMax: Int
  ) -> Progress {
    for (index, byte) in signature.enumerated() {
      guard index < bytes.count else { return .incomplete }
      if bytes[index] != byte { return .malformed }
    }
    guard bytes.count > 12 else { return .incomplete }
    let command = bytes[12] & 0x0f
    guard bytes[12] >> 4 == 2, command <= 1 else { return .malformed }
    guard bytes.count > 13 else { return .incomplete }
    let family = bytes[13] >> 4
    guard family <= 3, bytes[13] & 0x0f <= 2 else { return .malformed }
    guard bytes.count >= 16 else { return .incomplete }
    let length = Int(bytes[14]) << 8 | Int(bytes[15])
    guard 16 + length <= bytesMax else { return .malformed }
    let addressCount = family == 1 ? 4 : family == 2 ? 16 : 0
    // The addresses are valid only for a proxied connection.
    let counts = command == 1 && addressCount > 0
    if counts, length < 2 * addressCount + 4 { return .malformed }
    guard bytes.count >= 16 + length else { return .incomplete }
    return .whole(
      client: counts ? Array(bytes[16..<(16 + addressCount)]) : nil, byteCount: 16 + length)
  }

  // MARK: Version 1

  private static func readText(_ bytes: UnsafeRawBufferPointer) -> Progress {
    for (index, byte) in "PROXY ".utf8.enumerated() {
      guard index < bytes.count else { return .incomplete }
      if bytes[index] != byte { return .malformed }
    }
    let end = min(bytes.count, textBytesMax)
    guard let lineFeed = bytes[..<end].firstIndex(of: Bytes.lineFeed) else {
      return end == textBytesMax ? .malformed : .incomplete
    }
    guard bytes[lineFeed - 1] == Bytes.carriageReturn else { return .malformed }
    let words = bytes[6..<(lineFeed - 1)]
      .split(separator: Bytes.space, omittingEmptySubsequences: false)
    guard let family = words.first else { return .malformed }
    let count: Int
    switch String(decoding: family, as: UTF8.self) {
    case "UNKNOWN":
      return .whole(client: nil, byteCount: lineFeed + 1)
    case "TCP4": count = 4
    case "TCP6": count = 16
    default: return .malformed
    }
    guard words.count == 5, let client = address(words[1], count),
      address(words[2], count) != nil, port(words[3]) != nil, port(words[4]) != nil
    else { return .malformed }
    return .whole(client: client, byteCount: lineFeed + 1)
  }

  private static func port(_ text: Slice<UnsafeRawBufferPointer>) -> UInt16? {
    guard 1...5 ~= text.count, text.allSatisfy(Bytes.isDigit),
      text.count == 1 || text.first != 0x30
    else { return nil }
    return UInt16(exactly: text.reduce(0) { $0 * 10 + Int($1 - 0x30) })
  }

  private static func address(_ text: Slice<UnsafeRawBufferPointer>, _ count: Int) -> [UInt8]? {
    count == 4 ? four(text) : sixteen(text)
  }

  private static func four(_ text: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
    let parts = text.split(separator: 0x2e, omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    let numbers = parts.compactMap(port).compactMap { UInt8(exactly: $0) }
    return numbers.count == 4 ? numbers : nil
  }

  private static func sixteen(_ text: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
    var halves: [[UInt8]] = [[]]
    let parts = text.split(separator: 0x3a, omittingEmptySubsequences: false)
    guard parts.count >= 3 else { return nil }
    for (index, part) in parts.enumerated() {
      if part.isEmpty {
        // `::` occurs at most once; at an end it results in two empty parts.
        let isEdge = index == 0 || index == parts.count - 1
        if isEdge, parts[index == 0 ? 1 : index - 1].isEmpty { continue }
        guard !isEdge, halves.count == 1 else { return nil }
        halves.append([])
      } else if index == parts.count - 1, part.contains(0x2e) {
        guard let last = four(part) else { return nil }
        halves[halves.count - 1] += last
      } else {
        guard part.count <= 4 else { return nil }
        var number: UInt16 = 0
        for byte in part {
          guard let digit = Bytes.hex(byte) else { return nil }
          number = number << 4 | UInt16(digit)
        }
        halves[halves.count - 1] += [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
      }
    }
    if halves.count == 1 { return halves[0].count == 16 ? halves[0] : nil }
    let missing = 16 - halves[0].count - halves[1].count
    guard missing >= 2 else { return nil }
    return halves[0] + [UInt8](repeating: 0, count: missing) + halves[1]
  }
}
