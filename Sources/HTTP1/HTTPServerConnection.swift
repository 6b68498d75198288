/// The server's end of one HTTP/1.1 connection (RFC 9112), as a state machine without I/O: bytes
/// and answers in, requests and bytes out.
///
/// Its owner does four things, in this order, whenever something has happened:
///
///     1. while wantsInput: read from the socket, and call next(&input) until it returns nil
///     2. handle each event; answer requests by respond, now or later, in any order
///     3. while unsentByteCount > 0: writeNext, until the socket takes no more
///     4. look at ending, and be back at deadline
///
/// and calls `next` again after it has answered or written, since a held request may continue.
///
/// Requests are answered in the order in which they came. Those that change nothing and have no body
/// may be with the owner together (`pipelinedMax`); any other is alone. While no more may come,
/// `wantsInput` is false and what has been read already is kept, at most one read.
///
/// A request that breaks a rule is answered here, and the connection ends behind the answer: what
/// follows it cannot be separated from its body. Every limit is checked before a byte is kept.
///
/// It has no clock: times are milliseconds of the caller, never decreasing.
public struct HTTPServerConnection: Sendable {
  /// A header field of a response.
  public typealias Field = (name: String, value: String)

  /// The number of a request within its connection, counting from 1.
  public struct RequestNumber: Hashable, Sendable {
    let rawValue: UInt64
  }

  /// A request, or the end of a request.
  public enum Event: Sendable {
    /// A whole request, to be answered by `respond`.
    case request(RequestNumber, HTTPRequestHead, body: [UInt8])
    /// A valid WebSocket handshake, the only request under way, to be answered by `upgrade` or,
    /// to reject it, by `respond`, which ends the connection. Bytes behind its head
    /// belong to the WebSocket, and are kept until then.
    case upgrade(RequestNumber, HTTPRequestHead, WebSocketOffer)
    /// A request has a body that is longer than `bodyBytesMax`: of this length, or in chunks, whose length is not known.
    /// To be answered by `takeBody` or `refuseBody` before the next call.
    case asksForBody(HTTPRequestHead, byteCount: Int?)
    /// A request broke a rule. The connection has answered it.
    case rejected(HTTPError)
    /// The response to a request is no longer needed.
    case abandoned(RequestNumber)
  }

  /// The step that ends TCP.
  public enum Ending: Sendable, Hashable {
    /// The connection stays open.
    case none
    /// Everything is sent: shut down the sending side, and keep reading, which drops the bytes, until
    /// the peer ends or `deadline` has passed.
    case endSending
    /// Close it.
    case close
  }

  private enum Reading {
    /// A head, or between two requests. Next: `asking`, `body`, `held`, `upgrading`, `ended`.
    case head
    /// The owner decides about the longer body of `current`. Next: `body`, `ended`.
    case asking
    /// The body of `current`. Next: `head`, `ended`.
    case body
    /// `current` waits for the answers to those before it. Next: `head`, `body`, `upgrading`.
    case held
    /// The owner decides about an upgrade. Next: `ended`.
    case upgrading
    /// Final: incoming bytes are dropped.
    case ended
  }

  /// A delivered request and its response.
  struct Slot {
    let number: RequestNumber
    let isHead: Bool
    let isIndependent: Bool
    let keepsAlive: Bool
    /// Fields of the response beside its own.
    let added: [Field]
    var response: HTTPResponse?
  }

  private enum ReadLimit {
    case head
    case body
    case idle
  }

  /// The limits that apply.
  public let limits: HTTPLimits
  /// The date to put in responses; to be set before each call that may answer.
  public var date: HTTPDate?
  /// Fields to add to whatever answers a request, a rejection included.
  private let addedFields: (@Sendable (HTTPRequestHead) -> [Field])?

  private var reading = Reading.head
  /// Bytes that have been read and not consumed.
  private var pending: [UInt8] = []
  private var pendingStart = 0
  private var head = HeadReader()
  private var hasSkippedLine = false
  private var current: HTTPRequestHead?
  private var body: [UInt8] = []
  private var bodyLeft = 0
  /// The longest body that `current` may have, and whether the owner can still be asked for more.
  private var bodyBytesMax = 0
  private var mayAsk = false
  private var chunks = ChunkReader()
  private var bodySince: Int64 = 0

