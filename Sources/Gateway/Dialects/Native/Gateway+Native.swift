import GatewayPorts
import SocketMessages
import WebSocketFrames

/// The first messages of `parley.v1` clients, and where each later one goes.
extension Gateway {
  func receivedNative(
    _ bytes: UnsafeRawBufferPointer, kind: MessageKind, excess: Excess? = nil,
    on connection: Connection
  ) {
    guard kind == .text else {
      sendError(
        .badMessage, "expected a text frame with JSON; a binary frame came", ref: "",
        to: connection)
      close(connection, .badMessage, "binary frame")
      return
    }
    let message: ClientMessage
    let ref: String
    do {
      (ref, message) = try ClientMessage.decode(
        bytes, operationComponentsMax: settings.limits.operationComponentsMax)
    } catch {
      metrics.received["malformed", default: 0] += 1
      if let change = error.change, case .ready = connection.phase {
        documents.refuse(
          change.sequence, error.code, error.description, of: change.documentID,
          ref: error.messageID ?? "", to: connection)
        return
      }
      sendError(error.code, error.description, ref: error.messageID ?? "", to: connection)
      // A change that cannot be read has no sequence to refuse; the error names its message.
      return
    }
    metrics.received[message.metricName, default: 0] += 1
    if let excess {
      refuse(message, excess, ref: ref, connection)
      return
    }
    switch connection.phase {
    case .greeting:
      guard case .hello(let hello) = message else {
        sendError(
          .notAllowed, "expected hello as the first message; say hello, then the rest", ref: ref,
          to: connection)
        return
      }
      greet(hello, ref: ref, connection)
    case .ready: handle(message, ref: ref, connection)
    case .closing: break
    }
  }

  // MARK: Hello

  private func greet(_ hello: ClientMessage.Hello, ref: String, _ connection: Connection) {
    let identity: Identity
    do throws(AuthenticationError) {
      if let known = connection.identity, hello.token == nil {
        identity = known
      } else {
        identity = try access.identity(for: hello.token)
      }
    } catch {
      log(.notice, "token refused", "\(error)")
      sendError(.unauthorised, error.words, ref: ref, to: connection)
      close(connection, .unauthorised, "unauthorised")
      return
    }
    guard var profile = checked(name: hello.name, color: hello.color, ref: ref, connection) else {
      return
    }
    // What the upgrade brought has been counted there.
    if connection.identity == nil, let excess = access.excess(ofConnecting: identity) {
      turnAway(connection, excess, ref: ref)
      return
    }
    profile.name = access.name(of: identity, claimed: profile.name)
    if let claim = hello.client {
      // Signed for client and user together: a client's id is of no use to anybody else.
      guard
        surroundings.tokens.isValid(
          claim.resumeToken, for: identity.resumeSubject(of: claim.id))
      else {
        sendError(
          .unauthorised,
          "the resume token is not this client's; say hello without a client id to get a new one",
          ref: ref, to: connection)
        return
      }
      connection.client = claim.id
      if let olderID = connectionsByClient[claim.id], let older = connections[olderID] {
        close(older, .replaced, "this client has connected anew")
      }
    } else {
      connection.client = surroundings.names.next()
    }
    if connection.meter.user == nil { access.count(connection, towards: identity) }
    connection.identity = identity
    (connection.name, connection.color) = profile
    connection.phase = .ready
    connectionsByClient[connection.client] = connection.id
    rooms.goOnline(connection)
    sendNative(
      .welcome(
        ServerMessage.Welcome(
          clientID: connection.client,
          resumeToken: surroundings.tokens.token(
            for: identity.resumeSubject(of: connection.client)),
          serverTime: surroundings.clock.now, demo: access.isDemo,
          capabilities: capabilities, limits: settings.limits)),
      ref: ref, to: connection)
  }

  /// Rejects a client over its user's connection limits.
  private func turnAway(_ connection: Connection, _ excess: Excess, ref: String) {
    let words = excess.words(settings.limits)
    guard let pause = excess.retryAfter else {
      sendError(.tooMany, words, ref: ref, to: connection)
      close(connection, .tooMany, "too many connections of one user")
      return
    }
    sendError(.tooFast, words, ref: ref, retryAfter: pause, to: connection)
    sendGoodbye(reason: "tooFast", reconnectAfter: pause...(2 * pause), to: connection)
    close(connection, .tooFast, "too many connections at once; wait, and come back")
  }

