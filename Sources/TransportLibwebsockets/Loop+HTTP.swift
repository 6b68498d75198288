import CLibwebsockets
import CLibwebsocketsShim
import GatewayPorts

extension Loop {
  /// The head of a request is whole.
  func requestBegan(_ session: Session, _ wsi: OpaquePointer) -> Int32 {
    session.wsi = wsi
    // A client that switched to HTTP/2 would get frames it cannot read.
    guard session.phase == .http, session.exchange == nil, lws_get_network_wsi(wsi) == wsi else {
      return -1
    }
    let head = requestHead(wsi, session)
    let exchange = Exchange(request: nextRequestID(), head: head)
    session.exchange = exchange
    session.requestBy = nil
    exchange.closesAfter = stopDeadline != nil || !keepsAlive(wsi, head)
    guard hasWholeRequestLine(wsi) else {
      exchange.closesAfter = true
      return answer(session, wsi, RequestPreview.brokenTarget)
    }
    if head.headers["transfer-encoding"] != nil {
      exchange.closesAfter = true
      return answer(
        session, wsi,
        ResponseEncoder.plain(411, "chunked requests are not supported; send a content-length"))
    }
    let length = head.headers["content-length"].map { Int($0) ?? -1 } ?? 0
    if length < 0 {
      exchange.closesAfter = true
      return answer(session, wsi, ResponseEncoder.plain(400, "content-length is not a number"))
    }
    exchange.bodyBytesLeft = length
    session.requestBy = bodyDeadline(length)
    if length > configuration.bodyBytesMax {
      exchange.isDiscarding = true
      exchange.closesAfter = true
      return answer(
        session, wsi,
        ResponseEncoder.plain(
          413,
          "the body is longer than \(configuration.bodyBytesMax) bytes; send less"))
    }
    if length == 0 {
      // Without a length the library would wait for a body that never comes.
      if head.headers["content-length"] == nil, head.method != "GET", head.method != "HEAD" {
        exchange.closesAfter = true
      }
      deliver(session, wsi, exchange)
      return 0
    }
    if head.headers["expect"]?.lowercased() == "100-continue" {
      let bytes = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
      if parley_write(wsi, bytes, bytes.count) != bytes.count { return -1 }
    }
    exchange.body.reserveCapacity(min(length, 64 << 10))
    lws_set_timeout(
      wsi, PENDING_TIMEOUT_HTTP_CONTENT, Int32(clamping: configuration.handshakeSeconds))
    return 0
  }

  /// When a body of so many bytes must be here: it may be slow, but not without end.
  private func bodyDeadline(_ byteCount: Int) -> Int32? {
    guard byteCount > 0 else { return nil }
    // What is too long is refused, and thrown away for no longer than a short one may take.
    let bytes = byteCount > configuration.bodyBytesMax ? 0 : byteCount
    return second + 1
      + Int32(
        clamping: configuration.handshakeSeconds
          + bytes / max(1, configuration.bodyBytesPerSecondMin))
  }

  func bodyArrived(
    _ session: Session, _ wsi: OpaquePointer, _ bytes: UnsafeRawBufferPointer
  ) -> Int32 {
    guard let exchange = session.exchange else { return -1 }
    exchange.bodyBytesLeft -= bytes.count
    // A body without a length may come along with a request that is answered already.
    if exchange.isDiscarding || exchange.isDelivered || exchange.isAnswered { return 0 }
    guard exchange.bodyBytesLeft >= 0 else { return -1 }
    exchange.body.append(contentsOf: bytes)
    return 0
  }

  func bodyEnded(_ session: Session, _ wsi: OpaquePointer) -> Int32 {
    guard let exchange = session.exchange else { return 0 }
    if exchange.isDiscarding {
      exchange.bodyBytesLeft = 0
      guard exchange.isAnswered, exchange.response == nil, exchange.outputBytesLeft == 0 else {
        return 0
      }
      linger(session, wsi, exchange)
      return -1
    }
    if !exchange.isDelivered { deliver(session, wsi, exchange) }
    return 0
  }

