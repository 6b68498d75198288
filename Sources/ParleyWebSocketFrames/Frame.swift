/// A WebSocket message, a fragment of one, or a control frame, encoded once with its header and
/// shared by all receivers.
///
/// Header and payload are one immutable allocation. A server's frames are not masked (RFC 6455,
/// section 5.1), so the same bytes serve every connection: a broadcast to a thousand connections
/// costs a thousand references. A client masks each frame with its own key.
///
/// A message with a shared part is sent as fragments (section 5.4): a first, any number of middle
/// ones, and a last, in this order and with no other message between them. A transport may split a
/// fragment into several.
public struct Frame: Sendable {
  /// The position of a frame in its message.
  public enum Part: Sendable {
    /// The whole message.
    case whole
    /// The beginning of a message: more frames follow.
    case first
    /// Neither the beginning nor the end.
    case middle
    /// The end of a message.
    case last
  }

  /// Space before the payload for the longest header without and with a mask.
  private static let headerRoom = 10
  private static let maskedHeaderRoom = 14

  /// Reserved space, header and payload; the frame begins at `start`.
  private let storage: [UInt8]
  private let start: Int

  /// Bytes on the wire, header included.
  public var byteCount: Int { storage.count - start }

  /// The bytes as they go to the socket: header, then payload.
  public var bytes: ArraySlice<UInt8> { storage[start...] }

  /// The payload without the header; masked if the frame is.
  public var payload: ArraySlice<UInt8> { storage[payloadStart...] }

  private var payloadStart: Int {
    let second = storage[start + 1]
    let lengthBytes =
      switch second & 0x7f {
      case 126: 2
      case 127: 8
      default: 0
      }
    return start + 2 + lengthBytes + (second & 0x80 == 0 ? 0 : 4)
  }

  /// The header's first byte: whether the message ends here, and the kind if it begins here.
  private var firstByte: UInt8 { storage[start] }

  /// Whether the message ends with this frame.
  public var isFinal: Bool { firstByte & 0x80 != 0 }

  /// Whether the message begins with this frame.
  public var isFirst: Bool { firstByte & 0x0f != 0 }

  /// Whether both frames share one allocation, like the frames of a broadcast.
  public func isIdentical(to other: Self) -> Bool {
    storage.withUnsafeBufferPointer { mine in
      other.storage.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress }
    }
  }

  /// Calls `body` with header and payload as one piece of memory.
  @inline(__always)
  public func withUnsafeBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
  }

  /// Encodes a message, or a part of one, whose payload `write` appends to a buffer.
  ///
  /// - Parameters:
  ///   - kind: The message's kind. A text must be UTF-8; its fragments may be split at any byte.
  ///   - part: The position of the frame in its message.
  ///   - isCompressed: Whether the payload is deflated, which RSV1 of a first frame indicates.
  ///   - maskKey: A client's mask, unpredictable and used once; `nil` for a server.
  ///   - capacity: Bytes to reserve for the payload.
  ///   - write: Appends the payload. The buffer already contains space for the header: append,
  ///     never index from its start.
  public init(
    _ kind: MessageKind = .text, _ part: Part = .whole, isCompressed: Bool = false,
    maskKey: UInt32? = nil, reserving capacity: Int = 256, _ write: (inout [UInt8]) -> Void
  ) {
    let rsv1: UInt8 = isCompressed ? 0x40 : 0
    let first =
      switch part {
      case .whole: 0x80 | rsv1 | kind.rawValue
      case .first: rsv1 | kind.rawValue
      case .middle: UInt8(0)
      case .last: UInt8(0x80)
      }
    self.init(first: first, maskKey: maskKey, reserving: capacity, write)
  }

  /// Encodes a message, or a part of one, with a given payload.
  public init(
    _ kind: MessageKind = .text, _ part: Part = .whole, maskKey: UInt32? = nil,
    payload: some Collection<UInt8>
  ) {
    self.init(kind, part, maskKey: maskKey, reserving: payload.count) {
      $0.append(contentsOf: payload)
    }
  }

  /// Encodes a whole, unmasked message with a given payload, in one copy.
  public init(_ kind: MessageKind = .text, payload: UnsafeRawBufferPointer) {
    self.init(kind, reserving: payload.count) { $0.append(contentsOf: payload) }
  }

  /// Encodes a ping with a payload of at most 125 bytes.
  public static func ping(_ payload: some Collection<UInt8>, maskKey: UInt32? = nil) -> Self {
    control(0x9, payload, maskKey)
  }

  /// Encodes a pong with the payload of the ping that it answers, at most 125 bytes.
  public static func pong(_ payload: some Collection<UInt8>, maskKey: UInt32? = nil) -> Self {
    control(0xa, payload, maskKey)
  }

  /// Encodes a close frame.
  ///
  /// - Parameters:
  ///   - status: The status, or `nil` for an empty frame.
  ///   - reason: The reason; it is truncated to 123 bytes, between two scalars.
  ///   - maskKey: A client's mask; `nil` for a server.
  /// - Precondition: The status is valid on the wire.
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

  /// Wraps encoded bytes, such as the response to a handshake.
  public init(encoded bytes: [UInt8]) {
    storage = bytes
    start = 0
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
    buffer.append(contentsOf: repeatElement(0, count: room))
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
