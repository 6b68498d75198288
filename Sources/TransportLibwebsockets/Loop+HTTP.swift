import CLibwebsockets
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
      if bytes.withUnsafeBytes({ raw(wsi, $0) }) < 0 { return -1 }
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
    if exchange.isDiscarding || exchange.isDelivered { return 0 }
    guard exchange.bodyBytesLeft >= 0 else { return -1 }
    exchange.body.append(contentsOf: bytes)
    return 0
  }

  func bodyEnded(_ session: Session, _ wsi: OpaquePointer) -> Int32 {
    guard let exchange = session.exchange else { return 0 }
    if exchange.isDiscarding {
      exchange.bodyBytesLeft = 0
      return exchange.outputBytesLeft == 0 ? -1 : 0
    }
    if !exchange.isDelivered { deliver(session, wsi, exchange) }
    return 0
  }

  private func deliver(_ session: Session, _ wsi: OpaquePointer, _ exchange: Exchange) {
    // The owner answers in its own time.
    lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0)
    session.requestBy = nil
    exchange.isDelivered = true
    requests[exchange.request] = session
    var body: [UInt8] = []
    swap(&body, &exchange.body)
    delegate?.request(exchange.request, head: exchange.head, body: body)
  }

  func respond(to request: RequestID, with response: Response) {
    guard let session = requests.removeValue(forKey: request), let wsi = session.wsi,
      let exchange = session.exchange, exchange.request == request, !exchange.isAnswered
    else { return }
    prepare(exchange, response)
    lws_callback_on_writable(wsi)
  }

  /// The transport's own answer.
  private func answer(_ session: Session, _ wsi: OpaquePointer, _ response: Response) -> Int32 {
    guard let exchange = session.exchange else { return -1 }
    prepare(exchange, response)
    lws_callback_on_writable(wsi)
    return 0
  }

  private func prepare(_ exchange: Exchange, _ response: Response) {
    exchange.isAnswered = true
    exchange.outputHead = ResponseEncoder.head(of: response, keepsAlive: !exchange.closesAfter)
    if exchange.head.method != "HEAD", !ResponseEncoder.hasNoBody(response.status) {
      exchange.outputBody = response.body
    }
  }

  /// Writes the next piece of a response: at most 64 KiB a turn, so that nobody else waits.
  func responseWritable(_ session: Session, _ wsi: OpaquePointer) -> Int32 {
    guard let exchange = session.exchange, exchange.isAnswered else { return 0 }
    if lws_partial_buffered(wsi) != 0 {
      lws_callback_on_writable(wsi)
      return 0
    }
    if exchange.outputBytesLeft > 0 {
      lws_set_timeout(
        wsi, PENDING_TIMEOUT_HTTP_CONTENT, Int32(clamping: configuration.responseSeconds))
      let count = nextPiece(exchange)
      if raw(wsi, UnsafeRawBufferPointer(rebasing: scratch[..<count])) < 0 { return -1 }
      exchange.outputSent += count
      if exchange.outputBytesLeft > 0 {
        lws_callback_on_writable(wsi)
        return 0
      }
    }
    if exchange.isDiscarding, exchange.bodyBytesLeft > 0 {
      // Closing with unread bytes would reset the connection, and the answer could be lost.
      lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, 2)
      return 0
    }
    session.exchange = nil
    if exchange.closesAfter { return -1 }
    session.requestBy =
      second + 1
      + Int32(clamping: configuration.keepAliveSeconds + configuration.handshakeSeconds)
    return lws_http_transaction_completed(wsi) == 0 ? 0 : -1
  }

  private func nextPiece(_ exchange: Exchange) -> Int {
    var filled = 0
    func append(_ bytes: [UInt8], from offset: Int) {
      let count = min(scratch.count - filled, bytes.count - offset)
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