  private var slots: [Slot] = []
  private var abandoned: [RequestNumber] = []
  private var serial: UInt64 = 0
  private var output = OutputQueue()
  /// Whether the last response has been queued.
  private var isClosing = false
  private var isStopping = false
  private var isCut = false
  private var hasUpgraded = false
  private var peerHasEnded = false

  private var readDeadline: Int64?
  private var readLimit = ReadLimit.head
  private var writeDeadline: Int64?
  private var writtenSinceDeadline = 0
  private var lingerDeadline: Int64?
  private var lingerSince: Int64 = 0
  /// The bytes of a refused body that are still to come, and those that were dropped.
  private var refusedBytesLeft = 0
  private var refusedBytesDropped = 0
  /// The time by which the owner has to answer a peer that has ended its side.
  private var answerDeadline: Int64?

  /// Opens a connection.
  ///
  /// - Parameters:
  ///   - limits: The limits that apply.
  ///   - now: The time.
  ///   - addedFields: Fields to add to whatever answers a request, a rejection included.
  /// - Precondition: The limits are positive, and `headBytesMax` is at most 2^31.
  public init(
    limits: HTTPLimits = HTTPLimits(), now: Int64,
    addedFields: (@Sendable (HTTPRequestHead) -> [Field])? = nil
  ) {
    precondition(
      limits.requestLineBytesMax > 0 && limits.headBytesMax >= limits.requestLineBytesMax
        && limits.headBytesMax <= 1 << 30, "headBytesMax is out of range")
    precondition(0...Int.max / 4 ~= limits.bodyBytesMax, "bodyBytesMax is out of range")
    precondition(
      limits.pipelinedMax > 0 && limits.bodyBytesPerSecondMin > 0 && limits.fieldsMax > 0,
      "a limit must be positive")
    self.limits = limits
    self.addedFields = addedFields
    readDeadline = now + limits.headMilliseconds
  }

  // MARK: Reading

  /// Whether bytes should be read from the socket. If not, they stay in the system's buffers, which
  /// slows the client down.
  public var wantsInput: Bool {
    if isCut || peerHasEnded || hasUpgraded { return false }
    switch reading {
    case .head: return mayBegin
    case .body: return true
    case .asking, .held, .upgrading: return false
    // Incoming bytes are dropped, as soon as no response of the owner is outstanding.
    case .ended: return slots.isEmpty
    }
  }

  /// Whether a further request may be read.
  private var mayBegin: Bool {
    slots.count < limits.pipelinedMax && slots.first?.isIndependent != false
      && output.byteCount <= limits.unsentBytesMax
  }

  /// The number of received bytes that are held and not yet delivered.
  public var heldByteCount: Int { pending.count - pendingStart + body.count }

  /// Reads on, and returns the next event, or `nil` once all of the input is consumed or kept.
  ///
  /// Call it until it returns `nil`; again with what is read next; and with no input after
  /// `respond` or `writeNext`.
  ///
  /// - Complexity: O(*n*) in the bytes, however they are cut.
  public mutating func next(_ input: inout UnsafeRawBufferPointer, now: Int64) -> Event? {
    defer { settle(now) }
    if !abandoned.isEmpty { return .abandoned(abandoned.removeFirst()) }
    do throws(HTTPError) {
      while true {
        switch reading {
        case .ended:
          dropInput(&input, now)
          return nil
        case .asking, .upgrading:
          keep(&input)
          return nil
        case .held:
          keep(&input)
          if let event = try begin(now, &input) { return event }
          if case .held = reading { return nil }
        case .head:
          guard mayBegin else {
            keep(&input)
            return nil
          }
          guard try readHead(&input, now) else {
            guard peerHasEnded else { return nil }
            endReading()
            continue
          }
          if let event = try begin(now, &input) { return event }
        case .body:
          if let event = try readBody(&input, now) { return event }
          guard case .body = reading else { continue }
          guard peerHasEnded else { return nil }
          endReading()
        }
      }
    } catch {
      dropInput(&input, now)
      return reject(error, now)
    }
  }

  /// Stops reading: the owner receives no further request, and a partly received one is dropped.
  private mutating func endReading() {
    drop()
    reading = .ended
    current = nil
    body = []
    readDeadline = nil
  }

