/// A head that is being read, with an optional empty line before it.
struct HeadReading {
  private var reader = HeadReader()
  private var hasSkippedLine = false

  init() {}

  /// Processes more bytes, and returns the head once it is complete.
  @inline(__always)
  mutating func read(
    _ input: inout UnsafeRawBufferPointer, _ pending: inout InputBuffer, _ limits: HTTPLimits
  ) throws(HTTPError) -> HTTPRequestHead? {
    try pending.read(&input) {
      (bytes: Span<UInt8>) throws(HTTPError) -> (Int, HTTPRequestHead?) in
      var start = 0
      if !reader.hasBegun, !hasSkippedLine, bytes[0] == Bytes.carriageReturn {
        // An empty line before a request (RFC 9112, section 2.2).
        if bytes.count == 1 { return (0, nil) }
        guard bytes[1] == Bytes.lineFeed else { throw .lineBreak }
        hasSkippedLine = true
        start = 2
      }
      let rest = bytes.extracting(start...)
      guard let count = try reader.read(rest, limits) else { return (start, nil) }
      return (start + count, try reader.finish(rest.extracting(..<count)))
    }
  }
}

/// A request with a complete head, and the bytes read from its body.
struct RequestReading {
  let head: HTTPRequestHead
  private(set) var body: [UInt8] = []
  /// The missing bytes of a body with a declared length; otherwise zero.
  private(set) var left: Int
  /// Maximum bytes of the body.
  private var bytesMax: Int
  /// Whether the owner can be asked for a longer body.
  private(set) var mayAsk: Bool
  private var chunks = ChunkReader()
  /// The time at which reading the body started.
  private var since: Int64?

  init(_ head: HTTPRequestHead, _ limits: HTTPLimits) {
    self.head = head
    left = if case .length(let count) = head.body { count } else { 0 }
    bytesMax = limits.bodyBytesMax
    mayAsk = limits.asksForLongerBodies
  }

  /// Whether the declared length exceeds the maximum.
  var isTooLong: Bool { left > bytesMax }
  var tooLong: HTTPError { .bodyTooLong(bytesMax) }

  /// Sets the maximum bytes, as the owner has decided.
  mutating func allow(bytesMax: Int) {
    self.bytesMax = bytesMax
    mayAsk = false
  }

  /// Starts to read the body, or continues after a decision.
  ///
  /// - Returns: Whether this is the first call.
  mutating func beginBody(now: Int64) -> Bool {
    guard since == nil else { return false }
    since = now
    // The declared length is not trusted: reserve only a little of it.
    body.reserveCapacity(min(left, 4 << 10))
    return true
  }

  /// Returns the time by which more of the body has to arrive.
  func deadline(_ limits: HTTPLimits) -> Int64? {
    let earned = Int64(body.count) * 1000 / Int64(limits.bodyBytesPerSecondMin)
    return since.map { $0 + limits.bodyMilliseconds + earned }
  }

  mutating func read(
    _ input: inout UnsafeRawBufferPointer, _ pending: inout InputBuffer, _ limits: HTTPLimits
  ) throws(HTTPError) -> ChunkReader.Outcome {
    try pending.read(&input) {
      (available: Span<UInt8>) throws(HTTPError) -> (Int, ChunkReader.Outcome) in
      if head.body == .chunks {
        return try chunks.read(available, into: &body, bytesMax: bytesMax, limits)
      }
      let count = min(left, available.count)
      available.extracting(..<count).withUnsafeBufferPointer { body.append(contentsOf: $0) }
      left -= count
      return (count, left == 0 ? .done : .partial)
    }
  }
}

/// The rest of a refused body, which is dropped as it arrives.
struct RefusedBody {
  /// The bytes that have not arrived.
  private var left: Int
  private var dropped = 0

  init(left: Int = 0) { self.left = left }

  /// Drops bytes. Returns whether some of them belong to the body.
  mutating func drop(_ count: Int) -> Bool {
    let own = min(left, count)
    left -= own
    dropped += own
    return own > 0
  }

  /// Returns the milliseconds by which the dropped bytes extend the deadline for the rest.
  func earned(_ limits: HTTPLimits) -> Int64 {
    Int64(dropped) * 1000 / Int64(limits.bodyBytesPerSecondMin)
  }
}
