import ParleyGatewayPorts
import SocketMessages

/// The part of the gateway that identifies clients, and decides whether their tokens still count.
///
/// It alone knows authenticator, API keys, the server's own tokens, revocations and the source of users;
/// the other parts are given identities, or why there is none.
final class Access: Part {
  let board: Switchboard
  /// Rates of users and addresses, and what they have used of them.
  var rates: RateLimiter

  /// Whether every client may do everything, for no token can be checked.
  let isDemo: Bool
  private let ports: Ports

  /// Sources of tokens and rights; a feature whose source is `nil` is not offered.
  struct Ports {
    let authenticator: (any Authenticator)?
    let apiKeys: (any APIKeys)?
    let ownTokens: (any OwnTokens)?
    let revocations: (any Revocations)?
    let users: (any UserSource)?
    /// Limits that are shared with other gateways of the process.
    let limits: (any SharedLimits)?
  }

  init(_ board: Switchboard, _ ports: Ports) {
    self.board = board
    self.ports = ports
    isDemo = board.settings.isDemo && ports.authenticator == nil
    rates = RateLimiter(
      board.allowances, clock: board.dependencies.clock, shared: ports.limits)
  }

  // MARK: Tokens that come

  /// The token of a request: `Authorization`, with or without `Bearer`, or `token` in the query if that is
  /// allowed.
  func token(in head: RequestHead) -> String? {
    if let header = head.headers["authorization"], !header.isEmpty {
      let scheme = header.utf8.prefix(7)
      // "Bearer " in any case: the letters differ from the capitals by one bit.
      let isBearer = scheme.elementsEqual("bearer ".utf8) { $0 | 0x20 == $1 }
      return isBearer ? String(header.dropFirst(7)) : header
    }
    return settings.allowsTokenInURL ? QueryFields(head.query)["token"] : nil
  }

  /// The bearer of a token.
  func identity(for token: String?) throws(AuthenticationError) -> Identity {
    let identity = try unrevokedIdentity(for: token)
    if isRevoked(identity) { throw .revoked }
    if isCutOff, identity != .demo { throw .unverified }
    return identity
  }

  /// Bytes of a token: as many as a head of a request has room for.
  private static let tokenBytesMax = 16 << 10

  private func unrevokedIdentity(for token: String?) throws(AuthenticationError) -> Identity {
    if let token, token.utf8.count > Self.tokenBytesMax { throw .malformed }
    // Links are good in demo mode too, where they narrow what may be done.
    if let token, let own = try ports.ownTokens?.identity(of: token, now: dependencies.clock.now) {
      if own.isPublicReader, !settings.names.isOffered { throw .revoked }
      return own.isGuest ? own : try unreserved(own)
    }
    guard let authenticator = ports.authenticator else {
      guard isDemo else { throw .unknownKey }
      return .demo
    }
    guard let token, !token.isEmpty else { throw .missing }
    return try unreserved(authenticator.authenticate(token, now: dependencies.clock.now))
  }

  /// Refuses a token whose user would pass for a link, or for a program.
  private func unreserved(_ identity: Identity) throws(AuthenticationError) -> Identity {
    guard !Identity.isReserved(identity.user) else { throw .claims }
    return identity
  }

  /// Whether a token, made by a backend for one room and one user, admits the user to the room.
  func admits(_ roomToken: String, to room: RoomName, user: String) -> Bool {
    guard roomToken.utf8.count <= Self.tokenBytesMax else { return false }
    return ports.authenticator?.admits(
      roomToken, to: room, user: user, now: dependencies.clock.now) ?? false
  }

  /// Whether a token is an API key, by its prefix.
  func isKey(_ token: String?) -> Bool {
    guard let token, let keys = ports.apiKeys else { return false }
    return token.utf8.starts(with: type(of: keys).prefix.utf8)
  }

  /// The bearer of a token, or the program with an API key.
  func bearer(of token: String?) throws(AuthenticationError) -> Identity {
    guard let token, isKey(token) else { return try identity(for: token) }
    guard let program = ports.apiKeys?.identity(for: token, now: dependencies.clock.now) else {
      throw .unknownKey
    }
    return program
  }

  // MARK: Tokens that are made

  /// Whether the server makes tokens of its own.
  var makesTokens: Bool { ports.ownTokens != nil }

  /// A token with all of an identity; `nil` where the server makes none.
  func token(for identity: Identity) -> String? { ports.ownTokens?.token(for: identity) }

