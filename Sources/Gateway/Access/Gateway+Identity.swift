public import GatewayPorts
import SocketMessages

/// Finding out who is there, and what they may do.
///
/// Everything that a client may do is decided by the grants of its token, looked at anew for each
/// message. What a client says of itself decides nothing.
extension Gateway {
  /// Whether anyone may do everything, for no token can be checked.
  var isDemo: Bool { access.isDemo }

  /// The bearer of a token.
  func identity(for token: String?) throws(AuthenticationError) -> Identity {
    try access.identity(for: token)
  }

  /// The token of a request: `Authorization`, with or without `Bearer`, or `token` in the query if
  /// that is allowed.
  public func token(in head: RequestHead) -> String? { access.token(in: head) }

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

  /// Returns the identity that opened a connection; `nil` if a hello has to give it, or the token
  /// is rejected.
  func identity(openingWith token: String?) -> Identity? {
    guard let token else { return isDemo ? .demo : nil }
    return try? identity(for: token)
  }

  // MARK: HTTP

  /// The identity of a request's maker, by token or API key; answers the request and returns `nil` if
  /// that is nobody, or they have made too many.
  func identity(of head: RequestHead, _ request: RequestID) -> Identity? {
    if let known = once[request] { return known.identity }
    switch access.admission(of: head) {
    case .admitted(let identity): return identity
    case .refused(.token(let error)):
      log(.notice, "token refused", "\(error)")
      respond(request, .problem(401, .unauthorised, Self.words(for: error)).challenging)
    case .refused(.keyElsewhere): respond(request, .keyElsewhere)
    case .refused(.excess(let excess)): respond(request, response(to: passed(excess)))
    }
    return nil
  }

  /// The user that others see as the author of a request; `nil` if the request has no user.
  func person(of identity: Identity) -> PersonID? {
    identity.isGuest || identity.user.isEmpty ? nil : identity.user
  }

  // MARK: Connections

  /// Returns a connection's rights: by its own token, and by further ones that it was granted.
  func verbs(of connection: Connection, on subject: Subject) -> Verbs {
    connection.verbs(on: subject)
  }

  /// The name that others see: what the token says of its bearer, never what the client does.
  func name(of identity: Identity, claimed: String) -> String {
    access.name(of: identity, claimed: claimed)
  }

  /// Returns the subject of a resume token: a client's id and its owner.
  func resumeSubject(_ client: String, of identity: Identity) -> String {
    // With its length, so that no two pairs give one text.
    identity.user.isEmpty ? client : "user \(identity.user.utf8.count) \(identity.user) \(client)"
  }

  /// Why a token is not accepted, for people.
  static func words(for error: AuthenticationError) -> String {
    switch error {
    case .missing: "a token is needed; none came"
    case .malformed: "the token is not a JSON Web Token"
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
