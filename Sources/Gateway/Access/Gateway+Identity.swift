public import GatewayPorts
import SocketMessages

/// Finding out who is there, and what they may do.
///
/// Everything that a client may do is decided by the grants of its token, looked at anew for each
/// message. What a client says of itself decides nothing.
extension Gateway {
  /// Whether anyone may do everything, for no token can be checked.
  var isDemo: Bool { settings.isDemo && surroundings.authenticator == nil }

  /// Who a token belongs to.
  func identity(for token: String?) throws(AuthenticationError) -> Identity {
    let identity = try unrevokedIdentity(for: token)
    if surroundings.revocations?.isRevoked(identity) ?? false { throw .revoked }
    return identity
  }

  private func unrevokedIdentity(for token: String?) throws(AuthenticationError) -> Identity {
    // Links are good in demo mode too, where they narrow what may be done.
    if let token,
      let own = try surroundings.ownTokens?.identity(of: token, now: surroundings.clock.now)
    {
      return own.isGuest ? own : try unreserved(own)
    }
    guard let authenticator = surroundings.authenticator else {
      guard settings.isDemo else { throw .unknownKey }
      return .demo
    }
    guard let token, !token.isEmpty else { throw .missing }
    return try unreserved(authenticator.authenticate(token, now: surroundings.clock.now))
  }

  /// Refuses a token whose user would pass for a link, or for a program.
  private func unreserved(_ identity: Identity) throws(AuthenticationError) -> Identity {
    guard !Identity.isReserved(identity.user) else { throw .claims }
    return identity
  }

  /// The token of a request: `Authorization`, with or without `Bearer`, or `token` in the query if
  /// that is allowed.
  public func token(in head: RequestHead) -> String? {
    if let header = head.headers["authorization"], !header.isEmpty {
      let scheme = header.utf8.prefix(7)
      // "Bearer " in any case: the letters differ from the capitals by one bit.
      let isBearer = scheme.elementsEqual("bearer ".utf8) { $0 | 0x20 == $1 }
      return isBearer ? String(header.dropFirst(7)) : header
    }
    guard settings.allowsTokenInURL else { return nil }
    return QueryFields(head.query)["token"]
  }

  // MARK: Upgrades

  /// The response to refuse an upgrade with, or `nil` to let it pass.
  ///
  /// A Whaler client has to bring its token now (401 without, 403 with a bad one or one that does
  /// not grant the pool); a `parley.v1` client may, or says it in its hello.
  public func refusal(ofUpgrade head: RequestHead, as opening: Opening) -> Response? {
    switch opening {
    case .socketIO(let query, let address):
      return refusal(ofSocketIO: query, address: address, head)
    case .bayeux, .native, .whaler: break
    }
    if let excess = excess(ofConnecting: head) { return response(to: excess) }
    if case .bayeux = opening { return nil }
    guard !isDemo else { return nil }
    let token = token(in: head)
    if case .native = opening, token == nil { return nil }
    do throws(AuthenticationError) {
      let identity = try identity(for: token)
      if let excess = excess(ofConnecting: identity) { return response(to: excess) }
      if case .whaler(let pool?) = opening, !identity.may(.read, .room(pool)) {
        log(.notice, "pool refused", "no right")
        return .problem(403, .notAllowed, "the token does not grant this pool")
      }
      return nil
    } catch {
      log(.notice, "token refused", "\(error)")
      return .refusal(error)
    }
  }

  /// Who opened a connection; `nil` if a hello has to tell, or nobody may.
  func identity(openingWith token: String?) -> Identity? {
    guard let token else { return isDemo ? .demo : nil }
    return try? identity(for: token)
  }

  // MARK: HTTP

  /// Who makes a request, by token or API key; answers it and returns `nil` if that is nobody.
  func identity(of head: RequestHead, _ request: RequestID) -> Identity? {
    if let known = once[request] { return known.identity }
    do throws(AuthenticationError) {
      let token = token(in: head)
      if let token, let keys = surroundings.apiKeys,
        token.utf8.starts(with: type(of: keys).prefix.utf8)
      {
        guard head.entrance == .back || !settings.takesKeysAtBackAlone else {
          respond(request, .keyElsewhere)
          return nil
        }
        guard let identity = keys.identity(for: token, now: surroundings.clock.now) else {
          throw .unknownKey
        }
        return held(identity, request)
      }
      return held(try identity(for: token), request)
    } catch {
      log(.notice, "token refused", "\(error)")
      respond(request, .problem(401, .unauthorised, Self.words(for: error)).challenging)
      return nil
    }
  }

  /// Who makes a request, or `nil` if they have made too many; then it is answered.
  private func held(_ identity: Identity, _ request: RequestID) -> Identity? {
    guard let response = refusal(ofRequestBy: identity) else { return identity }
    respond(request, response)
    return nil
  }

  /// Who makes a request to others; `nil` for whoever is nobody in particular.
  func person(of identity: Identity) -> PersonID? {
    identity.isGuest || identity.user.isEmpty ? nil : identity.user
  }

  // MARK: Connections

  /// What a connection may do: by its own token, and by further ones that it was granted.
  func verbs(of connection: Connection, on subject: Subject) -> Verbs {
    connection.verbs(on: subject)
  }

  /// The name that others see: what the token says of its bearer, never what the client does.
  ///
  /// Who comes by a link is nobody's user, and may choose a name; it is marked, so that it passes
  /// for no user's. In an open demo anybody may be called anything.
  func name(of identity: Identity, claimed: String) -> String {
    if identity.isGuest {
      if isDemo || claimed.utf8.suffix(Self.guestMark.utf8.count).elementsEqual(Self.guestMark.utf8)
      {
        return claimed
      }
      return Self.shortened(claimed, to: settings.limits.nameBytesMax - Self.guestMark.utf8.count)
        + Self.guestMark
    }
    if identity.user.isEmpty { return claimed }
    let name = identity.name.flatMap { $0.isEmpty ? nil : $0 } ?? identity.user
    return Self.shortened(name, to: settings.limits.nameBytesMax)
  }

  private static let guestMark = " (guest)"

  private static func shortened(_ name: String, to bytesMax: Int) -> String {
    var name = name
    while name.utf8.count > bytesMax { name.unicodeScalars.removeLast() }
    return name
  }

  /// What a resume token is signed for: a client's id, and whose it is.
  func resumeSubject(_ client: String, of identity: Identity) -> String {
    // With its length, so that no two pairs give one text.
    identity.user.isEmpty ? client : "user \(identity.user.utf8.count) \(identity.user) \(client)"
  }

  /// Why a token is not accepted, for people.
  static func words(for error: AuthenticationError) -> String {
    switch error {
    case .missing: "a token is needed; none came"
    case .malformed: "expected a JSON Web Token; what came is none"
    case .algorithm: "the token's algorithm is not the one of its key"
    case .unknownKey: "the token's key is not known here"
    case .signature: "the token's signature is not valid"
    case .expired: "the token has expired; get a new one"
    case .revoked: "the token was taken back"
    case .notYetValid: "the token is not valid yet; check the clocks"
    case .audience: "the token is meant for another audience"
    case .issuer: "the token comes from another issuer"
    case .claims: "a claim of the token is missing or of the wrong type"
    }
  }
}