  private func deliver(_ session: Session, _ wsi: OpaquePointer, _ exchange: Exchange) {
    // The owner answers in its own time.
    lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0)
    stopReading(wsi)
    session.requestBy = nil
    exchange.isDelivered = true
    requests[exchange.request] = session
    var body: [UInt8] = []
    swap(&body, &exchange.body)
    delegate?.request(exchange.request, head: exchange.head, body: body)
  }

  /// Keeps the library from reading until the response has gone.
  ///
  /// The library misreads what comes behind a request before its response: of a second request
  /// with a body it takes the head for the body, and never returns. Called before the library puts
  /// aside what it has read too much, it leaves those bytes alone from then on. It does not report
  /// room in the socket either, so responses are written past it, see `flushAnswers`.
  private func stopReading(_ wsi: OpaquePointer) { lws_rx_flow_control(wsi, 0) }

  /// Whether bytes came behind the request in hand.
  ///
  /// The library says only whether any connection has bytes put aside. Others hardly ever have, and
  /// if they do, this connection is closed after its response for nothing.
  private func isFollowed(_ wsi: OpaquePointer) -> Bool {
    if parley_unread(lws_get_socket_fd(wsi)) > 0 { return true }
    lws_rx_flow_control(wsi, 1)
    defer { stopReading(wsi) }
    return lws_service_adjust_timeout(context, 1, 0) == 0
  }

  func respond(to request: RequestID, with response: Response) {
    guard let session = requests.removeValue(forKey: request), session.wsi != nil,
      let exchange = session.exchange, exchange.request == request, !exchange.isAnswered
    else { return }
    prepare(session, exchange, response)
  }

  /// The transport's own answer.
  private func answer(_ session: Session, _ wsi: OpaquePointer, _ response: Response) -> Int32 {
    guard let exchange = session.exchange else { return -1 }
    if !exchange.isDiscarding { stopReading(wsi) }
    prepare(session, exchange, response)
    return 0
  }

  private func prepare(_ session: Session, _ exchange: Exchange, _ response: Response) {
    exchange.isAnswered = true
    answering.append(session)
    var response = response
    if exchange.head.method == "HEAD" || ResponseEncoder.hasNoBody(response.status) {
      exchange.response = response
      return
    }
    if let taken = waitingBodies.take(response.body) {
      exchange.bodyTicket = taken.ticket
      response.body = taken.body
    } else {
      // Short, and the connection ends with it.
      response = configuration.overloadResponse
      exchange.closesAfter = true
    }
    exchange.response = response
    exchange.outputBody = response.body
  }

  /// The response's body is not kept any more.
  func giveBody(of exchange: Exchange) {
    exchange.response = nil
    exchange.outputBody = []
    if let ticket = exchange.bodyTicket { waitingBodies.give(ticket) }
    exchange.bodyTicket = nil
  }

  /// Writes the responses of this turn, and more of those whose sockets have room again.
  func flushAnswers() {
    while let handle, let owner = parley_loop_next_with_room(handle) {
      answering.append(Unmanaged<Session>.fromOpaque(owner).takeUnretainedValue())
    }
    guard !answering.isEmpty else { return }
    // Completing one request may let the library begin another, whose response joins the list.
    var index = 0
    while index < answering.count {
      writeResponse(answering[index])
      index += 1
    }
    answering.removeAll(keepingCapacity: answering.count <= 256)
  }

  /// Writes a piece of a response: at most 64 KiB a turn, so that nobody else waits.
  private func writeResponse(_ session: Session) {
    guard session.phase == .http, let wsi = session.wsi, let exchange = session.exchange,
      exchange.isAnswered
    else { return }
    if let response = exchange.response { begin(response, exchange, wsi) }
    lws_set_timeout(
      wsi, PENDING_TIMEOUT_HTTP_CONTENT, Int32(clamping: configuration.responseSeconds))
    // A record of TLS is written whole or not at all.
    let room = configuration.tls == nil ? scratch.count : 16 << 10
    var left = scratch.count
    while exchange.outputBytesLeft > 0 {
      guard left > 0 else { return awaitRoom(session, wsi) }
      let count = nextPiece(exchange, room: min(room, left))
      guard let piece = scratch.baseAddress else { return }
      let written = parley_write(wsi, piece, count)
      if written < 0 { return cut(session) }
      if written == 0 { return awaitRoom(session, wsi) }
      exchange.outputSent += written
      left -= written
    }
    complete(session, wsi, exchange)
  }

  private func begin(_ response: Response, _ exchange: Exchange, _ wsi: OpaquePointer) {
    if !exchange.isDiscarding, isFollowed(wsi) {
      exchange.isFollowed = true
      exchange.closesAfter = true
    }
    exchange.response = nil
    exchange.outputHead = ResponseEncoder.head(of: response, keepsAlive: !exchange.closesAfter)
  }

  private func awaitRoom(_ session: Session, _ wsi: OpaquePointer) {
    guard let handle else { return }
    if session.roomWatch == nil {
      session.roomWatch = parley_room_watch_create(
        handle, lws_get_socket_fd(wsi), Unmanaged.passUnretained(session).toOpaque())
    }
    guard let watch = session.roomWatch else { return cut(session) }
    parley_room_watch_start(watch)
  }

  /// The response has gone to the socket.
  private func complete(_ session: Session, _ wsi: OpaquePointer, _ exchange: Exchange) {
    giveBody(of: exchange)
    exchange.outputSent = exchange.outputHead.count
    if exchange.isDiscarding, exchange.bodyBytesLeft > 0 {
      // Closing with unread bytes would reset the connection, and the answer could be lost.
      lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, 2)
      return
    }
    session.exchange = nil
    if let watch = session.roomWatch { parley_room_watch_destroy(watch) }
    session.roomWatch = nil
    if exchange.closesAfter {
      linger(session, wsi, exchange)
      return cut(session)
    }
    session.requestBy =
      second + 1
      + Int32(clamping: configuration.keepAliveSeconds + configuration.handshakeSeconds)
    lws_rx_flow_control(wsi, 1)
    if lws_http_transaction_completed(wsi) != 0 { cut(session) }
  }

  /// Has the lobby see the client off, if bytes of it are unread when the socket is closed.
  func linger(_ session: Session, _ wsi: OpaquePointer, _ exchange: Exchange? = nil) {
    let descriptor = lws_get_socket_fd(wsi)
    guard exchange?.isFollowed ?? false || parley_unread(descriptor) > 0 else { return }
    session.lingering = parley_duplicate(descriptor)
  }

  private func nextPiece(_ exchange: Exchange, room: Int) -> Int {
    var filled = 0
    func append(_ bytes: [UInt8], from offset: Int) {
      let count = min(room - filled, bytes.count - offset)
      guard count > 0 else { return }
      bytes.withUnsafeBytes {
        guard let from = $0.baseAddress, let to = scratch.baseAddress else { return }
        (to + filled).copyMemory(from: from + offset, byteCount: count)
      }
      filled += count
    }
    let headCount = exchange.outputHead.count
    if exchange.outputSent < headCount { append(exchange.outputHead, from: exchange.outputSent) }
    append(exchange.outputBody, from: max(0, exchange.outputSent - headCount))
    return filled
  }

  /// Whether the request line came to its end.
  ///
  /// The library takes an encoded line break in the target for one: the target would be cut there,
  /// and name something else, and what follows would count as a header. The version is missing then.
  func hasWholeRequestLine(_ wsi: OpaquePointer) -> Bool {
    value(of: WSI_TOKEN_HTTP, wsi).starts(with: "HTTP/1.".utf8)
  }

  private func keepsAlive(_ wsi: OpaquePointer, _ head: RequestHead) -> Bool {
    let connection = head.headers["connection"]?.lowercased() ?? ""
    if connection.contains("close") { return false }
    return value(of: WSI_TOKEN_HTTP, wsi).suffix(3).elementsEqual("1.1".utf8)
  }
}
