/// Several packets as the body of one HTTP request or response.
public enum EnginePayload {
  /// Maximum packets in one body.
  public static let packetsMax = 1_000

  /// Reads a body.
  ///
  /// The fourth generation separates packets by a byte. The third prefixes each with its length in
  /// UTF-16 units, as JavaScript does. Some of its clients count scalars or bytes, so the unit that
  /// fits the whole body is used. Its binary form counts bytes.
  ///
  /// - Returns: `nil` for a malformed body.
  public static func decode(_ body: [UInt8], generation: EngineGeneration) -> [EnginePacket]? {
    guard !body.isEmpty else { return nil }
    switch generation {
    case .four: return decodeSeparated(body)
    case .three:
      if body[0] <= 1 { return decodeBinary(body) }
      return decodeCounted(body, units: .utf16) ?? decodeCounted(body, units: .bytes)
        ?? decodeCounted(body, units: .scalars)
    }
  }

  /// Encodes packets as a body that every client of the generation can read.
  public static func encode(_ packets: [[UInt8]], generation: EngineGeneration) -> [UInt8] {
    var body: [UInt8] = []
    for packet in packets {
      switch generation {
      case .four:
        if !body.isEmpty { body.append(separator) }
        body.append(contentsOf: packet)
      case .three:
        // In ASCII, lengths in all units are equal.
        let ascii = asciiForm(of: packet)
        body.append(contentsOf: String(ascii.count).utf8)
        body.append(UInt8(ascii: ":"))
        body.append(contentsOf: ascii)
      }
    }
    return body
  }

  private static let separator: UInt8 = 0x1e

  private static func decodeSeparated(_ body: [UInt8]) -> [EnginePacket]? {
    let parts = body.split(
      separator: separator, maxSplits: packetsMax, omittingEmptySubsequences: false)
    guard parts.count <= packetsMax else { return nil }
    var packets: [EnginePacket] = []
    for part in parts {
      guard let packet = EnginePacket(text: part, generation: .four) else { return nil }
      packets.append(packet)
    }
    return packets
  }

  private enum Units {
    case bytes, scalars, utf16
  }

  private static func decodeCounted(_ body: [UInt8], units: Units) -> [EnginePacket]? {
    var packets: [EnginePacket] = []
    var rest = body[...]
    while !rest.isEmpty {
      guard packets.count < packetsMax,
        let colon = rest.prefix(9).firstIndex(of: UInt8(ascii: ":")),
        let count = number(rest[..<colon]),
        let end = end(of: count, units, in: rest[(colon + 1)...]),
        let packet = EnginePacket(text: rest[(colon + 1)..<end], generation: .three)
      else { return nil }
      packets.append(packet)
      rest = rest[end...]
    }
    return packets
  }

  /// Returns the index after `count` units; `nil` if there are fewer, or if the index would be
  /// within a scalar.
  private static func end(of count: Int, _ units: Units, in bytes: ArraySlice<UInt8>) -> Int? {
    guard units != .bytes else {
      return count <= bytes.count ? bytes.startIndex + count : nil
    }
    var left = count
    var index = bytes.startIndex
    while left > 0 {
      guard index < bytes.endIndex else { return nil }
      let first = bytes[index]
      let length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
      left -= units == .utf16 && length == 4 ? 2 : 1
      index += length
    }
    return left == 0 && index <= bytes.endIndex ? index : nil
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard !digits.isEmpty, digits.count <= 8 else { return nil }
    var value = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      value = value * 10 + Int(digit - UInt8(ascii: "0"))
    }
    return value
  }

  private static func decodeBinary(_ body: [UInt8]) -> [EnginePacket]? {
    var packets: [EnginePacket] = []
    var rest = body[...]
    while let kind = rest.popFirst() {
      guard kind <= 1, packets.count < packetsMax,
        let mark = rest.prefix(9).firstIndex(of: 0xff), mark > rest.startIndex
      else { return nil }
      var count = 0
      for digit in rest[..<mark] {
        guard digit <= 9 else { return nil }
        count = count * 10 + Int(digit)
      }
      rest = rest[(mark + 1)...]
      guard count > 0, count <= rest.count else { return nil }
      let content = rest.prefix(count)
      rest = rest.dropFirst(count)
      if kind == 0 {
        guard let packet = EnginePacket(text: content, generation: .three) else { return nil }
        packets.append(packet)
      } else {
        guard content.first == 4 else { return nil }
        packets.append(.binary(Array(content.dropFirst())))
      }
    }
    return packets
  }

  /// Returns the packet with `\u` escapes for non-ASCII characters; only JSON strings have them.
  private static func asciiForm(of packet: [UInt8]) -> [UInt8] {
    guard packet.contains(where: { $0 >= 0x80 }) else { return packet }
    var ascii: [UInt8] = []
    ascii.reserveCapacity(packet.count * 2)
    for unit in String(decoding: packet, as: UTF8.self).utf16 {
      guard unit >= 0x80 else {
        ascii.append(UInt8(unit))
        continue
      }
      ascii.append(contentsOf: "\\u".utf8)
      for shift in [12, 8, 4, 0] {
        let digit = UInt8(unit >> UInt16(shift) & 15)
        ascii.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
      }
    }
    return ascii
  }
}
