/// A reader of WebSocket frames (RFC 6455): bytes in, messages and control frames out.
///
/// Pass it the bytes read from the socket, split anywhere:
///
///     var reader = FrameReader(side: .server, limits: limits)
///     var input = bytesReadFromTheSocket
///     while let event = reader.next(&input) {
///       switch event { … }
///     }
///
/// A message that arrives complete in one read and one frame is unmasked in place and delivered as
/// a view of the caller's buffer, without a copy. All other messages are collected in one buffer.
/// It grows with the received bytes, never with the length that a header declares, and is freed
/// once the message is delivered. An idle connection therefore uses no memory beside this value.
///
/// The reader is strict, and fails at the earliest byte: at a header that breaks a rule or a limit
/// before any payload is stored, and at the first byte of a text that is not UTF-8. After a failure
/// or a close frame it reads nothing more.
public struct FrameReader: ~Copyable {
  /// A side of a connection.
  public enum Side: Sendable {
    /// The reader's peer is a client, whose frames are masked.
    case server
    /// The reader's peer is a server, whose frames are not masked.
    case client
  }

  /// A message, a control frame, or the end of reading.
  ///
  /// Views are valid until the next call of `next`, provided that the caller does not change the
  /// memory that it passed.
  public enum Event {
    /// A whole message. The bytes of a text are UTF-8.
    case message(MessageKind, UnsafeRawBufferPointer)
    /// A whole message whose first frame has RSV1 set, neither inflated nor checked as UTF-8. Only
    /// with `acceptsCompressed`.
    case compressed(MessageKind, UnsafeRawBufferPointer)
    /// A message whose frames so far declare more bytes than the limit. Its payload is dropped as
    /// it arrives; later frames are read.
    case oversized(declaredBytes: UInt64)
    /// A ping, to be answered by a pong with the same payload, of at most 125 bytes.
    case ping(UnsafeRawBufferPointer)
    /// A pong.
    case pong(UnsafeRawBufferPointer)
    /// A valid close frame; its reason is UTF-8. Reading has ended.
    case close(CloseStatus?, reason: UnsafeRawBufferPointer)
    /// A broken rule. Reading has ended: send its close frame, then end the connection.
    case failure(FrameError)
  }

  private enum Phase {
    /// Next: `payload`, `ended`.
    case header
    /// Next: `header`, `ended`.
    case payload
    /// Final.
    case ended
  }

  /// The side that reads.
  public let side: Side
  /// The limits of the reader.
  public private(set) var limits: FrameLimits
  /// Whether RSV1 may be set, because permessage-deflate was negotiated.
  public let acceptsCompressed: Bool

  private var phase = Phase.header

  // The first bytes of a header, when a read ended within it.
  private var partialHeader: (UInt64, UInt64) = (0, 0)
  private var partialHeaderCount: UInt8 = 0

  // The frame whose payload is being read.
  private var first: UInt8 = 0
  private var payloadLeft: UInt64 = 0
  /// The frame's mask, rotated so that its lowest byte applies to the next byte of payload.
  private var key: UInt32 = 0
  private var hasBegunPayload = false

  // The message whose frames are being read.
  private var isMessageOpen = false
  private var isDiscarding = false
  private var isCompressed = false
  private var kind = MessageKind.text
  private var fragmentCount = 0
  private var tinyFragmentCount = 0
  private var text = UTF8Validator()

  /// The message's bytes, followed by those of a control frame that arrives in pieces.
  private var buffer = FrameBuffer()
  private var messageByteCount = 0
  /// Whether the last event was a view of the buffer, which the next call may shorten.
  private var hasDelivered = false

  /// Creates a reader at the beginning of a stream of frames.
  ///
  /// - Parameter acceptsCompressed: Whether permessage-deflate (RFC 7692) was negotiated.
  public init(side: Side, limits: FrameLimits = FrameLimits(), acceptsCompressed: Bool = false) {
    self.side = side
    self.limits = limits
    self.acceptsCompressed = acceptsCompressed
  }

  /// Whether reading has ended, because of a failure or a close frame.
  public var hasEnded: Bool { phase == .ended }

  /// Bytes of memory allocated for an incomplete message or control frame.
  public var heldBytes: Int { buffer.capacity }

  /// Sets another maximum for messages, from the next frame on. May be called between two events.
  public mutating func setMessageBytesMax(_ bytesMax: Int) {
    limits = limits.with(messageBytesMax: max(bytesMax, messageByteCount))
  }

  /// Drops the message whose frames are being read, and frees its memory. Later frames are read.
  ///
  /// - Precondition: `next` has returned `nil`, so that no view is in use.
  public mutating func dropMessage() {
    // An incomplete control frame is stored after the message, and has at most 125 bytes.
    guard isMessageOpen, !isDiscarding, !(phase == .payload && isControl) else { return }
    isDiscarding = true
    messageByteCount = 0
    buffer.free()
  }

