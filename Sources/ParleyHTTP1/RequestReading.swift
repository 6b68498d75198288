/// A head that is being read.
struct HeadReading {
  private var reader = HeadReader()
  private var hasSkippedLine = false

  init() {}

  /// Reads on, and returns the head once it is whole.
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

/// A request with a whole head, and the bytes read from its body.
struct RequestReading {
  let head: HTTPRequestHead
  private(set) var body: [UInt8] = []
  /// The missing bytes of a body that declared its length; else zero.
  private(set) var left: Int
  /// The longest body.
  private var bytesMax: Int
  /// Whether the owner can be asked for more.
  private(set) var mayAsk: Bool
  private var chunks = ChunkReader()
  /// The time at which the body began.
  private var since: Int64?

  init(_ head: HTTPRequestHead, _ limits: HTTPLimits) {
    self.head = head
    left = if case .length(let count) = head.body { count } else { 0 }
    bytesMax = limits.bodyBytesMax
    mayAsk = limits.asksForLongerBodies
  }

  /// Whether a declared length is above the limit.
  var isTooLong: Bool { left > bytesMax }
  var tooLong: HTTPError { .bodyTooLong(bytesMax) }

  /// Sets the longest body, as the owner has decided.
  mutating func allow(bytesMax: Int) {
    self.bytesMax = bytesMax
    mayAsk = false
  }

  /// Begins to read the body, or continues after a decision.
  ///
  /// - Returns: Whether this is the beginning.
  mutating func beginBody(now: Int64) -> Bool {
    guard since == nil else { return false }
    since = now
    // A declared length is a promise: reserve a little of it.
    body.reserveCapacity(min(left, 4 << 10))
    return true
  }

  /// The time by which more of the body has to come.
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

/// The rest of a refused body, which is dropped as it comes.
struct RefusedBody {
  /// Bytes of it that are still to come.
  private var left: Int
  private var dropped = 0

  init(left: Int = 0) { self.left = left }

  /// Drops bytes. Returns whether some were of the body.
  mutating func drop(_ count: Int) -> Bool {
    let own = min(left, count)
    left -= own
    dropped += own
    return own > 0
  }

  /// Milliseconds that the dropped bytes have earned for the rest.
  func earned(_ limits: HTTPLimits) -> Int64 {
    Int64(dropped) * 1000 / Int64(limits.bodyBytesPerSecondMin)
  }
}
