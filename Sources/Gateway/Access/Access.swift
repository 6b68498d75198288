import ParleyGatewayPorts
import SocketMessages

/// The part of the gateway that authenticates clients, and checks that tokens are still valid.
///
/// Only this part uses the authenticator, API keys, the server's own tokens, revocations and the
/// source of users. The other parts receive identities, or the reason for a rejection.
final class Access: Part {
  let board: Switchboard
  /// The rates of users and addresses, and their usage.
  var rates: RateLimiter

  /// Whether every client may do everything, because tokens cannot be checked.
  let isDemo: Bool
  private let ports: Ports

  /// Sources of tokens and rights; a feature whose source is `nil` is not offered.
  struct Ports {
    let authenticator: (any Authenticator)?
    let apiKeys: (any APIKeys)?
    let ownTokens: (any OwnTokens)?
    let revocations: (any Revocations)?
    let users: (any UserSource)?
    /// The limits shared with other gateways of the process.
    let limits: (any SharedLimits)?
  }

  init(_ board: Switchboard, _ ports: Ports) {
    self.board = board
    self.ports = ports
    isDemo = board.settings.isDemo && ports.authenticator == nil
    rates = RateLimiter(
      board.allowances, clock: board.dependencies.clock, shared: ports.limits)
  }

  // MARK: Received tokens

  /// The token of a request: from `Authorization`, with or without `Bearer`, or from `token` in the
  /// query if the settings allow it.
  func token(in head: RequestHead) -> String? {
    if let header = head.headers["authorization"], !header.isEmpty {
      let scheme = header.utf8.prefix(7)
      // Compares without regard to case: in ASCII, bit 0x20 alone distinguishes a letter's cases.
      let isBearer = scheme.elementsEqual("bearer ".utf8) { $0 | 0x20 == $1 }
      return isBearer ? String(header.dropFirst(7)) : header
    }
    return settings.allowsTokenInURL ? QueryFields(head.query)["token"] : nil
  }

  /// Returns the identity by a token that is valid, not revoked, and verifiable now.
  func identity(for token: String?) throws(AuthenticationError) -> Identity {
    let identity = try unrevokedIdentity(for: token)
    if isRevoked(identity) { throw .revoked }
    if isCutOff, identity != .demo { throw .unverified }
    return identity
  }

  /// Maximum bytes of a token, which is also the maximum head of a request.
  private static let tokenBytesMax = 16 << 10

  private func unrevokedIdentity(for token: String?) throws(AuthenticationError) -> Identity {
    if let token, token.utf8.count > Self.tokenBytesMax { throw .malformed }
    // Tokens of links are valid in demo mode too, and restrict the caller's rights.
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

  /// Rejects a token whose user has an id reserved for links or programs.
  private func unreserved(_ identity: Identity) throws(AuthenticationError) -> Identity {
    guard !Identity.isReserved(identity.user) else { throw .claims }
    return identity
  }

  /// Whether a backend's token for one room and one user admits the user to the room.
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

  /// Authenticates a user by token, or a program by API key.
  func bearer(of token: String?) throws(AuthenticationError) -> Identity {
    guard let token, isKey(token) else { return try identity(for: token) }
    guard let program = ports.apiKeys?.identity(for: token, now: dependencies.clock.now) else {
      throw .unknownKey
    }
    return program
  }

  // MARK: Issued tokens

  /// Whether the server issues tokens.
  var makesTokens: Bool { ports.ownTokens != nil }

  /// Returns a token that contains an identity; `nil` if the server issues none.
  func token(for identity: Identity) -> String? { ports.ownTokens?.token(for: identity) }

  /// Returns the key that opens a link; `nil` if the server issues none.
  func key(ofLink id: String) -> String? { ports.ownTokens?.key(ofLink: id) }

  /// Whether a token issued by the server is valid at a time; one that is too long or contains too
  /// many rights is not.
  func opens(_ token: String, at time: Timestamp) -> Bool {
    (try? ports.ownTokens?.identity(of: token, now: time)) != nil
  }

  // MARK: Revoking tokens

  /// Whether the token of an identity was revoked.
  func isRevoked(_ identity: Identity) -> Bool {
    ports.revocations?.isRevoked(identity) ?? false
  }

  /// Milliseconds since all revocations of other gateways were known.
  var revocationsAge: Int64 {
    ports.revocations?.age(uptime: dependencies.clock.uptime) ?? 0
  }

  /// Revokes tokens, all or none. Calls `proceed` after the revocations are on disk, or failed.
  func revoke(_ meant: [Revocation], then proceed: @escaping (RevocationError?) -> Void) {
    guard let revocations = ports.revocations else { return proceed(.unwritable) }
    revocations.add(meant, then: proceed)
  }

  /// Reads revocations made by other gateways.
  func refreshRevocations() { ports.revocations?.refresh(now: dependencies.clock.now) }

  /// A counter that changes with each revocation.
  var revocationsGeneration: Int { ports.revocations?.generation ?? 0 }

  // MARK: Listed users

  /// Reloads the list of users.
  func refreshUsers() { ports.users?.refresh(now: dependencies.clock.now) }

  /// A counter that changes when a user is added, removed or changed.
  var usersGeneration: Int { ports.users?.generation ?? 0 }

  /// Whether a person might have the right to read a note. Of persons who are not listed, the rights
  /// are in their tokens.
  func mightRead(
    _ person: PersonID, _ note: DocumentID, _ folder: FolderPath, _ createdAt: Timestamp
  ) -> Bool {
    guard let users = ports.users else { return true }
    guard let user = users.user(person.text) else { return ports.authenticator != nil }
    return Identity(user: user.id, grants: user.grants)
      .verbs(onNote: note, in: folder, madeAt: createdAt).contains(.read)
  }

  /// Returns the identity with its user's current name and rights; `nil` if the user was deleted,
  /// or the token is older than the user's password.
  func updated(_ identity: Identity) -> Identity? {
    guard identity.hasSourceRights, let users = ports.users else { return identity }
    guard let user = users.user(identity.user), user.owns(tokenIssuedAt: identity.issuedAt) else {
      return nil
    }
    var identity = identity
    identity.take(user)
    return identity
  }

  /// Returns an earlier identity with its user's current rights.
  ///
  /// - Throws: The reason that its token is no longer valid.
  func current(_ identity: Identity) throws(AuthenticationError) -> Identity {
    if identity.isExpired(at: dependencies.clock.now) { throw .expired }
    if isAbandoned, identity != .demo { throw .unverified }
    guard !isRevoked(identity), let current = updated(identity) else { throw .revoked }
    return current
  }

  /// Whether a session's tokens are valid: neither revoked nor older than the user's password.
  func counts(_ session: Session) -> Bool {
    let identity = Identity(
      user: session.user, tokenID: session.id, issuedAt: session.renewedAt, grants: [])
    guard !isRevoked(identity) else { return false }
    return ports.users?.user(session.user)?.owns(tokenIssuedAt: session.renewedAt) ?? true
  }

  // MARK: Names

  /// Returns the name that other users see. It comes from the token, not from the client.
  ///
  /// A guest by a link has no user and may choose a name; a mark distinguishes it from users'
  /// names. In an open demo every client may choose its name.
  ///
  /// A name is one line: line breaks become spaces, because older clients cannot be asked for
  /// another name.
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
    // Seek from the beginning, since a claimed name can be as long as a message.
    var end = name.utf8.index(name.startIndex, offsetBy: max(0, bytesMax))
    while end.samePosition(in: name.unicodeScalars) == nil { name.utf8.formIndex(before: &end) }
    return String(name[..<end])
  }
}