  private var capabilities: [String] {
    let own = ["documents", "presence", "publish", "resume", "roomHistory", "rooms", "selections"]
    return (own + rooms.people.capabilities).sorted()
  }

  private func checked(
    name: String, color: String?, ref: String, _ connection: Connection
  ) -> (name: String, color: String?)? {
    guard name.utf8.count <= settings.limits.nameBytesMax else {
      sendError(
        .tooLarge,
        "a name may have \(settings.limits.nameBytesMax) bytes; this one has \(name.utf8.count)",
        ref: ref, to: connection)
      return nil
    }
    if let color, !Self.isColor(color) {
      sendError(
        .badMessage, "expected a colour as # and six hexadecimal digits", ref: ref,
        to: connection)
      return nil
    }
    return (name, color)
  }

  private static func isColor(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 7 && bytes[0] == UInt8(ascii: "#")
      && bytes.dropFirst().allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0 | 0x20)
      }
  }

  // MARK: After hello

  private func handle(_ message: ClientMessage, ref: String, _ connection: Connection) {
    switch message {
    case .hello:
      sendError(.notAllowed, "hello was said already", ref: ref, to: connection)
    case .refresh(let refresh): handle(refresh: refresh, ref: ref, connection)
    case .grant(let grant): handle(grant: grant, ref: ref, connection)
    case .join(let join): native.handle(join, ref: ref, connection)
    case .change(let change): native.handle(change, ref: ref, connection)
    case .select(let select): native.handle(select, ref: ref, connection)
    case .leave(let id):
      if let subscription = connection.subscriptions[id.documentID] {
        documents.leave(subscription)
      }
      sendNative(.left(.init(documentID: id.documentID)), ref: ref, to: connection)
    case .profile(let profile): handle(profile, ref: ref, connection)
    case .subscribe(let subscribe): rooms.handle(subscribe, ref: ref, connection)
    case .unsubscribe(let unsubscribe):
      rooms.leave(room: unsubscribe.room, connection)
      sendNative(.unsubscribed(.init(room: unsubscribe.room)), ref: ref, to: connection)
    case .publish(let publish): rooms.handle(publish, ref: ref, connection)
    case .roomHistory(let history): rooms.handle(history, ref: ref, connection)
    case .typing(let typing): rooms.handle(typing, ref: ref, connection)
    case .receipt(let receipt): rooms.handle(receipt, ref: ref, connection)
    case .receipts(let receipts): rooms.handle(receipts, ref: ref, connection)
    case .lastOnline(let lastOnline): rooms.handle(lastOnline, ref: ref, connection)
    case .block(let block): rooms.handle(block, ref: ref, connection)
    case .blocks: rooms.handleBlocks(ref: ref, connection)
    case .flag(let flag): rooms.handle(flag, ref: ref, connection)
    case .flags(let flags): rooms.handle(flags, ref: ref, connection)
    case .follow(let follow): rooms.handle(follow, ref: ref, connection)
    case .ping:
      sendNative(.pong(.init(serverTime: surroundings.clock.now)), ref: ref, to: connection)
    case .unknown(let type):
      sendError(
        .unknownType, "no message has this type (\(type.utf8.count) bytes long)", ref: ref,
        to: connection)
    }
  }

  private func handle(_ profile: ClientMessage.Profile, ref: String, _ connection: Connection) {
    guard let checked = checked(name: profile.name, color: profile.color, ref: ref, connection)
    else { return }
    connection.name =
      connection.identity.map { access.name(of: $0, claimed: checked.name) } ?? checked.name
    connection.color = checked.color
    shareProfile(of: connection)
  }

  /// Tells others of a name and colour that may be new.
  func shareProfile(of connection: Connection) {
    rooms.shareRoomProfile(of: connection)
    for subscription in connection.subscriptions.values
    where subscription.verbs.contains(.presence) { documents.showProfile(of: subscription) }
  }

  // MARK: Sending

  func sendNative(_ message: ServerMessage, ref: String, to connection: Connection) {
    native.send(message, ref: ref, to: connection)
  }

  func sendError(
    _ code: ErrorCode, _ message: String, ref: String, retryAfter: Int? = nil,
    to connection: Connection
  ) {
    connection.dialect.sendError(code, message, ref: ref, retryAfter: retryAfter, to: connection)
  }

  func sendGoodbye(
    reason: String, reconnectAfter: ClosedRange<Int>, to connection: Connection
  ) {
    connection.dialect.sendGoodbye(
      reason: reason, reconnectAfter: reconnectAfter, to: connection)
  }

}
