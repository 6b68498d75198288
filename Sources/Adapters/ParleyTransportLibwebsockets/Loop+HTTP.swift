import ParleyGatewayPorts
import ParleyHTTP1
import ParleyWebSocketFrames

extension HTTPHalf {
  /// Whether no part of a request has been received, and nothing is to be sent.
  var isIdle: Bool {
    asked.isEmpty && connection.unsentByteCount == 0 && connection.heldByteCount == 0
  }
}

/// Handling of requests and responses.
extension Loop {
  /// Passes received bytes to the connection's state machine, and its events to the owner.
  func takeRequests(_ bytes: UnsafeRawBufferPointer, _ session: Session, _ http: HTTPHalf) {
    refreshDate()
    http.connection.date = date
    var input = bytes
    while let event = http.connection.next(&input, now: now) {
      if let balancer {
        switch moveIfElsewhere(event, rest: input, session, http, balancer) {
        case .here: break
        case .refused: continue
        case .elsewhere: return
        }
      }
      handle(event, session, http)
      guard session.http === http else { return }
    }
    settle(session, http)
  }

  func handle(_ event: HTTPServerConnection.Event, _ session: Session, _ http: HTTPHalf) {
    switch event {
    case .request(let number, let head, let body):
      let request = nextRequestID()
      http.reservation = nil
      // Behind a proxy, the next request may be another client's.
      count(session, towards: nil)
      http.asked.append(HTTPHalf.Asked(number: number, request: request))
      requests[request] = session
      handing(byteCount: body.count)
      delegate?.request(request, head: RequestHead(head, of: session), body: body)
    case .upgrade(let number, let head, let offer):
      upgrade(number, head, offer, session, http)
    case .asksForBody(let head, let byteCount): decide(bodyOf: byteCount, head, session, http)
    case .rejected: http.reservation = nil
    case .abandoned(let number):
      guard let index = http.asked.firstIndex(where: { $0.number == number }) else { return }
      let request = http.asked.remove(at: index).request
      requests[request] = nil
      delegate?.abandoned(request)
    }
  }

  /// Asks the owner about a long body, and reads it if accepted. An upload reserves its length.
  private func decide(
    bodyOf byteCount: Int?, _ head: HTTPRequestHead, _ session: Session, _ http: HTTPHalf
  ) {
    switch delegate?.decide(bodyOf: byteCount, for: RequestHead(head, of: session)) ?? .tooLong {
    case .tooLong:
      accounts.countEarlyRefusal()
      http.connection.refuseBody(now: now)
    case .refuse(let response):
      accounts.countEarlyRefusal()
      http.connection.refuseBody(with: HTTPResponse(response), now: now)
    case .take(let bytesMax, let holder, let isUpload):
      count(session, towards: holder)
      if isUpload, let byteCount {
        http.reservation = accounts.uploads.reserve(byteCount, for: holder.limitedClient)
        guard http.reservation != nil else {
          report(.uploads)
          http.connection.refuseBody(
            with: HTTPResponse(busy(configuration.uploadsResponse)), now: now)
          return
        }
      }
      http.connection.takeBody(bytesMax: bytesMax, now: now)
    }
  }

  func respond(to request: RequestID, with response: Response) {
    guard let session = requests.removeValue(forKey: request), let http = session.http,
      let index = http.asked.firstIndex(where: { $0.request == request })
    else { return }
    let asked = http.asked.remove(at: index)
    let holder = asked.holder ?? holder(of: session)
    var response = response
    var closes = false
    if let taken = waitingBodies.take(response.body, for: holder.limitedClient) {
      http.tickets.append(taken.ticket)
      response.body = taken.body
    } else {
      // The replacement is short, and the connection ends with it.
      report(.responses)
      response = busy(configuration.overloadResponse)
      closes = true
    }
    var message = HTTPResponse(response)
    message.closes = closes
    refreshDate()
    http.connection.date = date
    http.connection.respond(to: asked.number, with: message, now: now)
    // Held requests may continue, but not within the owner's call.
    markDirty(session)
  }

