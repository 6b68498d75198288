import ParleyGatewayPorts
import ParleyHTTP1

/// Moving connections between loops.
extension Loop {
  // MARK: Sending

  /// The loop that handles a request.
  enum Belonging {
    /// This loop handles it.
    case here
    /// It was refused.
    case refused
    /// The connection was moved to another loop with the request.
    case elsewhere
  }

  /// Moves a connection if its request belongs to another loop.
  func moveIfElsewhere(
    _ event: HTTPServerConnection.Event, rest: UnsafeRawBufferPointer, _ session: Session,
    _ http: HTTPHalf, _ balancer: ConnectionBalancer
  ) -> Belonging {
    let request: HTTPRequestHead
    switch event {
    case .request(_, let head, _), .upgrade(_, let head, _), .asksForBody(let head, _):
      request = head
    case .rejected, .abandoned: return .here
    }
    guard session.isCounted, let place = balancer.home(RequestHead(request, of: session)),
      place != self.place
    else { return .here }
    guard http.asked.isEmpty, http.tickets.isEmpty else {
      refuseAmongOthers(event, http)
      return .refused
    }
    switch event {
    case .request(let number, let head, let body):
      handOver(session, to: place, .request(number, head, body: body, rest: Array(rest)), balancer)
    case .upgrade(let number, let head, let offer):
      handOver(session, to: place, .upgrade(number, head, offer), balancer)
    case .asksForBody(let head, let byteCount):
      handOver(session, to: place, .body(head, byteCount: byteCount), balancer)
    case .rejected, .abandoned: break
    }
    return .elsewhere
  }

  /// Refuses a request of another loop while others of its connection are answered here.
  private func refuseAmongOthers(_ event: HTTPServerConnection.Event, _ http: HTTPHalf) {
    let refusal = HTTPResponse.last(
      503,
      "send one request of a session at a time; retry after the earlier ones are answered")
    switch event {
    case .request(let number, _, _), .upgrade(let number, _, _):
      http.connection.respond(to: number, with: refusal, now: now)
    case .asksForBody: http.connection.refuseBody(with: refusal, now: now)
    case .rejected, .abandoned: break
    }
  }

  /// Moves a connection to another loop. Its id here is not used again.
  private func handOver(
    _ session: Session, to place: Int, _ work: MovedConnection.Work, _ balancer: ConnectionBalancer
  ) {
    poller.unwatch(session.stream.descriptor)
    stopCounting(session)
    let moved = MovedConnection(
      session.stream, from: session.address, at: session.entrance, http: session.http, work)
    session.isGone = true
    session.http = nil
    untrackDeadline(of: session)
    freeSlot(of: session)
    balancer.left(self.place)
    balancer.came(to: place)
    balancer.send(moved, to: place)
  }

  // MARK: Receiving

  /// Takes over a connection that another loop has moved here.
  func take(_ moved: MovedConnection) {
    guard let balancer else { return }
    guard stopDeadline == nil,
      let session = seat(
        moved.stream, from: moved.address, at: moved.entrance, isCounted: true,
        http: moved.http ?? HTTPHalf(newConnection()))
    else { return balancer.drop(moved, at: place) }
    if session.stream.mayRead { markReady(session) }
    if session.unsentByteCount > 0 { markDirty(session) }
    switch moved.work {
    case .new(let awaitsProxyHeader): session.awaitsProxyHeader = awaitsProxyHeader
    case .request(let number, let head, let body, let rest):
      guard let http = session.http else { return }
      pulse.enter(.request)
      handle(.request(number, head, body: body), session, http)
      guard session.http === http, !session.isGone else { return }
      rest.withUnsafeBytes { takeRequests($0, session, http) }
    case .body(let head, let byteCount):
      guard let http = session.http else { return }
      refreshDate()
      http.connection.date = date
      handle(.asksForBody(head, byteCount: byteCount), session, http)
      takeRequests(UnsafeRawBufferPointer(start: nil, count: 0), session, http)
    case .upgrade(let number, let head, let offer):
      guard let http = session.http else { return }
      refreshDate()
      http.connection.date = date
      handle(.upgrade(number, head, offer), session, http)
      guard session.http === http, !session.isGone else { return }
      settle(session, http)
    }
  }
}