  /// Drops all input. The rest of a refused body earns the time that it takes to come.
  private mutating func dropInput(_ input: inout UnsafeRawBufferPointer, _ now: Int64) {
    let count = min(refusedBytesLeft, pending.count - pendingStart + input.count)
    drop()
    input = UnsafeRawBufferPointer(rebasing: input[input.count...])
    guard count > 0 else { return }
    refusedBytesLeft -= count
    refusedBytesDropped += count
    guard let deadline = lingerDeadline else { return }
    let earned = Int64(refusedBytesDropped) * 1000 / Int64(limits.bodyBytesPerSecondMin)
    lingerDeadline = max(
      deadline, min(now, lingerSince + earned) + limits.lingerMilliseconds)
  }

  private mutating func drop() {
    pending = []
    pendingStart = 0
  }

  /// Keeps the input for later.
  private mutating func keep(_ input: inout UnsafeRawBufferPointer) {
    guard !input.isEmpty else { return }
    compact()
    pending.append(contentsOf: input)
    input = UnsafeRawBufferPointer(rebasing: input[input.count...])
  }

  private mutating func compact() {
    guard pendingStart > 0 else { return }
    pending.removeFirst(pendingStart)
    pendingStart = 0
  }

  private mutating func consumePending(_ count: Int) {
    pendingStart += count
    if pendingStart == pending.count { drop() }
  }

  /// Calls `body` with the available bytes, and consumes as many as it returns.
  @inline(__always)
  private mutating func withBytes<Result>(
    _ input: inout UnsafeRawBufferPointer,
    _ body: (inout Self, Span<UInt8>) throws(HTTPError) -> (Int, Result)
  ) throws(HTTPError) -> Result {
    if pending.isEmpty {
      let bytes = input.assumingMemoryBound(to: UInt8.self)
      let (count, result) = try body(&self, bytes.span)
      input = UnsafeRawBufferPointer(rebasing: input[count...])
      return result
    }
    keep(&input)
    // Moved out meanwhile, so that it is not copied.
    var taken: [UInt8] = []
    swap(&taken, &pending)
    let (count, result) = try body(&self, taken.span.extracting(pendingStart...))
    swap(&taken, &pending)
    consumePending(count)
    return result
  }

  /// Reads a head into `current`. Returns whether it is whole.
  private mutating func readHead(
    _ input: inout UnsafeRawBufferPointer, _ now: Int64
  ) throws(HTTPError) -> Bool {
    let isWhole = try withBytes(&input) {
      (self: inout Self, bytes: Span<UInt8>) throws(HTTPError) -> (Int, Bool) in
      guard bytes.count > 0 else { return (0, false) }
      if self.readDeadline == nil || self.readLimit == .idle {
        self.readDeadline = now + self.limits.headMilliseconds
        self.readLimit = .head
      }
      var start = 0
      if !self.head.hasBegun, !self.hasSkippedLine, bytes[0] == Bytes.carriageReturn {
        // An empty line before a request (RFC 9112, section 2.2).
        if bytes.count == 1 { return (0, false) }
        guard bytes[1] == Bytes.lineFeed else { throw .lineBreak }
        self.hasSkippedLine = true
        start = 2
      }
      let rest = bytes.extracting(start...)
      guard let count = try self.head.read(rest, self.limits) else { return (start, false) }
      self.current = try self.head.finish(rest.extracting(..<count))
      return (start + count, true)
    }
    guard isWhole else {
      keep(&input)
      return false
    }
    head = HeadReader()
    hasSkippedLine = false
    return true
  }

  /// Continues with `current`, whose head is complete: holds it, delivers it, or begins its body.
  private mutating func begin(
    _ now: Int64, _ input: inout UnsafeRawBufferPointer
  ) throws(HTTPError) -> Event? {
    guard let request = current else { return nil }
    let mayGoOn = request.isIndependent ? mayBegin : slots.isEmpty
    // A WebSocket has the socket for itself.
    guard mayGoOn, request.webSocket == nil || output.isEmpty else {
      reading = .held
      readDeadline = nil
      return nil
    }
    if let offer = request.webSocket {
      reading = .upgrading
      readDeadline = nil
      current = nil
      // The answer may come before the next call.
      keep(&input)
      return .upgrade(open(request), request, offer)
    }
    switch request.body {
    case .none:
      return deliver(now)
    case .length(let count):
      bodyLeft = count
      guard count <= limits.bodyBytesMax else {
        guard limits.asksForLongerBodies else { throw .bodyTooLong(limits.bodyBytesMax) }
        return ask(about: request, byteCount: count, &input)
      }
    case .chunks:
      chunks = ChunkReader()
      bodyLeft = 0
      bodyBytesMax = limits.bodyBytesMax
      mayAsk = limits.asksForLongerBodies
    }
    beginBody(of: request, now)
    return nil
  }