  /// Processes input, and returns the next event, or `nil` once all input is consumed.
  ///
  /// Call it until it returns `nil`: the call after a message frees the message's memory. The
  /// payload of masked frames is changed in place.
  ///
  /// - Parameter input: The bytes read, without those that earlier calls have consumed.
  /// - Complexity: O(*n*) in the bytes consumed.
  public mutating func next(_ input: inout UnsafeMutableRawBufferPointer) -> Event? {
    if hasDelivered { release() }
    while true {
      switch phase {
      case .ended:
        drop(input.count, from: &input)
        return nil
      case .header:
        do throws(FrameError) {
          guard try readHeader(&input) else { return nil }
          if let event = try beginFrame() { return event }
        } catch {
          return fail(error, &input)
        }
      case .payload:
        do throws(FrameError) {
          if payloadLeft > UInt64(input.count) || hasBegunPayload || !isWholeMessageOrControl {
            let event = try gather(&input)
            if event != nil { return event }
            if phase == .payload { return nil }
          } else {
            return try deliverInPlace(&input)
          }
        } catch {
          return fail(error, &input)
        }
      }
    }
  }

  private mutating func fail(
    _ error: FrameError, _ input: inout UnsafeMutableRawBufferPointer
  ) -> Event {
    phase = .ended
    isMessageOpen = false
    release()
    drop(input.count, from: &input)
    return .failure(error)
  }

  /// Frees or shortens the buffer after the last event's view is no longer used.
  private mutating func release() {
    hasDelivered = false
    if isMessageOpen, phase != .ended {
      // The event was a control frame between fragments.
      buffer.truncate(messageByteCount)
    } else {
      messageByteCount = 0
      buffer.free()
    }
  }

  private func drop(_ count: Int, from input: inout UnsafeMutableRawBufferPointer) {
    input = UnsafeMutableRawBufferPointer(rebasing: input[count...])
  }

  // MARK: Headers

  /// Reads a header, or stores the received part of it.
  private mutating func readHeader(
    _ input: inout UnsafeMutableRawBufferPointer
  ) throws(FrameError) -> Bool {
    if partialHeaderCount == 0 {
      if let count = try parseHeader(UnsafeRawBufferPointer(input)) {
        drop(count, from: &input)
        return true
      }
    }
    while let byte = input.first {
      drop(1, from: &input)
      withUnsafeMutableBytes(of: &partialHeader) { $0[Int(partialHeaderCount)] = byte }
      partialHeaderCount += 1
      var copy = partialHeader
      let count = Int(partialHeaderCount)
      let isWhole = try withUnsafeBytes(of: &copy) { bytes throws(FrameError) in
        try parseHeader(UnsafeRawBufferPointer(rebasing: bytes[..<count])) != nil
      }
      if isWhole {
        partialHeaderCount = 0
        return true
      }
    }
    return false
  }

