import ParleyJSON

/// The name of a channel, or a pattern of names. It consists of segments after slashes.
///
/// A segment contains letters, digits and `-_!~()$@`. A pattern ends with `*` for one segment, or
/// with `**` for one or more.
public struct BayeuxChannel: Sendable, Hashable {
  /// The name as it is written; only ASCII, so equality means equal bytes.
  public let text: String

  /// Maximum bytes of a name.
  public static let bytesMax = 512

  /// Reads a name or a pattern; `nil` if it is malformed.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.first == UInt8(ascii: "/"), bytes.count > 1, bytes.count <= Self.bytesMax else {
      return nil
    }
    let segments = bytes.dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    for (index, segment) in segments.enumerated() {
      let isWild = segment.elementsEqual("*".utf8) || segment.elementsEqual("**".utf8)
      if isWild, index == segments.count - 1 { continue }
      guard !segment.isEmpty, segment.allSatisfy(Self.isAllowed) else { return nil }
    }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-_!~()$@".utf8.contains(byte)
    }
  }

  /// Whether it is a pattern, which may match several names.
  public var isPattern: Bool { text.utf8.last == UInt8(ascii: "*") }

  /// Whether it is a channel of the protocol.
  public var isMeta: Bool { text.utf8.starts(with: "/meta/".utf8) }

  /// Whether it is a service channel, whose messages are not passed on.
  public var isService: Bool { text.utf8.starts(with: "/service/".utf8) }

  /// Whether a name is equal to this one, or matches this pattern.
  public func matches(_ name: BayeuxChannel) -> Bool {
    guard isPattern else { return text.isExactly(name.text) }
    let isDeep = text.utf8.dropLast().last == UInt8(ascii: "*")
    let stem = text.utf8.dropLast(isDeep ? 2 : 1)
    guard name.text.utf8.count > stem.count, name.text.utf8.starts(with: stem) else { return false }
    return isDeep || !name.text.utf8.dropFirst(stem.count).contains(UInt8(ascii: "/"))
  }
}

/// Channel names of rooms, whose names can be any text.
///
/// A room whose name is a valid channel name has this channel. In other names each byte that is not
/// allowed in a channel becomes `!` and two hexadecimal digits. A name that does not begin with a
/// slash, or is only a slash, gets the prefix `/!00/`.
extension BayeuxChannel {
  /// Creates the channel of a room; `nil` if the name would be too long.
  public init?(room: String) {
    if let channel = BayeuxChannel(room), !channel.isPattern,
      channel.room.isExactly(room)
    {
      self = channel
      return
    }
    var text: [UInt8] = []
    let isMarked = room.utf8.starts(with: [UInt8(ascii: "/"), 0, UInt8(ascii: "/")])
    if room.utf8.first != UInt8(ascii: "/") || room.utf8.count == 1 || isMarked {
      text += Array("/!00/".utf8)
    }
    let bytes = Array(room.utf8)
    for (index, byte) in bytes.enumerated() {
      let isSlash = byte == UInt8(ascii: "/")
      let isAfterSlash = index == 0 ? text.isEmpty : bytes[index - 1] != byte
      if isSlash && isAfterSlash && index < bytes.count - 1
        || byte != UInt8(ascii: "!") && Self.isAllowed(byte)
      {
        text.append(byte)
      } else {
        text += [UInt8(ascii: "!"), Self.hexadecimal(byte >> 4), Self.hexadecimal(byte & 15)]
      }
    }
    self.init(String(decoding: text, as: UTF8.self))
  }

  /// The room of a channel that is not a pattern.
  public var room: String {
    let mark = "/!00/".utf8
    let bytes = Array(
      text.utf8.starts(with: mark) ? text.utf8.dropFirst(mark.count) : text.utf8[...])
    var room: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "!"), index + 2 < bytes.count,
        let high = Self.value(of: bytes[index + 1]), let low = Self.value(of: bytes[index + 2])
      {
        room.append(high << 4 | low)
        index += 3
      } else {
        room.append(bytes[index])
        index += 1
      }
    }
    return String(validating: room, as: UTF8.self) ?? text
  }

  private static func hexadecimal(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
