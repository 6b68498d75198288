public import GatewayPorts

/// Checks JSON Web Tokens with keys from files, which are read again when they change.
///
/// A token is checked with the keys of its `kid`, and with those that have no name; the algorithm
/// is the key's own, and a token that names another is refused. Keys are parsed once for each
/// change of their file.
///
/// One thread at a time.
public final class JWTAuthenticator: Authenticator {
  private struct Source {
    let file: KeyFile
    /// `nil` for a key that is in memory only.
    var watch: FileWatch?
    var keys: [JWTKey]
  }

  private var sources: [Source]
  private let policy: JWTPolicy
  private let log: (any LogSink)?

  /// Reads the keys.
  ///
  /// - Parameter log: told when a file has changed and cannot be used; the keys known before stay.
  public init(
    files: [KeyFile], policy: JWTPolicy = JWTPolicy(), log: (any LogSink)? = nil
  ) throws(JWTKeyError) {
    var sources: [Source] = []
    for file in files {
      let watch = FileWatch(path: file.path)
      sources.append(Source(file: file, watch: watch, keys: try file.keys()))
    }
    guard !sources.isEmpty else { throw .empty }
    self.sources = sources
    self.policy = policy
    self.log = log
  }

  /// Checks with one secret that is in memory.
  public init(secret: [UInt8], policy: JWTPolicy = JWTPolicy()) throws(JWTKeyError) {
    let key = try JWTKey(id: nil, secret: secret, file: "memory")
    sources = [Source(file: KeyFile(.secret(id: nil), path: ""), watch: nil, keys: [key])]
    self.policy = policy
    log = nil
  }

  /// Checks a token: form, key, signature, then claims.
  public func authenticate(
    _ token: String, now: Timestamp
  ) throws(AuthenticationError) -> Identity {
    reloadIfChanged(now: now)
    return try policy.identity(try claims(of: token), now: now)
  }

  /// Checks a room's token: signature, then room, user and deadline.
  ///
  /// Servers of the Twake family write the deadline where others write when a token was made; a
  /// token of the usual kind is therefore never taken for one.
  public func admits(_ roomToken: String, to room: String, user: String, now: Timestamp) -> Bool {
    reloadIfChanged(now: now)
    guard let claims = try? claims(of: roomToken), let deadline = claims.issuedAt,
      deadline > now, (claims.expiresAt ?? .max) > now, (claims.notBefore ?? .min) <= now
    else { return false }
    return claims.name?.utf8.elementsEqual(room.utf8) ?? false
      && claims.subject?.utf8.elementsEqual(user.utf8) ?? false
  }

  /// What a token says whose signature holds, whatever its time and audience.
  package func claims(of token: String) throws(AuthenticationError) -> JWTClaims {
    let token = try JSONWebToken(token)
    try verify(token)
    return try JWTClaims(json: token.payload)
  }

  private func verify(_ token: JSONWebToken) throws(AuthenticationError) {
    var isKnown = false
    var hasAlgorithm = false
    for source in sources {
      for key in source.keys where key.id == nil || token.keyID == nil || key.id == token.keyID {
        isKnown = true
        guard key.algorithm == token.algorithm else { continue }
        hasAlgorithm = true
        if key.verifies(token.signature, of: token.signed) { return }
      }
    }
    guard isKnown else { throw .unknownKey }
    guard hasAlgorithm else { throw .algorithm }
    throw .signature
  }

  private func reloadIfChanged(now: Timestamp) {
    for index in sources.indices {
      guard sources[index].watch?.hasChanged(now: now) ?? false else { continue }
      let file = sources[index].file
      do throws(JWTKeyError) {
        sources[index].keys = try file.keys()
        log?.write(
          .notice, "keys read again",
          [("file", file.path), ("keys", "\(sources[index].keys.count)")])
      } catch {
        log?.write(.error, "keys not read again; those known before stay", [("error", "\(error)")])
      }
    }
  }
}