  /// Asks the owner about a body that is longer than `bodyBytesMax`.
  private mutating func ask(
    about request: HTTPRequestHead, byteCount: Int?, _ input: inout UnsafeRawBufferPointer
  ) -> Event {
    reading = .asking
    readDeadline = nil
    keep(&input)
    return .asksForBody(request, byteCount: byteCount)
  }

  private mutating func beginBody(of request: HTTPRequestHead, _ now: Int64) {
    reading = .body
    bodySince = now
    readLimit = .body
    readDeadline = now + limits.bodyMilliseconds
    // A declared length is a promise: reserve a little of it.
    body.reserveCapacity(min(bodyLeft, 4 << 10))
    if request.expectsContinue { queue(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), now) }
  }

  /// Reads the longer body that the owner was asked about; call `next` again then. Does nothing otherwise.
  ///
  /// - Parameter bytesMax: The longest body; a longer one is refused.
  public mutating func takeBody(bytesMax: Int, now: Int64) {
    guard case .asking = reading, let current else { return }
    guard bodyLeft <= bytesMax else {
      return refuseBody(with: HTTPError.bodyTooLong(bytesMax).response, now: now)
    }
    bodyBytesMax = bytesMax
    mayAsk = false
    guard current.body == .chunks else { return beginBody(of: current, now) }
    // The body has begun.
    reading = .body
    readDeadline = bodyDeadline
  }

  /// The time by which more of the body has to come.
  private var bodyDeadline: Int64 {
    let earned = Int64(body.count) * 1000 / Int64(limits.bodyBytesPerSecondMin)
    return bodySince + limits.bodyMilliseconds + earned
  }

  /// Refuses the longer body that the owner was asked about, and ends the connection behind the answer.
  ///
  /// - Parameter response: The answer; the one to a body that is too long without it.
  public mutating func refuseBody(with response: HTTPResponse? = nil, now: Int64) {
    guard case .asking = reading else { return }
    let refusal = response ?? HTTPError.bodyTooLong(limits.bodyBytesMax).response
    finish(with: refusal, isHead: current?.method == .head, now)
    settle(now)
  }

  private mutating func readBody(
    _ input: inout UnsafeRawBufferPointer, _ now: Int64
  ) throws(HTTPError) -> Event? {
    let isChunked = current?.body == .chunks
    let outcome = try withBytes(&input) {
      (self: inout Self, bytes: Span<UInt8>) throws(HTTPError) -> (Int, ChunkReader.Outcome) in
      if isChunked {
        return try self.chunks.read(
          bytes, into: &self.body, bytesMax: self.bodyBytesMax, self.limits)
      }
      let count = min(self.bodyLeft, bytes.count)
      bytes.extracting(..<count).withUnsafeBufferPointer { self.body.append(contentsOf: $0) }
      self.bodyLeft -= count
      return (count, self.bodyLeft == 0 ? .done : .partial)
    }
    switch outcome {
    case .done: return deliver(now)
    case .over:
      guard mayAsk, let current else { throw .bodyTooLong(bodyBytesMax) }
      return ask(about: current, byteCount: nil, &input)
    case .partial:
      readDeadline = bodyDeadline
      return nil
    }
  }

  private mutating func open(_ request: HTTPRequestHead) -> RequestNumber {
    serial += 1
    let number = RequestNumber(rawValue: serial)
    slots.append(
      Slot(
        number: number, isHead: request.method == .head, isIndependent: request.isIndependent,
        keepsAlive: request.keepsAlive, added: addedFields?(request) ?? []))
    return number
  }

  private mutating func deliver(_ now: Int64) -> Event? {
    guard let request = current else { return nil }
    current = nil
    readDeadline = nil
    reading = request.keepsAlive && !isStopping ? .head : .ended
    var whole: [UInt8] = []
    swap(&whole, &body)
    return .request(open(request), request, body: whole)
  }

  /// Answers a request that broke a rule, after those before it, and stops reading.
  private mutating func reject(_ error: HTTPError, _ now: Int64) -> Event {
    finish(with: error.response, isHead: current?.method == .head, now)
    return .rejected(error)
  }

  /// Queues a last response that the owner was not asked for.
  private mutating func finish(with response: HTTPResponse, isHead: Bool, _ now: Int64) {
    let added = current.flatMap { addedFields?($0) } ?? []
    switch reading {
    case .asking, .body: if case .length? = current?.body { refusedBytesLeft = bodyLeft }
    case .head, .held, .upgrading, .ended: break
    }
    var kept = UnsafeRawBufferPointer(start: nil, count: 0)
    dropInput(&kept, now)
    endReading()
    serial += 1
    slots.append(
      Slot(
        number: RequestNumber(rawValue: serial), isHead: isHead, isIndependent: false,
        keepsAlive: false, added: added, response: response))
    promote(now)
  }

  // MARK: Answering

  /// Answers a request. Does nothing for a request that was abandoned or answered.
  ///
  /// - Parameters:
  ///   - number: The request's number.
  ///   - response: The response. The response to an upgrade ends the connection.
  public mutating func respond(
    to number: RequestNumber, with response: HTTPResponse, now: Int64
  ) {
    guard let index = slots.firstIndex(where: { $0.number == number && $0.response == nil }) else {
      return
    }
    slots[index].response = response
    if case .upgrading = reading {
      slots[index].response?.closes = true
      reading = .ended
    }
    promote(now)
    settle(now)
  }

  /// Answers before any request has come, or instead of the one that is being read or comes next, and ends the
  /// connection behind the answers to those before it.
  ///
  /// For a connection over a limit.
  public mutating func refuse(with response: HTTPResponse, now: Int64) {
    guard !isCut, !isClosing else { return }
    finish(with: response, isHead: current?.method == .head, now)
    settle(now)
  }

  /// Accepts an upgrade, which ends this connection's use.
  ///
  /// - Parameters:
  ///   - number: The number of the handshake.
  ///   - accept: The `sec-websocket-accept` for its key: `WebSocketHandshake.accept(for:)`.
  ///   - subprotocol: The chosen subprotocol, if any.
  /// - Returns: The response, to be sent before any frame, and the bytes behind the handshake, to be
  ///   read as frames before any others; `nil` if it is not this request's turn.
  public mutating func upgrade(
    _ number: RequestNumber, accept: String, subprotocol: String? = nil
  ) -> (response: [UInt8], rest: [UInt8])? {
    guard case .upgrading = reading, slots.first?.number == number else { return nil }
    var fields = [("upgrade", "websocket"), ("sec-websocket-accept", accept)]
    if let subprotocol { fields.append(("sec-websocket-protocol", subprotocol)) }
    let response = ResponseHead.encode(
      status: 101, fields: fields, length: nil, connection: .upgrade, date: date)
    compact()
    var rest: [UInt8] = []
    swap(&rest, &pending)
    slots = []
    reading = .ended
    hasUpgraded = true
    return (response, rest)
  }

  /// Whether no request follows the first one, since the server stops or the peer has ended its side.
  private var isLast: Bool {
    guard isStopping || peerHasEnded, slots.count == 1, case .ended = reading else { return false }
    return true
  }

  /// Queues the responses whose turn it is.
  private mutating func promote(_ now: Int64) {
    while let slot = slots.first, let response = slot.response {
      let closes = response.closes || !slot.keepsAlive || isLast
      queue(
        ResponseHead.encode(
          status: response.status, fields: response.fields + slot.added,
          length: response.hasNoBody ? nil : response.body.count,
          connection: closes ? .close : .keepAlive, date: date), now)
      if !response.hasNoBody, !slot.isHead { queue(response.body, now) }
      slots.removeFirst()
      if closes {
        isClosing = true
        reading = .ended
        readDeadline = nil
        abandoned = slots.filter { $0.response == nil }.map(\.number)
        slots = []
        return
      }
    }
  }

  private mutating func queue(_ bytes: [UInt8], _ now: Int64) {
    if output.isEmpty {
      writeDeadline = now + limits.responseMilliseconds
      writtenSinceDeadline = 0
    }
    output.append(bytes)
  }

  // MARK: Writing

  /// The number of bytes that wait for the socket.
  public var unsentByteCount: Int { output.byteCount }

  /// Offers the next bytes to the socket once.
  ///
  /// - Parameters:
  ///   - scratch: Where small pieces are joined; its size bounds a joined write.
  ///   - atMost: The most bytes to offer.
  ///   - write: Sends bytes and returns how many were taken.
  /// - Returns: What `write` returned; 0 if nothing waits.
  @discardableResult
  public mutating func writeNext(
    joiningIn scratch: UnsafeMutableRawBufferPointer, atMost: Int = .max, now: Int64,
    _ write: (UnsafeRawBufferPointer) -> Int
  ) -> Int {
    let taken = output.writeNext(joiningIn: scratch, atMost: atMost, write)
    writtenSinceDeadline += max(0, taken)
    if output.isEmpty {
      writeDeadline = nil
    } else if writtenSinceDeadline >= 64 << 10 {
      writeDeadline = now + limits.responseMilliseconds
      writtenSinceDeadline = 0
    }
    settle(now)
    return taken
  }

  // MARK: Ending

  /// The step that is due for TCP.
  public var ending: Ending {
    if isCut { return .close }
    guard !hasUpgraded, isClosing, output.isEmpty else { return .none }
    return peerHasEnded ? .close : .endSending
  }

  /// The time at which `expired` is due; `nil` without a limit.
  public var deadline: Int64? {
    if isCut || hasUpgraded { return nil }
    return Self.earlier(
      Self.earlier(readDeadline, writeDeadline ?? answerDeadline), lingerDeadline)
  }

  private static func earlier(_ left: Int64?, _ right: Int64?) -> Int64? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
  }

  /// Handles the end of the peer's side of TCP; call `next` until it returns `nil` then.
  ///
  /// The requests that have come whole are still answered, unless the owner takes longer than `responseMilliseconds`; then
  /// the connection ends. Call `cut` instead if the peer cannot receive either.
  public mutating func peerEnded(now: Int64) {
    guard !peerHasEnded else { return }
    peerHasEnded = true
    readDeadline = nil
    if case .upgrading = reading { return cut() }
    answerDeadline = now + limits.responseMilliseconds
    settle(now)
  }

  /// Ends the connection at once, because the socket has failed or the owner closes it.
  ///
  /// Requests without a response are abandoned, which `next` reports.
  public mutating func cut() {
    guard !isCut else { return }
    abandoned += slots.filter { $0.response == nil }.map(\.number)
    slots = []
    output.removeAll()
    drop()
    current = nil
    body = []
    reading = .ended
    isCut = true
  }

  /// Ends the connection after the requests that have come, or at once without any, because the
  /// server stops.
  public mutating func stop(now: Int64) {
    guard !isStopping else { return }
    isStopping = true
    switch reading {
    case .head:
      if slots.isEmpty, output.isEmpty { cut() } else { reading = .ended }
    case .asking, .body, .held, .upgrading, .ended:
      break
    }
    if case .ended = reading, slots.isEmpty { isClosing = true }
    settle(now)
  }

  /// Handles a deadline that has passed: answers 408, or ends the connection.
  public mutating func expired(now: Int64) -> Event? {
    defer { settle(now) }
    if let time = writeDeadline, now >= time {
      cut()
    } else if let time = lingerDeadline, now >= time {
      cut()
    } else if writeDeadline == nil, let time = answerDeadline, now >= time {
      cut()
    } else if let time = readDeadline, now >= time {
      readDeadline = nil
      switch readLimit {
      case .idle: cut()
      case .head: return reject(.headTimeout, now)
      case .body: return reject(.bodyTimeout, now)
      }
    }
    return abandoned.isEmpty ? nil : .abandoned(abandoned.removeFirst())
  }

  /// Updates the deadlines after a change of state.
  private mutating func settle(_ now: Int64) {
    if isCut || hasUpgraded { return }
    if case .head = reading, slots.isEmpty, output.isEmpty, readDeadline == nil, pending.isEmpty {
      readDeadline = now + limits.idleMilliseconds
      readLimit = .idle
    }
    if case .ended = reading, slots.isEmpty, !isClosing { isClosing = true }
    if isClosing, output.isEmpty, lingerDeadline == nil {
      lingerSince = now
      lingerDeadline = now + limits.lingerMilliseconds
    }
  }
}
