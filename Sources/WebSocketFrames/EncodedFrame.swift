/// A frame as bytes: header and payload in one immutable allocation.
///
/// A server's frames are not masked, so the same bytes serve every connection: a broadcast to a
/// thousand costs a thousand references. A client masks each frame with a key of its own.
public struct EncodedFrame: Sendable {
  /// Room before the payload for the longest header without and with a mask.
  private static let headerRoom = 10
  private static let maskedHeaderRoom = 14

  private let storage: [UInt8]
  private let start: Int

  /// Bytes on the wire, header included.
  public var byteCount: Int { storage.count - start }

  /// The bytes as they go to the socket.
  public var bytes: ArraySlice<UInt8> { storage[start...] }

  /// Calls `body` with header and payload as one piece of memory.
  @inline(__always)
  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    storage.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
  }

  /// Encodes a message in one frame, whose payload `write` appends to the buffer it is given.
  ///
  /// - Parameters:
  ///   - kind: The message's kind; the bytes of a text have to be UTF-8.
  ///   - isCompressed: Whether the payload is deflated, which RSV1 says.
  ///   - maskKey: A client's mask, unpredictable and used once; `nil` for a server.
  ///   - capacity: Bytes of payload to reserve.
  ///   - write: Appends the payload. The buffer already holds room for the header: append, never
  ///     index from its start.
  public init(
    _ kind: MessageKind, isCompressed: Bool = false, maskKey: UInt32? = nil,
    reserving capacity: Int = 256, _ write: (inout [UInt8]) -> Void
  ) {
    self.init(
      first: 0x80 | (isCompressed ? 0x40 : 0) | kind.rawValue, maskKey: maskKey,
      reserving: capacity, write)
  }

  /// Encodes a fragment of a message.
  ///
  /// - Parameters:
  ///   - kind: The message's kind in its first frame, `nil` in those that continue it.
  ///   - isFinal: Whether it is the message's last frame.
  ///   - maskKey: A client's mask; `nil` for a server.
  ///   - payload: The fragment. A text may be cut anywhere.
  public init(
    fragmentOf kind: MessageKind?, isFinal: Bool, maskKey: UInt32? = nil,
    payload: some Collection<UInt8>
  ) {
    self.init(
      first: (isFinal ? 0x80 : 0) | (kind?.rawValue ?? 0), maskKey: maskKey,
      reserving: payload.count
    ) { $0.append(contentsOf: payload) }
  }

  /// Encodes a ping of at most 125 bytes of payload.
  public static func ping(_ payload: some Collection<UInt8>, maskKey: UInt32? = nil) -> Self {
    control(0x9, payload, maskKey)
  }

  /// Encodes a pong of at most 125 bytes of payload, those of the ping that it answers.
  public static func pong(_ payload: some Collection<UInt8>, maskKey: UInt32? = nil) -> Self {
    control(0xa, payload, maskKey)
  }

  /// Encodes a close frame.
  ///
  /// - Parameters:
  ///   - status: The status, or `nil` for an empty frame.
  ///   - reason: The reason; what is beyond 123 bytes is left out, between two scalars.
  ///   - maskKey: A client's mask; `nil` for a server.
  /// - Precondition: The status is one that may be on the wire.
  public static func close(
    _ status: CloseStatus?, reason: String = "", maskKey: UInt32? = nil
  ) -> Self {
    var payload: [UInt8] = []
    if let status {
      precondition(status.isValidOnWire, "a close frame must not carry this status")
      payload.append(UInt8(status.rawValue >> 8))
      payload.append(UInt8(truncatingIfNeeded: status.rawValue))
      for scalar in reason.unicodeScalars {
        let encoded = UTF8.encode(scalar)
        guard let encoded, payload.count + encoded.count <= 125 else { break }
        payload.append(contentsOf: encoded)
      }
    }
    return control(0x8, payload, maskKey)
  }

  /// Wraps bytes that are encoded already, such as the response to a handshake.
  public init(encoded bytes: [UInt8]) {
    storage = bytes
    start = 0
  }

  /// Wraps the end of bytes that are encoded already, without copying them.
  package init(sharing bytes: [UInt8], from start: Int) {
    storage = bytes
    self.start = start
  }

  private static func control(
    _ opcode: UInt8, _ payload: some Collection<UInt8>, _ maskKey: UInt32?
  ) -> Self {
    precondition(payload.count <= 125, "a control frame carries at most 125 bytes")
    return Self(first: 0x80 | opcode, maskKey: maskKey, reserving: payload.count) {
      $0.append(contentsOf: payload)
    }
  }

  private init(
    first: UInt8, maskKey: UInt32?, reserving capacity: Int, _ write: (inout [UInt8]) -> Void
  ) {
    let room = maskKey == nil ? Self.headerRoom : Self.maskedHeaderRoom
    var buffer: [UInt8] = []
    buffer.reserveCapacity(room + capacity)
    for _ in 0..<room { buffer.append(0) }
    write(&buffer)
    let length = buffer.count - room
    precondition(length >= 0, "the payload may only be appended")
    let lengthBytes = length < 126 ? 0 : length < 1 << 16 ? 2 : 8
    let start = room - 2 - lengthBytes - (maskKey == nil ? 0 : 4)
    buffer[start] = first
    let masked: UInt8 = maskKey == nil ? 0 : 0x80
    switch lengthBytes {
    case 0:
      buffer[start + 1] = masked | UInt8(length)
    case 2:
      buffer[start + 1] = masked | 126
      buffer[start + 2] = UInt8(truncatingIfNeeded: length >> 8)
      buffer[start + 3] = UInt8(truncatingIfNeeded: length)
    default:
      buffer[start + 1] = masked | 127
      for index in 0..<8 {
        buffer[start + 2 + index] = UInt8(
          truncatingIfNeeded: UInt64(length) >> (8 * (7 - UInt64(index))))
      }
    }
    if let maskKey {
      for index in 0..<4 {
        buffer[room - 4 + index] = UInt8(truncatingIfNeeded: maskKey >> (8 * UInt32(index)))
      }
      buffer.withUnsafeMutableBytes {
        _ = Masking.apply(maskKey, to: UnsafeMutableRawBufferPointer(rebasing: $0[room...]))
      }
    }
    self.start = start
    storage = buffer
  }
}
