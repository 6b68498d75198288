/// The supported generations of Engine.IO.
public enum EngineGeneration: Int, Sendable, Hashable, CaseIterable {
  /// The generation of Socket.IO 1 and 2: the client pings, and is in the default namespace without
  /// connecting to it.
  case three = 3
  /// The generation of Socket.IO 3 and later: the server pings.
  case four = 4
}

/// A packet of Engine.IO.
public enum EnginePacket: Sendable, Hashable {
  /// Opens the session; contains JSON.
  case open([UInt8])
  /// Closes the session.
  case close
  /// Asks whether the peer is alive; with `probe`, over a connection that may be upgraded to.
  case ping([UInt8])
  /// Answers a ping.
  case pong([UInt8])
  /// A text message.
  case message([UInt8])
  /// A binary message.
  case binary([UInt8])
  /// Switches the session to this connection.
  case upgrade
  /// An empty packet, which completes a waiting poll.
  case noop

  /// Reads a text packet: from a text frame of a WebSocket, or from a payload.
  ///
  /// - Returns: `nil` for a malformed packet.
  public init?(text bytes: some Collection<UInt8>, generation: EngineGeneration) {
    guard let first = bytes.first else { return nil }
    let content = Array(bytes.dropFirst())
    switch first {
    case UInt8(ascii: "0"): self = .open(content)
    case UInt8(ascii: "1"): self = .close
    case UInt8(ascii: "2"): self = .ping(content)
    case UInt8(ascii: "3"): self = .pong(content)
    case UInt8(ascii: "4"): self = .message(content)
    case UInt8(ascii: "5"): self = .upgrade
    case UInt8(ascii: "6"): self = .noop
    case UInt8(ascii: "b"):
      // A binary packet as text: the third generation repeats the type.
      var encoded = content[...]
      if generation == .three {
        guard encoded.popFirst() == UInt8(ascii: "4") else { return nil }
      }
      guard let decoded = Base64.decode(encoded) else { return nil }
      self = .binary(decoded)
    default: return nil
    }
  }

  /// The packet as text.
  ///
  /// - Precondition: It is not ``binary(_:)``, which Parley never sends.
  public var text: [UInt8] {
    switch self {
    case .open(let content): [UInt8(ascii: "0")] + content
    case .close: [UInt8(ascii: "1")]
    case .ping(let content): [UInt8(ascii: "2")] + content
    case .pong(let content): [UInt8(ascii: "3")] + content
    case .message(let content): [UInt8(ascii: "4")] + content
    case .upgrade: [UInt8(ascii: "5")]
    case .noop: [UInt8(ascii: "6")]
    case .binary: preconditionFailure("binary packets are received only")
    }
  }
}

/// Base64 with or without padding (RFC 4648, section 4).
enum Base64 {
  static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var bitCount = 0
    var padding = 0
    for character in text {
      if character == UInt8(ascii: "=") {
        padding += 1
        guard padding <= 2 else { return nil }
        continue
      }
      guard padding == 0, let value = value(of: character) else { return nil }
      bits = bits << 6 | value
      bitCount += 6
      if bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
      }
    }
    guard padding == 0 || text.count % 4 == 0 else { return nil }
    return bitCount == 6 ? nil : bytes
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
