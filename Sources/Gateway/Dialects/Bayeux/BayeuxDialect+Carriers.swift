import ParleyBayeux
import ParleyGatewayPorts
import ParleyJSON
import SocketMessages
import ParleyWebSocketFrames

/// The transports of Bayeux messages: WebSockets and requests.
extension BayeuxDialect {
  // MARK: WebSockets

  /// Handles a new WebSocket.
  func opened(_ id: ConnectionID, address: String, from limited: IPAddress?) {
    carriers[id] = Carrier(
      address: address, limitedAddress: limited, meter: access.meter(from: limited))
    if access.isDemo { admit(.demo, nil, by: .webSocket(id)) }
  }

  /// Raises the message size limit after a token was accepted: for the same WebSocket, and for
  /// requests from the session's address. The session counts towards the user unless that exceeds
  /// the user's share.
  func admit(_ identity: Identity, _ link: BayeuxLink?, by way: Way) {
    if case .webSocket(let id) = way, let carrier = carriers[id], !carrier.isAdmitted {
      carriers[id]?.isAdmitted = true
      board.admit(id, as: identity, from: carrier.limitedAddress)
    }
    guard let link else { return }
    if link.authenticateBy != nil { _ = identify(link, as: identity) }
    guard !link.isAdmitted else { return }
    link.isAdmitted = true
    admitted[link.address, default: 0] += 1
  }

  /// Handles a message on a WebSocket: one object, or an array of objects.
  func received(_ bytes: UnsafeRawBufferPointer, byCarrier id: ConnectionID) {
    guard let address = carriers[id]?.address else { return }
    guard let messages = BayeuxMessage.decode(bytes) else {
      act(.close(id, code: CloseCode(CloseReason.badMessage.rawValue), reason: Self.expected))
      return
    }
    if messages.isEmpty { send([], overWebSocket: id) }
    let now = dependencies.clock.uptime
    let excess = carriers[id]?.meter.draw(
      messages: messages.count, bytes: bytes.count, allowances, now: now)
    if let excess {
      count(excess)
      guard carriers[id]?.meter.mayReject(allowances, now: now) ?? true else {
        act(
          .close(
            id, code: CloseCode(CloseReason.tooFast.rawValue), reason: "rate limit exceeded; wait"))
        return
      }
      refuse(messages, excess, by: .webSocket(id))
      return
    }
    for message in messages { handle(message, from: address, by: .webSocket(id)) }
  }

  /// Handles a message on a WebSocket that exceeded the size limit.
  func oversized(byCarrier id: ConnectionID) {
    guard carriers[id] != nil else { return }
    act(
      .close(id, code: CloseCode(CloseReason.messageTooLarge.rawValue), reason: "message too large")
    )
  }

  /// Handles a message that was dropped in part: its sender has used its share of memory.
  func droppedForMemory(carrier id: ConnectionID) {
    guard carriers[id] != nil else { return }
    act(
      .close(
        id, code: CloseCode(CloseReason.tooFast.rawValue),
        reason: "the server receives too much data now; wait"))
  }

  func send(_ messages: [[UInt8]], overWebSocket id: ConnectionID) {
    act(.send(Frame(.text, payload: BayeuxReply.frame(messages)), to: id))
  }

  /// Handles the end of a WebSocket.
  func closed(carrier id: ConnectionID) {
    for link in carriers.removeValue(forKey: id)?.links ?? [] {
      link.carrier = nil
      link.session.interrupted()
    }
  }

  // MARK: Requests

  /// Whether a request is a connect that waits for events.
  func isPoll(_ request: RequestID) -> Bool { byRequest[request] != nil }

  /// Decides on a long body. Messages contain their tokens, so a body is accepted from the address
  /// of a session in which a token was already accepted.
  func decision(onBody byteCount: Int?, of head: RequestHead) -> BodyDecision {
    let bytesMax = settings.limits.messageBytesMax
    guard access.isDemo || admitted[head.remoteAddress] != nil else {
      return .refuse(
        .problem(
          413, .tooLarge,
          "this is too long before a token is accepted; shake hands with an access_token first"
        )
        .allowing(head))
    }
    guard byteCount ?? 0 <= bytesMax else {
      return .refuse(
        .problem(413, .tooLarge, "a body may have \(bytesMax) bytes; send less").allowing(head))
    }
    return .take(upTo: bytesMax, for: Holder(address: head.limitedAddress))
  }

