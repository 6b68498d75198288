import ParleyGatewayPorts
import SocketMessages

/// The first message of `parley.v1` clients: authentication, name and resumption.
extension NativeDialect {
  func greet(
    _ hello: ClientMessage.Hello, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let identity: Identity
    do throws(AuthenticationError) {
      if let known = connection.identity, hello.token == nil {
        identity = known
      } else {
        identity = try access.identity(for: hello.token)
      }
    } catch {
      log(.notice, "token refused", "\(error)")
      if error == .unverified { return turnAwayUnverified(connection, ref: ref) }
      sendError(.unauthorised, error.words, ref: ref, to: connection)
      close(connection, .unauthorised, "unauthorised")
      return
    }
    try check(name: hello.name, color: hello.color)
    // A token in the upgrade was already counted with the upgrade.
    if connection.identity == nil, let excess = access.excess(ofConnecting: identity) {
      turnAway(connection, excess, ref: ref)
      return
    }
    if let claim = hello.client {
      try resume(claim, as: identity, connection)
    } else {
      connection.client = dependencies.names.next()
    }
    if connection.meter.user == nil { access.count(connection, towards: identity) }
    if connection.identity != identity {
      board.admit(connection.id, as: identity, from: connection.limitedAddress)
    }
    connection.identity = identity
    connection.numbersMax =
      hello.takesNumbers ? hello.numbersMax ?? ServerMessage.Author.numbersMaxUnsaid : 0
    connection.name = access.name(of: identity, claimed: hello.name)
    connection.color = hello.color
    connection.phase = .ready
    connectionsByClient[connection.client] = connection.id
    rooms.holderCame(connection.client)
    rooms.presence.goOnline(connection)
    send(
      .welcome(
        ServerMessage.Welcome(
          clientID: connection.client,
          resumeToken: dependencies.tokens.token(
            for: identity.resumeSubject(of: connection.client)),
          serverTime: dependencies.clock.now, demo: access.isDemo,
          capabilities: capabilities, limits: settings.limits, personID: identity.person?.text)),
      ref: ref, to: connection)
  }

  /// Resumes a client id, and closes the client's older connection.
  private func resume(
    _ claim: ClientMessage.Hello.Claim, as identity: Identity, _ connection: Connection
  ) throws(MessageRefusal) {
    // The signature covers client and user: a client's id is useless to any other user.
    guard
      dependencies.tokens.isValid(claim.resumeToken, for: identity.resumeSubject(of: claim.id))
    else {
      throw MessageRefusal(
        .unauthorised,
        "the resume token is not this client's; say hello without a client id to get a new one")
    }
    connection.client = claim.id
    connection.isReturning = true
    if let olderID = connectionsByClient[claim.id], let older = connections[olderID] {
      close(older, .replaced, "this client has reconnected")
    }
  }

  /// Asks a client whose token cannot be verified now to reconnect, perhaps to another gateway.
  private func turnAwayUnverified(_ connection: Connection, ref: String) {
    let pause = settings.retryAfterMilliseconds
    sendError(
      .unavailable, AuthenticationError.unverified.words, ref: ref, retryAfter: pause,
      to: connection)
    sendGoodbye(reason: "draining", reconnectAfter: pause...(2 * pause), to: connection)
    close(connection, .draining, "cut off from the other gateways; reconnect")
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
    close(connection, .tooFast, "too many connections in a short time; wait, and reconnect")
  }

  private func check(name: String, color: String?) throws(MessageRefusal) {
    let bytesMax = settings.limits.nameBytesMax
    guard name.utf8.count <= bytesMax else {
      throw MessageRefusal(
        .tooLarge, "a name may have \(bytesMax) bytes; this one has \(name.utf8.count)")
    }
    if let color, !PersonProfile.isColor(color) {
      throw MessageRefusal(.badMessage, "expected a colour as # and six hexadecimal digits")
    }
  }

  func handle(_ profile: ClientMessage.Profile, _ connection: Connection) throws(MessageRefusal) {
    try check(name: profile.name, color: profile.color)
    connection.name =
      connection.identity.map { access.name(of: $0, claimed: profile.name) } ?? profile.name
    connection.color = profile.color
    owner?.shareProfile(of: connection)
  }
}
