import GatewayPorts
import HTTP1

/// Connections that come from other loops, and go to them.
extension Loop {
  // MARK: Going

  /// The result of a look at where a request belongs.
  enum Belonging {
    /// It is to be answered here.
    case here
    /// It was refused.
    case refused
    /// The connection has gone, and the request with it.
    case elsewhere
  }

  /// Hands a connection on if its request belongs to another loop.
  func sendHome(
    _ event: HTTPServerConnection.Event, rest: UnsafeRawBufferPointer, _ session: Session,
    _ http: HTTPHalf, _ crew: LoopCrew
  ) -> Belonging {
    let (number, request, body): (HTTPServerConnection.RequestNumber, HTTPRequestHead, [UInt8])
    switch event {
    case .request(let name, let head, let bytes): (number, request, body) = (name, head, bytes)
    case .upgrade(let name, let head, _): (number, request, body) = (name, head, [])
    case .asksForBody, .rejected, .abandoned: return .here
    }
    guard session.isCounted, let place = crew.home(RequestHead(request, of: session)),
      place != self.place
    else { return .here }
    guard http.asked.isEmpty, http.tickets.isEmpty else {
      http.connection.respond(
        to: number,
        with: .last(
          503,
          "a session's requests come one at a time; send it again when those before it are answered"
        ),
        now: now)
      return .refused
    }
    let errand: Passenger.Errand =
      if case .upgrade(_, _, let offer) = event {
        .upgrade(number, request, offer)
      } else {
        .request(number, request, body: body, rest: Array(rest))
      }
    handOver(session, to: place, errand, crew)
    return .elsewhere
  }

  /// Lets a connection go to another loop. Its name here is not used again.
  private func handOver(
    _ session: Session, to place: Int, _ errand: Passenger.Errand, _ crew: LoopCrew
  ) {
    poller.unwatch(session.stream.descriptor)
    let passenger = Passenger(
      session.stream, from: session.address, at: session.entrance, http: session.http, errand)
    session.isGone = true
    session.http = nil
    dropTime(of: session)
    freeSlot(of: session)
    crew.left(self.place)
    crew.came(to: place)
    crew.send(passenger, to: place)
  }

  // MARK: Coming

  /// Takes a connection that another loop has sent.
  func take(_ passenger: Passenger) {
    guard let crew else { return }
    guard stopDeadline == nil,
      let session = seat(
        passenger.stream, from: passenger.address, at: passenger.entrance, isCounted: true,
        http: passenger.http ?? HTTPHalf(newConnection()))
    else { return crew.drop(passenger, at: place) }
    if session.stream.mayRead { markReady(session) }
    if session.unsentByteCount > 0 { markDirty(session) }
    switch passenger.errand {
    case .new(let awaitsProxy): session.awaitsProxy = awaitsProxy
    case .request(let number, let head, let body, let rest):
      guard let http = session.http else { return }
      pulse.enter(.request)
      handle(.request(number, head, body: body), session, http)
      guard session.http === http, !session.isGone else { return }
      rest.withUnsafeBytes { takeRequests($0, session, http) }
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
