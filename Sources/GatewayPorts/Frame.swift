/// A WebSocket message, or a fragment of one, encoded once with its header and shared by all who
/// receive it.
///
/// The bytes stand in one immutable allocation, so that a broadcast to a thousand connections
/// costs a thousand references. Frames of servers are not masked (RFC 6455, section 5.1), hence
/// the same bytes serve everybody.
///
/// A message of which a part is shared and the rest is not goes out as fragments (section 5.4): a
/// first, any number of middle ones, and a last, in this order and with no other message between
/// them. A transport may cut a fragment into several.
public struct Frame: Sendable {
  /// The opcode of a data frame.
  public enum Kind: UInt8, Sendable {
    case text = 0x1
    case binary = 0x2
  }

  /// Where a frame stands in its message.
  public enum Part: Sendable {
    /// All of it.
    case whole
    /// Its beginning: more follows.
    case first
    /// Neither its beginning nor its end.
    case middle
    /// Its end.
    case last
  }

  /// Room kept before the payload for the longest unmasked header.
  private static let headerRoom = 10

  /// Room, header and payload; the frame begins at `start`.
  package let storage: [UInt8]
  package let start: Int

  /// The bytes as they go to the socket: header, then payload.
  public var bytes: ArraySlice<UInt8> { storage[start...] }

  /// The payload without its header.
  public var payload: ArraySlice<UInt8> { storage[payloadStart...] }

  /// Bytes on the wire, header included.
  public var byteCount: Int { storage.count - start }

  private var payloadStart: Int { Self.headerRoom }

  /// The header's first byte: whether the message ends here, and the kind of one that begins here.
  private var firstByte: UInt8 { storage[start] }

  /// Whether the message ends with this frame.
  public var isFinal: Bool { firstByte & 0x80 != 0 }

  /// Whether the message begins with this frame.
  public var isFirst: Bool { firstByte & 0x0f != 0 }

  /// Whether the message has other frames.
  public var isFragment: Bool { !(isFinal && isFirst) }

  /// Makes a frame whose payload `write` appends to the buffer it is given.
  ///
  /// The buffer already holds room for the header: append, never index from its start.
  ///
  /// - Parameters:
  ///   - kind: The message's kind.
  ///   - part: Where the frame stands in it.
  ///   - capacity: Bytes of payload to reserve.
  public init(
    _ kind: Kind = .text, _ part: Part = .whole, reserving capacity: Int = 256,
    _ write: (inout [UInt8]) -> Void
  ) {
    var buffer: [UInt8] = []
    buffer.reserveCapacity(Self.headerRoom + capacity)
    for _ in 0..<Self.headerRoom { buffer.append(0) }
    write(&buffer)
    let length = buffer.count - Self.headerRoom
    let firstByte =
      switch part {
      case .whole: 0x80 | kind.rawValue
      case .first: kind.rawValue
      case .middle: UInt8(0)
      case .last: UInt8(0x80)
      }
    switch length {
    case ..<126:
      buffer[8] = firstByte
      buffer[9] = UInt8(length)
      start = 8
    case ..<65536:
      buffer[6] = firstByte
      buffer[7] = 126
      buffer[8] = UInt8(truncatingIfNeeded: length >> 8)
      buffer[9] = UInt8(truncatingIfNeeded: length)
      start = 6
    default:
      buffer[0] = firstByte
      buffer[1] = 127
      for index in 0..<8 {
        buffer[2 + index] = UInt8(truncatingIfNeeded: length >> (8 * (7 - index)))
      }
      start = 0
    }
    storage = buffer
  }

  /// Makes a frame of the payload given.
  public init(_ kind: Kind = .text, _ part: Part = .whole, payload: some Collection<UInt8>) {
    self.init(kind, part, reserving: payload.count) { $0.append(contentsOf: payload) }
  }

  /// Calls `body` with header and payload as one contiguous piece of memory.
  @inline(__always)
  public func withUnsafeBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
  }
}
