/// The server's side of an HTTP/1.1 connection (RFC 9112), as a state machine without I/O: bytes
/// and responses in, requests and bytes out.
///
/// After each event, its owner does four things, in this order:
///
///     1. while wantsInput: read from the socket, and call next(&input) until it returns nil
///     2. handle each event; answer requests by respond, now or later, in any order
///     3. while unsentByteCount > 0: writeNext, until the socket takes no more
///     4. check ending, and call expired at deadline
///
/// It calls `next` again after it has answered or written, since a held request may continue.
///
/// Requests are answered in the order in which they came. Safe requests without a body may be
/// delivered together (`pipelinedMax`); any other is delivered alone. While no further request is
/// accepted, `wantsInput` is false, and bytes already read are buffered, at most one read.
///
/// The connection itself answers a request that breaks a rule, and closes after the response,
/// because it cannot tell the body from later requests. Limits are checked before bytes are stored.
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
    /// A valid WebSocket handshake, the only request under way, to be answered by `upgrade` or, to
    /// reject it, by `respond`, which ends the connection. Bytes after its head belong to the
    /// WebSocket, and are buffered until then.
    case upgrade(RequestNumber, HTTPRequestHead, WebSocketOffer)
    /// A request has a body longer than `bodyBytesMax`; `byteCount` is its length, or `nil` for
    /// chunks. To be answered by `takeBody` or `refuseBody` before the next call.
    case asksForBody(HTTPRequestHead, byteCount: Int?)
    /// A request has broken a rule. The connection has answered it.
    case rejected(HTTPError)
    /// The response to a request is no longer needed.
    case abandoned(RequestNumber)
  }

  /// The step to end TCP.
  public enum Ending: Sendable, Hashable {
    /// The connection stays open.
    case none
    /// Everything is sent: shut down the sending side, and continue to read, which drops the bytes,
    /// until the peer ends or `deadline` has passed.
    case endSending
    /// Close the connection.
    case close
  }

  /// The first five states read requests; the owner answers in the sixth as well.
  private enum State {
    /// Reads a head, or waits for one. Next: `held`, `asking`, `body`, `upgrading`, `answering`,
    /// `closing`, `cut`.
    case head(deadline: Int64?, isIdle: Bool)
    /// `current` waits for earlier responses. Next: `head`, and the states after it.
    case held
    /// The owner decides about the longer body of `current`. Next: `body`, `answering`, `closing`, `cut`.
    case asking
    /// Reads the body of `current`. Next: `head`, `asking`, `answering`, `closing`, `cut`.
    case body(deadline: Int64?)
    /// The owner decides about an upgrade. Next: `upgraded`, `answering`, `closing`, `cut`.
    case upgrading
    /// Incoming bytes are dropped, and the owner still answers requests. Next: `closing`, `cut`.
    case answering(RefusedBody)
    /// The last response is queued. Next: `lingering`, `cut`.
    case closing(RefusedBody)
    /// The last response is sent; incoming bytes are dropped until the deadline. Next: `cut`.
    case lingering(RefusedBody, since: Int64, deadline: Int64)
    /// The WebSocket has the socket. Final.
    case upgraded
    /// The socket is to be closed. Final.
    case cut
  }

  /// The limits of the connection.
  public let limits: HTTPLimits
  /// The date for responses; set it before each call that may answer.
  public var date: HTTPDate?
  /// Returns header fields to add to each response to a request, also to a rejection.
  private let addedFields: (@Sendable (HTTPRequestHead) -> [Field])?

  private var state: State
  private var head = HeadReading()
  /// The request of the states `held`, `asking` and `body`; `nil` in all others.
  private var current: RequestReading?
  /// Bytes that were read and not consumed.
  private var pending = InputBuffer()
  private var answers = AnswerQueue()
  private var output: OutputQueue
  /// Whether the server stops: no request is accepted after those that have begun.
  private var isStopping = false
  /// The time by which the owner has to answer a peer that has ended its side; otherwise `nil`.
  private var answerDeadline: Int64?

  /// Opens a connection.
  ///
  /// - Parameters:
  ///   - limits: The limits of the connection.
  ///   - now: The time.
  ///   - addedFields: Returns header fields to add to each response, also to a rejection.
  /// - Precondition: The limits are positive, and `headBytesMax` is at most 2^30.
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
    state = .head(deadline: now + limits.headMilliseconds, isIdle: false)
    output = OutputQueue(milliseconds: limits.responseMilliseconds)
  }

  private var peerHasEnded: Bool { answerDeadline != nil }

  // MARK: Reading

  /// Whether bytes should be read from the socket. If not, they remain in the system's buffers,
  /// which slows the client down.
  public var wantsInput: Bool {
    guard !peerHasEnded else { return false }
    return switch state {
    case .head: mayBegin
    case .body, .closing, .lingering: true
    // Once all responses of the owner have been given, the state is `closing`.
    case .held, .asking, .upgrading, .answering, .upgraded, .cut: false
    }
  }

  /// Whether a further request may be read.
  private var mayBegin: Bool {
    answers.mayGrow(to: limits.pipelinedMax) && output.byteCount <= limits.unsentBytesMax
  }

  /// The number of received bytes that are buffered and not yet delivered.
  public var heldByteCount: Int { pending.count + (current?.body.count ?? 0) }

  /// Processes input, and returns the next event, or `nil` once all input is consumed or buffered.
  ///
  /// Call it until it returns `nil`; again with the next input; and without input after `respond`
  /// or `writeNext`.
  ///
  /// - Complexity: O(*n*) in the bytes, independently of how they are split.
  public mutating func next(_ input: inout UnsafeRawBufferPointer, now: Int64) -> Event? {
    defer { settle(now) }
    if let number = answers.takeAbandoned() { return .abandoned(number) }
    do throws(HTTPError) {
      while true {
        switch state {
        case .head:
          guard mayBegin else {
            pending.keep(&input)
            return nil
          }
          if let request = try readHead(&input, now) {
            if let event = begin(request, now, &input) { return event }
          } else {
            pending.keep(&input)
            guard peerHasEnded else { return nil }
            endReading()
          }
        case .held:
          pending.keep(&input)
          guard let request = current?.head else { preconditionFailure("no request is held") }
          if let event = begin(request, now, &input) { return event }
          if case .held = state { return nil }
        case .asking, .upgrading:
          pending.keep(&input)
          return nil
        case .body:
          if let event = try readBody(&input, now) { return event }
          guard case .body = state else { continue }
          guard peerHasEnded else { return nil }
          endReading()
        case .answering, .closing, .lingering, .upgraded, .cut:
          dropInput(&input, now)
          return nil
        }
      }
    } catch {
      dropInput(&input, now)
      return reject(error, now)
    }
  }

  /// Stops reading: the owner receives no further request, and a partly received one is dropped.
  private mutating func endReading() {
    pending.removeAll()
    current = nil
    state = .answering(RefusedBody())
  }

  /// Drops all input. Received bytes of a refused body extend the time for its rest.
  private mutating func dropInput(_ input: inout UnsafeRawBufferPointer, _ now: Int64) {
    let count = pending.count + input.count
    pending.removeAll()
    input = UnsafeRawBufferPointer(rebasing: input[input.count...])
    switch state {
    case .answering(var refused):
      _ = refused.drop(count)
      state = .answering(refused)
    case .closing(var refused):
      _ = refused.drop(count)
      state = .closing(refused)
    case .lingering(var refused, let since, let deadline):
      guard refused.drop(count) else { return }
      let earned = min(now, since + refused.earned(limits)) + limits.lingerMilliseconds
      state = .lingering(refused, since: since, deadline: max(deadline, earned))
    case .head, .held, .asking, .body, .upgrading, .upgraded, .cut: break
    }
  }

  private mutating func readHead(
    _ input: inout UnsafeRawBufferPointer, _ now: Int64
  ) throws(HTTPError) -> HTTPRequestHead? {
    guard !input.isEmpty || !pending.isEmpty, case .head(let deadline, let isIdle) = state else {
      return nil
    }
    if deadline == nil || isIdle {
      state = .head(deadline: now + limits.headMilliseconds, isIdle: false)
    }
    guard let request = try head.read(&input, &pending, limits) else { return nil }
    head = HeadReading()
    return request
  }

  /// Continues with a complete head: holds the request, delivers it, or starts to read its body.
  private mutating func begin(
    _ request: HTTPRequestHead, _ now: Int64, _ input: inout UnsafeRawBufferPointer
  ) -> Event? {
    let mayContinue = request.isIndependent ? mayBegin : answers.isEmpty
    // A WebSocket has the socket to itself.
    guard mayContinue, request.webSocket == nil || output.isEmpty else {
      if current == nil { current = RequestReading(request, limits) }
      state = .held
      return nil
    }
    if let offer = request.webSocket {
      current = nil
      state = .upgrading
      // The answer may come before the next call, so buffer the rest now.
      pending.keep(&input)
      return .upgrade(open(request), request, offer)
    }
    guard request.body != .none else { return deliver(request, body: []) }
    let reading = RequestReading(request, limits)
    current = reading
    guard reading.isTooLong else {
      beginBody(now)
      return nil
    }
    if reading.mayAsk { return ask(about: request, byteCount: reading.left, &input) }
    state = .held
    dropInput(&input, now)
    return reject(reading.tooLong, now)
  }

  /// Asks the owner about a body that is longer than `bodyBytesMax`.
  private mutating func ask(
    about request: HTTPRequestHead, byteCount: Int?, _ input: inout UnsafeRawBufferPointer
  ) -> Event {
    state = .asking
    pending.keep(&input)
    return .asksForBody(request, byteCount: byteCount)
  }

  /// Starts to read a body, or continues after a decision.
  private mutating func beginBody(_ now: Int64) {
    if let isBeginning = current?.beginBody(now: now), isBeginning,
      current?.head.expectsContinue ?? false
    {
      output.append(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), now: now)
    }
    state = .body(deadline: current?.deadline(limits))
  }

  /// Accepts the longer body that the owner was asked about, if any; then call `next` again.
  ///
  /// - Parameter bytesMax: Maximum bytes of the body; a longer one is refused.
  public mutating func takeBody(bytesMax: Int, now: Int64) {
    guard case .asking = state else { return }
    current?.allow(bytesMax: bytesMax)
    if current?.isTooLong ?? false {
      return refuseBody(with: HTTPError.bodyTooLong(bytesMax).response, now: now)
    }
    beginBody(now)
  }

  /// Refuses the longer body that the owner was asked about, and then ends the connection.
  ///
  /// - Parameter response: The response; by default the one to a body that is too long.
  public mutating func refuseBody(with response: HTTPResponse? = nil, now: Int64) {
    guard case .asking = state else { return }
    finish(with: response ?? HTTPError.bodyTooLong(limits.bodyBytesMax).response, now)
    settle(now)
  }

  private mutating func readBody(
    _ input: inout UnsafeRawBufferPointer, _ now: Int64
  ) throws(HTTPError) -> Event? {
    switch try current?.read(&input, &pending, limits) {
    case .partial?, nil: state = .body(deadline: current?.deadline(limits))
    case .done?:
      // Take the value out of the property, so that the body is not copied.
      guard let whole = current.take() else { return nil }
      return deliver(whole.head, body: whole.body)
    case .over?:
      guard let current else { return nil }
      guard current.mayAsk else { throw current.tooLong }
      return ask(about: current.head, byteCount: nil, &input)
    }
    return nil
  }

  private mutating func open(_ request: HTTPRequestHead) -> RequestNumber {
    answers.open(request, addedFields?(request) ?? [])
  }

  private mutating func deliver(_ request: HTTPRequestHead, body: [UInt8]) -> Event {
    current = nil
    state =
      request.keepsAlive && !isStopping
      ? .head(deadline: nil, isIdle: false) : .answering(RefusedBody())
    return .request(open(request), request, body: body)
  }

  /// Answers a request that broke a rule, after earlier requests, and stops reading.
  private mutating func reject(_ error: HTTPError, _ now: Int64) -> Event {
    finish(with: error.response, now)
    return .rejected(error)
  }

  /// Queues a last response by the connection itself.
  private mutating func finish(with response: HTTPResponse, _ now: Int64) {
    let request = current?.head
    var refused = RefusedBody()
    switch state {
    case .head, .held, .upgrading: break
    case .asking, .body: refused = RefusedBody(left: current?.left ?? 0)
    case .answering(let earlier): refused = earlier
    case .closing, .lingering, .upgraded, .cut: return
    }
    _ = refused.drop(pending.count)
    endReading()
    state = .answering(refused)
    answers.close(with: response, to: request, request.flatMap { addedFields?($0) } ?? [])
    sendAnswers(now)
  }

  // MARK: Answering

  /// Answers a request. Has no effect on a request that was abandoned or answered.
  ///
  /// - Parameters:
  ///   - number: The request's number.
  ///   - response: The response. The response to an upgrade ends the connection.
  public mutating func respond(
    to number: RequestNumber, with response: HTTPResponse, now: Int64
  ) {
    var response = response
    if case .upgrading = state { response.closes = true }
    guard answers.answer(number, with: response) else { return }
    if case .upgrading = state { state = .answering(RefusedBody()) }
    sendAnswers(now)
    settle(now)
  }

  /// Rejects a connection over a limit. The response follows those to earlier requests, replaces the
  /// one to the request being read or coming next, and ends the connection.
  public mutating func refuse(with response: HTTPResponse, now: Int64) {
    finish(with: response, now)
    settle(now)
  }

  /// Accepts an upgrade, after which the connection must not be used.
  ///
  /// - Parameters:
  ///   - number: The number of the handshake.
  ///   - accept: The `sec-websocket-accept` for the handshake's key:
  ///     `WebSocketHandshake.accept(for:)`.
  ///   - subprotocol: The chosen subprotocol, if any.
  /// - Returns: The response, to be sent before any frame, and the bytes after the handshake, to be
  ///   read as frames before any others; `nil` if this request is not being upgraded.
  public mutating func upgrade(
    _ number: RequestNumber, accept: String, subprotocol: String? = nil
  ) -> (response: [UInt8], rest: [UInt8])? {
    guard case .upgrading = state, answers.first == number else { return nil }
    var fields = [("upgrade", "websocket"), ("sec-websocket-accept", accept)]
    if let subprotocol { fields.append(("sec-websocket-protocol", subprotocol)) }
    let response = ResponseHead.encode(
      status: 101, fields: fields, length: nil, connection: .upgrade, date: date)
    answers.removeAll()
    state = .upgraded
    return (response, pending.take())
  }

  /// Queues the responses that are next in order.
  private mutating func sendAnswers(_ now: Int64) {
    while let (slot, response) = answers.takeReady() {
      let closes = response.closes || !slot.keepsAlive || (answers.isEmpty && isLast)
      output.append(
        ResponseHead.encode(
          status: response.status, fields: response.fields + slot.added,
          length: response.hasNoBody ? nil : response.body.count,
          connection: closes ? .close : .keepAlive, date: date), now: now)
      if !response.hasNoBody, !slot.isHead { output.append(response.body, now: now) }
      guard !closes else {
        answers.abandonAll()
        return close()
      }
    }
  }

  /// Whether no request follows the owner's, because the server stops or the peer has ended.
  private var isLast: Bool {
    if case .answering = state { isStopping || peerHasEnded } else { false }
  }

  /// Ends answering, after the last response was queued.
  private mutating func close() {
    current = nil
    guard case .answering(let refused) = state else {
      state = .closing(RefusedBody())
      return
    }
    state = .closing(refused)
  }

  // MARK: Writing

  /// The number of unsent bytes.
  public var unsentByteCount: Int { output.byteCount }

  /// Offers the next bytes to the socket once.
  ///
  /// - Parameters:
  ///   - scratch: A buffer in which small pieces are joined; its size limits a joined write.
  ///   - atMost: Maximum bytes to offer.
  ///   - write: Sends bytes, and returns how many were accepted.
  /// - Returns: The result of `write`; 0 if nothing is unsent.
  @discardableResult
  public mutating func writeNext(
    joiningIn scratch: UnsafeMutableRawBufferPointer, atMost: Int = .max, now: Int64,
    _ write: (UnsafeRawBufferPointer) -> Int
  ) -> Int {
    let taken = output.writeNext(joiningIn: scratch, atMost: atMost, now: now, write)
    settle(now)
    return taken
  }

  // MARK: Ending

  /// The due step to end TCP.
  public var ending: Ending {
    switch state {
    case .head, .held, .asking, .body, .upgrading, .answering, .closing, .upgraded: .none
    case .lingering: peerHasEnded ? .close : .endSending
    case .cut: .close
    }
  }

  /// The time at which `expired` is due; `nil` without a limit.
  public var deadline: Int64? {
    let own: Int64?
    switch state {
    case .head(let deadline, _), .body(let deadline): own = deadline
    case .lingering(_, _, let deadline): own = deadline
    case .held, .asking, .upgrading, .answering, .closing: own = nil
    case .upgraded, .cut: return nil
    }
    guard let other = output.deadline ?? answerDeadline else { return own }
    return min(own ?? other, other)
  }

  /// Handles the end of the peer's side of TCP; call `next` until it returns `nil` afterwards.
  ///
  /// Complete requests are still answered, unless the owner takes longer than
  /// `responseMilliseconds`; then the connection ends. Call `cut` instead if the peer cannot
  /// receive either.
  public mutating func peerEnded(now: Int64) {
    guard !peerHasEnded else { return }
    answerDeadline = now + limits.responseMilliseconds
    switch state {
    case .head: state = .head(deadline: nil, isIdle: false)
    case .body: state = .body(deadline: nil)
    case .upgrading: cut()
    case .held, .asking, .answering, .closing, .lingering, .upgraded, .cut: break
    }
    settle(now)
  }

  /// Ends the connection immediately, because the socket has failed or the owner closes it.
  ///
  /// Requests without a response are abandoned, which `next` reports.
  public mutating func cut() {
    answers.abandonAll()
    output.removeAll()
    endReading()
    state = .cut
  }

  /// Ends the connection after the requests that have come, or immediately if there are none,
  /// because the server stops.
  public mutating func stop(now: Int64) {
    guard !isStopping else { return }
    isStopping = true
    switch state {
    case .head:
      if answers.isEmpty, output.isEmpty { cut() } else { state = .answering(RefusedBody()) }
    case .held, .asking, .body, .upgrading, .answering, .closing, .lingering, .upgraded, .cut:
      break
    }
    settle(now)
  }

  /// Handles an expired deadline: answers 408, or ends the connection.
  public mutating func expired(now: Int64) -> Event? {
    defer { settle(now) }
    if let time = output.deadline ?? answerDeadline, now >= time { cut() }
    switch state {
    case .head(let time?, let isIdle) where now >= time:
      guard isIdle else { return reject(.headTimeout, now) }
      cut()
    case .body(let time?) where now >= time: return reject(.bodyTimeout, now)
    case .lingering(_, _, let time): if now >= time { cut() }
    case .head, .held, .asking, .body, .upgrading, .answering, .closing, .upgraded, .cut: break
    }
    return answers.takeAbandoned().map { .abandoned($0) }
  }

  /// Leaves states that have nothing left to do, after each change.
  private mutating func settle(_ now: Int64) {
    switch state {
    case .head(let deadline, _):
      guard deadline == nil, answers.isEmpty, output.isEmpty, pending.isEmpty else { return }
      state = .head(deadline: now + limits.idleMilliseconds, isIdle: true)
    case .answering(let refused):
      guard answers.isEmpty else { return }
      state = .closing(refused)
      settle(now)
    case .closing(let refused):
      guard output.isEmpty else { return }
      state = .lingering(refused, since: now, deadline: now + limits.lingerMilliseconds)
    case .held, .asking, .body, .upgrading, .lingering, .upgraded, .cut: break
    }
  }
}