  /// The key that opens a link; `nil` where the server makes none.
  func key(ofLink id: String) -> String? { ports.ownTokens?.key(ofLink: id) }

  /// Whether a token of the server's own is valid at a time: a token too long or with too many rights is
  /// not.
  func opens(_ token: String, at time: Timestamp) -> Bool {
    (try? ports.ownTokens?.identity(of: token, now: time)) != nil
  }

  // MARK: Taking back

  /// Whether an identity's token was taken back.
  func isRevoked(_ identity: Identity) -> Bool {
    ports.revocations?.isRevoked(identity) ?? false
  }

  /// Milliseconds for which other gateways' revocations may be unknown here.
  var revocationsAge: Int64 {
    ports.revocations?.age(uptime: dependencies.clock.uptime) ?? 0
  }

  /// Takes tokens back, all or none, for good: `proceed` is called when it is on the disk, or cannot be.
  func revoke(_ meant: [Revocation], then proceed: @escaping (RevocationError?) -> Void) {
    guard let revocations = ports.revocations else { return proceed(.unwritable) }
    revocations.add(meant, then: proceed)
  }

  /// Reads what was taken back elsewhere.
  func refreshRevocations() { ports.revocations?.refresh(now: dependencies.clock.now) }

  /// A number that changes with each revocation.
  var revocationsGeneration: Int { ports.revocations?.generation ?? 0 }

  // MARK: Users of the server's own

  /// Reads the list of users again.
  func refreshUsers() { ports.users?.refresh(now: dependencies.clock.now) }

  /// A number that changes when users are added, removed or changed.
  var usersGeneration: Int { ports.users?.generation ?? 0 }

  /// The identity with the name and rights that its user has now; `nil` if the user no longer exists, or
  /// has a newer password.
  func updated(_ identity: Identity) -> Identity? {
    guard identity.isListed, let users = ports.users else { return identity }
    guard let user = users.user(identity.user), user.owns(tokenIssuedAt: identity.issuedAt) else {
      return nil
    }
    var identity = identity
    identity.take(user)
    return identity
  }

  /// An earlier identity, with the rights that its bearer has now.
  ///
  /// - Throws: Why its token is no longer valid.
  func current(_ identity: Identity) throws(AuthenticationError) -> Identity {
    if identity.isExpired(at: dependencies.clock.now) { throw .expired }
    if isAbandoned, identity != .demo { throw .unverified }
    guard !isRevoked(identity), let current = updated(identity) else { throw .revoked }
    return current
  }

  /// Whether a session is valid: its tokens are neither taken back nor older than its user's password.
  func counts(_ session: Session) -> Bool {
    let identity = Identity(
      user: session.user, tokenID: session.id, issuedAt: session.renewedAt, grants: [])
    guard !isRevoked(identity) else { return false }
    return ports.users?.user(session.user)?.owns(tokenIssuedAt: session.renewedAt) ?? true
  }

  // MARK: Names

  /// The name that others see: what the token says of its bearer, never what the client does.
  ///
  /// A guest by a link belongs to no user and may choose a name; it is marked, so that it passes for no
  /// user's. In an open demo clients may choose any name.
  ///
  /// A name is one line: clients of former families cannot be asked for another, so it is made one.
  func name(of identity: Identity, claimed: String) -> String {
    let claimed = OneLine.made(of: claimed)
    if identity.isGuest {
      if isDemo || claimed.utf8.suffix(Self.guestMark.utf8.count).elementsEqual(Self.guestMark.utf8)
      {
        return claimed
      }
      return Self.shortened(claimed, to: settings.limits.nameBytesMax - Self.guestMark.utf8.count)
        + Self.guestMark
    }
    if identity.user.isEmpty { return claimed }
    let named = identity.name.map { OneLine.made(of: $0) }
    let name = named.flatMap { $0.isEmpty ? nil : $0 } ?? OneLine.made(of: identity.user)
    return Self.shortened(name, to: settings.limits.nameBytesMax)
  }

  private static let guestMark = " (guest)"

  private static func shortened(_ name: String, to bytesMax: Int) -> String {
    guard name.utf8.count > bytesMax else { return name }
    // From the beginning, since a claimed name can be as long as a message.
    var end = name.utf8.index(name.startIndex, offsetBy: max(0, bytesMax))
    while end.samePosition(in: name.unicodeScalars) == nil { name.utf8.formIndex(before: &end) }
    return String(name[..<end])
  }
}