  /// Parses a header and returns its length, or `nil` if bytes are missing. An error is reported at
  /// the first byte that proves it.
  @inline(__always)
  private mutating func parseHeader(
    _ bytes: UnsafeRawBufferPointer
  ) throws(FrameError) -> Int? {
    guard bytes.count >= 1 else { return nil }
    let first = bytes[0]
    try check(first: first)
    guard bytes.count >= 2 else { return nil }
    let second = bytes[1]
    let isMasked = second & 0x80 != 0
    guard isMasked == (side == .server) else { throw isMasked ? .masked : .notMasked }
    var length = UInt64(second & 0x7f)
    var offset = 2
    if length >= 126 {
      if first & 0x08 != 0 { throw .longControl }
      if length == 126 {
        guard bytes.count >= 4 else { return nil }
        length = UInt64(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        guard length >= 126 else { throw .lengthNotMinimal }
        offset = 4
      } else {
        guard bytes.count >= 10 else { return nil }
        length = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
        guard length >> 63 == 0 else { throw .lengthBeyondRange }
        guard length >= 1 << 16 else { throw .lengthNotMinimal }
        offset = 10
      }
    }
    if isMasked {
      guard bytes.count >= offset + 4 else { return nil }
      key = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
      offset += 4
    }
    self.first = first
    payloadLeft = length
    return offset
  }

  /// Checks the bits and the opcode of a frame's first byte.
  @inline(__always)
  private func check(first: UInt8) throws(FrameError) {
    if first & 0x70 != 0 {
      let isFirstOfMessage = first & 0x0f == 1 || first & 0x0f == 2
      guard first & 0x70 == 0x40, acceptsCompressed, isFirstOfMessage else { throw .reservedBits }
    }
    switch first & 0x0f {
    case 0: if !isMessageOpen { throw .unexpectedContinuation }
    case 1, 2: if isMessageOpen { throw .expectedContinuation }
    case 8, 9, 10: if first & 0x80 == 0 { throw .fragmentedControl }
    default: throw .unknownOpcode(first & 0x0f)
    }
  }

  private var isFinal: Bool { first & 0x80 != 0 }
  private var isControl: Bool { first & 0x08 != 0 }
  /// Whether the current frame is a whole message or a control frame.
  private var isWholeMessageOrControl: Bool {
    isControl || (isFinal && first & 0x0f != 0 && !isDiscarding)
  }

  /// Checks a new frame against the limits, before any of its payload is stored.
  private mutating func beginFrame() throws(FrameError) -> Event? {
    phase = .payload
    hasBegunPayload = false
    if isControl { return nil }
    if first & 0x0f != 0 {
      kind = first & 0x0f == 1 ? .text : .binary
      isCompressed = first & 0x40 != 0
      fragmentCount = 0
      tinyFragmentCount = 0
      text = UTF8Validator()
      isMessageOpen = true
    }
    fragmentCount += 1
    if !isFinal, payloadLeft < UInt64(FrameLimits.tinyFragmentBytes) { tinyFragmentCount += 1 }
    if fragmentCount > limits.fragmentsMax || tinyFragmentCount > limits.tinyFragmentsMax {
      throw .tooManyFragments
    }
    if !isDiscarding, payloadLeft > UInt64(limits.messageBytesMax - messageByteCount) {
      let declared = UInt64(messageByteCount) + payloadLeft
      isDiscarding = true
      messageByteCount = 0
      buffer.free()
      return .oversized(declaredBytes: declared)
    }
    return nil
  }

  // MARK: Payloads

  /// Delivers a message or control frame that is complete in the input.
  private mutating func deliverInPlace(
    _ input: inout UnsafeMutableRawBufferPointer
  ) throws(FrameError) -> Event {
    let count = Int(payloadLeft)
    let payload = UnsafeMutableRawBufferPointer(rebasing: input[..<count])
    drop(count, from: &input)
    phase = .header
    let isASCII = side == .server ? Masking.apply(key, to: payload) : false
    let view = UnsafeRawBufferPointer(payload)
    if isControl { return try control(view) }
    isMessageOpen = false
    if isCompressed { return .compressed(kind, view) }
    if kind == .text, !isASCII {
      guard text.append(view), text.isAtBoundary else { throw .textNotUTF8 }
    }
    return .message(kind, view)
  }

  /// Consumes available payload. Returns an event if it completes a message or a control frame; a
  /// frame that ends without an event leaves the phase `header`.
  private mutating func gather(
    _ input: inout UnsafeMutableRawBufferPointer
  ) throws(FrameError) -> Event? {
    hasBegunPayload = true
    let count = Int(min(payloadLeft, UInt64(input.count)))
    let isDropped = isDiscarding && !isControl
    if count > 0 {
      let piece = UnsafeRawBufferPointer(rebasing: input[..<count])
      if !isDropped { try keep(piece) }
      payloadLeft -= UInt64(count)
      drop(count, from: &input)
    }
    guard payloadLeft == 0 else { return nil }
    phase = .header
    if isControl {
      hasDelivered = true
      return try control(buffer.view(from: messageByteCount))
    }
    if isDropped {
      if isFinal {
        isDiscarding = false
        isMessageOpen = false
      }
      return nil
    }
    messageByteCount = buffer.count
    guard isFinal else { return nil }
    isMessageOpen = false
    hasDelivered = true
    if isCompressed { return .compressed(kind, buffer.view(from: 0)) }
    if kind == .text, !text.isAtBoundary { throw .textNotUTF8 }
    return .message(kind, buffer.view(from: 0))
  }

  /// Appends a piece of payload to the buffer, unmasked and checked.
  private mutating func keep(_ piece: UnsafeRawBufferPointer) throws(FrameError) {
    let start = buffer.count
    let ceiling =
      isControl || isFinal
      ? start + Int(payloadLeft) : limits.messageBytesMax
    buffer.reserve(piece.count, ceiling: ceiling)
    let isASCII = buffer.append(piece, key: side == .server ? key : 0)
    key = Masking.turn(key, by: piece.count)
    if isControl || kind != .text || isCompressed { return }
    if isASCII, text.isAtBoundary { return }
    guard text.append(buffer.view(from: start)) else { throw .textNotUTF8 }
  }

  /// Reads the payload of a whole control frame.
  private mutating func control(
    _ payload: UnsafeRawBufferPointer
  ) throws(FrameError) -> Event {
    switch first & 0x0f {
    case 9: return .ping(payload)
    case 10: return .pong(payload)
    default: break
    }
    if payload.isEmpty {
      phase = .ended
      return .close(nil, reason: payload)
    }
    guard payload.count >= 2 else { throw .closePayloadOfOneByte }
    let number = UInt16(bigEndian: payload.loadUnaligned(as: UInt16.self))
    let status = CloseStatus(number)
    guard status.isValidOnWire else { throw .closeStatus(number) }
    let reason = UnsafeRawBufferPointer(rebasing: payload[2...])
    var check = UTF8Validator()
    guard check.append(reason), check.isAtBoundary else { throw .closeReasonNotUTF8 }
    phase = .ended
    return .close(status, reason: reason)
  }
}
