import Gateway
import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// WebSocket handshakes, including handshakes whose `Upgrade` header is missing.
extension ServerLoop {
  static let subprotocol = "parley.v1"
  private static let nativePath = "/ws"

  func decide(upgrade head: RequestHead) -> UpgradeDecision {
    let head = proxies.resolved(head)
    guard allowsHost(head) else { return .refuse(HostPolicy.refusal) }
    guard isOfAllowedApp(head) || allowsOrigin(head) else {
      return .refuse(
        .plain(
          403, "This origin may not connect. The operator can let it in with allowed-origin.\n"))
    }
    guard head.entrance == .front else {
      return .refuse(.plain(404, "This port is for programs; WebSockets are at the page's.\n"))
    }
    if let echo, echo.answers(head) { return .accept(subprotocol: nil) }
    switch head.path {
    case Self.nativePath:
      let offered = head.headers["sec-websocket-protocol"]?.split(separator: ",").map {
        $0.trimmingSpaces()
      }
      guard offered?.contains(Self.subprotocol) ?? false else {
        return .refuse(
          .plain(400, "This path speaks \(Self.subprotocol); offer it as subprotocol.\n"))
      }
      if let refusal = gateway.refusal(ofUpgrade: head, as: .native) { return .refuse(refusal) }
      return .accept(subprotocol: Self.subprotocol)
    default:
      guard let opening = clientKind(of: head) else {
        return .refuse(.noSocketHere)
      }
      if let refusal = gateway.refusal(ofUpgrade: head, as: opening) { return .refuse(refusal) }
      return .accept(subprotocol: nil)
    }
  }

  /// Whether a request is a Pusher client's, from a page that its app allows.
  private func isOfAllowedApp(_ head: RequestHead) -> Bool {
    guard case .pusher(let key, _)? = clientKind(of: head) else { return false }
    return configuration.pusherProfiles.contains {
      $0.key.isExactly(key) && $0.originPolicy.allows(head)
    }
  }

  /// The answer to a request for a WebSocket that has no `Upgrade`; `nil` for any other request.
  ///
  /// A proxy that does not forward upgrades removes the headers `Upgrade` and `Connection`, and
  /// leaves the rest of the handshake. The log contains the path's dialect, not the path.
  func answerWithoutUpgrade(_ head: RequestHead, _ opening: ClientKind?) -> Response? {
    guard head.entrance == .front, let place = webSocketPlace(head, opening) else { return nil }
    let isHandshake = head.headers["sec-websocket-key"] != nil
    guard isHandshake || place.isForWebSocketsOnly else { return nil }
    switch head.method {
    case "GET", "HEAD": break
    case "OPTIONS": return .options("GET")
    default: return place.isForWebSocketsOnly ? .methodNotAllowed(["GET"]) : nil
    }
    log.write(
      .warning, "WebSocket request without Upgrade",
      [
        ("place", place.name),
        (
          "hint",
          "a proxy in front probably removes the headers Upgrade and Connection: configure it to "
            + "forward WebSockets, as in the examples in Packaging/proxies; parley doctor tests public-url"
        ),
      ])
    return .plain(
      426,
      "This is an address for WebSockets, and the request has no Upgrade: websocket. If a WebSocket client sent "
        + "it, a proxy on the way removed the header.\n"
    ).with("upgrade", "websocket")
  }

  /// Returns a name for the request's WebSocket path, for the log, and whether the path accepts
  /// only WebSockets.
  private func webSocketPlace(
    _ head: RequestHead, _ opening: ClientKind?
  ) -> (name: String, isForWebSocketsOnly: Bool)? {
    if let echo, echo.answers(head) { return ("echo", true) }
    if head.path == Self.nativePath { return (Self.nativePath, true) }
    return switch opening {
    case .whaler?: ("/socket", true)
    // Both dialects have other transports at the same path.
    case .socketIO?: ("/socket (Socket.IO)", false)
    case .bayeux?: ("/faye", false)
    case .pusher?: gateway.servesPusher ? ("/app", true) : nil
    case .shareDB?: ("ShareDB", true)
    case .rustpad?: ("/api/socket", true)
    case .native?, nil: nil
    }
  }

  /// Returns the dialect of a request's path.
  func clientKind(of head: RequestHead) -> ClientKind? {
    ClientKind(head, shareDBPath: configuration.shareDBPath)
  }

  /// Responds to `OPTIONS *`, by which a proxy checks whether the server is up; `nil` for any other
  /// request.
  func generalOptions(_ head: RequestHead) -> Response? {
    guard head.method == "OPTIONS", head.path == "*" else { return nil }
    return Response(status: 204, headers: [("allow", Route.methods + ", OPTIONS")])
  }
}