  /// Performs due work after any event of a connection.
  func settle(_ session: Session, _ http: HTTPHalf) {
    guard session.http === http, !session.isGone else { return }
    countHeld(by: session)
    guard !session.isGone else { return }
    if http.connection.unsentByteCount > 0 { return markDirty(session) }
    switch http.connection.ending {
    case .none: break
    case .close: retire(session)
    case .endSending:
      guard !http.hasEndedSending else { return }
      http.hasEndedSending = true
      session.stream.endSending()
      // Drop unread bytes now, and later ones when they arrive.
      if session.stream.mayRead { markReady(session) }
    }
  }

  /// Writes responses until all are sent, the socket is full, or the slice is used.
  func writeResponses(_ session: Session, _ http: HTTPHalf) {
    let stream = session.stream
    var left = Self.sliceBytes
    while http.connection.unsentByteCount > 0, stream.mayWrite {
      guard left > 0 else { return requeue(session) }
      let sent = http.connection.writeNext(joiningIn: scratch, atMost: left, now: now) {
        // `mayHold` is false: a response is never withdrawn, so the same bytes are offered again.
        stream.write($0, mayHold: false)
      }
      guard sent >= 0 else { return retire(session) }
      left -= sent
      writingLeft -= sent + Self.bytesOfWrite
    }
    guard http.connection.unsentByteCount == 0 else { return }
    giveBodies(of: http)
    // A held request may continue now.
    takeRequests(UnsafeRawBufferPointer(start: nil, count: 0), session, http)
    if !session.isGone, stream.mayRead, session.wantsInput { markReady(session) }
  }

  /// Releases the bodies of a connection's responses.
  func giveBodies(of http: HTTPHalf) {
    for ticket in http.tickets { waitingBodies.give(ticket) }
    http.tickets.removeAll(keepingCapacity: false)
  }

  // MARK: Upgrades

  private func upgrade(
    _ number: HTTPServerConnection.RequestNumber, _ request: HTTPRequestHead,
    _ offer: WebSocketOffer, _ session: Session, _ http: HTTPHalf
  ) {
    func refuse(_ response: HTTPResponse) {
      http.connection.respond(to: number, with: response, now: now)
    }
    guard stopDeadline == nil, let delegate else {
      return refuse(.last(503, "the server is stopping; connect again in a moment"))
    }
    if !offer.subprotocols.isEmpty,
      !offer.subprotocols.contains(where: configuration.subprotocols.contains)
    {
      return refuse(
        .last(
          400,
          "none of the subprotocols offered is known; offer "
            + "\(configuration.subprotocols.joined(separator: ", ")) or none"))
    }
    let head = RequestHead(request, of: session)
    switch delegate.decide(upgrade: head) {
    case .refuse(let response):
      refuse(HTTPResponse(response))
    case .accept(let subprotocol):
      if subprotocol == nil, !offer.subprotocols.isEmpty {
        return refuse(
          .last(400, "the offered subprotocol is not supported at this path; offer none"))
      }
      guard
        let opened = http.connection.upgrade(
          number, accept: WebSocketHandshake.accept(for: offer.key), subprotocol: subprotocol)
      else { return }
      let webSocket = WebSocketHalf(configuration)
      giveBodies(of: http)
      session.http = nil
      session.webSocket = webSocket
      untrackDeadline(of: session)
      _ = webSocket.queue.append(Frame(encoded: opened.response))
      markDirty(session)
      pulse.enter(.opening)
      stopCounting(session)
      session.holder = nil
      delegate.opened(session.id, head: head, subprotocol: subprotocol)
      guard !opened.rest.isEmpty else { return }
      var rest = opened.rest
      rest.withUnsafeMutableBytes { takeFrames($0, session, webSocket) }
    }
  }
}
