/// One WebSocket message, encoded once with its header and shared by all who receive it.
///
/// The bytes stand in one immutable allocation, so that a broadcast to a thousand connections
/// costs a thousand references. Frames of servers are not masked (RFC 6455, section 5.1), hence
/// the same bytes serve everybody.
public struct Frame: Sendable {
  /// The opcode of a data frame.
  public enum Kind: UInt8, Sendable {
    case text = 0x1
    case binary = 0x2
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

  /// Makes a frame whose payload `write` appends to the buffer it is given.
  ///
  /// The buffer already holds room for the header: append, never index from its start.
  public init(
    _ kind: Kind = .text, reserving capacity: Int = 256, _ write: (inout [UInt8]) -> Void
  ) {
    var buffer: [UInt8] = []
    buffer.reserveCapacity(Self.headerRoom + capacity)
    for _ in 0..<Self.headerRoom { buffer.append(0) }
    write(&buffer)
    let length = buffer.count - Self.headerRoom
    let firstByte = 0x80 | kind.rawValue
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
  public init(_ kind: Kind = .text, payload: some Collection<UInt8>) {
    self.init(kind, reserving: payload.count) { $0.append(contentsOf: payload) }
  }

  /// Calls `body` with header and payload as one contiguous piece of memory.
  @inline(__always)
  public func withUnsafeBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
  }
}