  /// Answers a request, now or after further events.
  func receive(_ request: RequestID, head: RequestHead, body: [UInt8]) {
    func refuse(_ response: Response) { respond(request, response.allowing(head)) }
    let json: [UInt8]
    var callback: ScriptCallback?
    switch head.method {
    case "OPTIONS": return respond(request, .preflight(head))
    case "POST": json = Self.json(in: body)
    case "GET":
      let query = QueryFields(head.query)
      guard let message = query["message"] else { return refuse(Self.withoutMessage(head.path)) }
      callback = query["jsonp"].map(ScriptCallback.init) ?? .standard
      guard callback != nil else {
        return refuse(
          .problem(
            400, .badMessage, "expected the name of a function as jsonp, such as __jsonp1__"))
      }
      json = Array(message.utf8)
    default: return refuse(.methodNotAllowed("GET", "POST"))
    }
    guard var messages = BayeuxMessage.decode(json) else {
      return refuse(.problem(400, .badMessage, Self.expected))
    }
    if callback != nil, !settings.allowsTokenInURL { dropTokens(of: &messages) }
    let exchange = BayeuxLink.Exchange(request, head, callback)
    var meter = access.meter(from: head.limitedAddress)
    let excess = meter.draw(
      messages: messages.count, bytes: json.count, allowances, now: dependencies.clock.uptime)
    if let excess {
      count(excess)
      self.refuse(messages, excess, by: .request(exchange))
    } else {
      for message in messages { handle(message, from: head.remoteAddress, by: .request(exchange)) }
    }
    exchange.isRead = true
    finish(exchange)
  }

  /// The expected content of a frame or body, for error texts.
  private static let expected =
    "expected messages as JSON: at most \(BayeuxMessage.messagesMax), with at most "
    + "\(BayeuxMessage.valuesMax) values"

  /// Returns the JSON of a request: its body, or a form's field.
  ///
  /// A form is recognised by its first bytes, because pages of other origins send it as plain text
  /// or without a content type.
  private static func json(in body: [UInt8]) -> [UInt8] {
    let name = "message=".utf8
    guard body.starts(with: name) else { return body }
    let value = body.dropFirst(name.count).prefix { $0 != UInt8(ascii: "&") }
    return value.withUnsafeBufferPointer { PercentEncoding.bytes(inForm: $0) } ?? []
  }

  /// Returns the response to a GET without a message, whose client may expect a script file.
  private static func withoutMessage(_ path: String) -> Response {
    guard let name = path.utf8.split(separator: UInt8(ascii: "/")).last,
      name.contains(UInt8(ascii: "."))
    else { return .problem(400, .badMessage, "expected messages as JSON in the field message") }
    return .problem(
      404, .notOffered, "no client is served here; load the one for browsers from Faye's package")
  }

  /// Removes tokens from messages in a URL, because logs and browser histories store URLs.
  private func dropTokens(of messages: inout [BayeuxMessage]) {
    guard messages.contains(where: { $0.accessToken != nil }) else { return }
    log(.notice, "token refused", "it is in a URL; see allow-token-in-url")
    for index in messages.indices { messages[index].accessToken = nil }
  }

  func finish(_ exchange: BayeuxLink.Exchange) {
    guard exchange.isRead, exchange.pending == 0, !exchange.isHeld else { return }
    let json = BayeuxReply.frame(exchange.replies)
    var response = Response(
      status: 200, headers: [("content-type", "application/json; charset=utf-8")], body: json)
    if let callback = exchange.callback {
      response.headers = [
        ("content-type", "application/javascript; charset=utf-8"),
        // A browser that follows a link to the response saves it instead of showing it.
        ("content-disposition", "attachment; filename=f.txt"),
      ]
      response.body = callback.script(json)
    }
    respond(
      exchange.request,
      response.with("x-content-type-options", "nosniff").with("cache-control", "no-store")
        .allowing(exchange.head))
  }

  /// Handles the disconnect of a waiting request's client.
  func abandoned(_ request: RequestID) {
    guard let link = byRequest[request] else { return }
    if let exchange = link.exchange { byRequest[exchange.request] = nil }
    link.exchange = nil
    link.session.interrupted()
  }
}
