public import ParleyGatewayPorts

/// The keys of one issuer, and the rules for its tokens.
public struct JWTIssuerProfile: Sendable, Hashable {
  /// The name in the configuration; `nil` for the default issuer.
  public var name: String?
  /// The files that contain its keys.
  public var files: [KeyFile]
  /// The rules for its tokens.
  public var policy: JWTPolicy
  /// The minimum length of a shared secret, in bytes.
  public var secretBytesMin: Int

  /// Creates a profile.
  ///
  /// - Parameter secretBytesMin: `nil` for 32 bytes, the minimum for HMAC with SHA-256.
  public init(
    name: String?, files: [KeyFile], policy: JWTPolicy = JWTPolicy(), secretBytesMin: Int? = nil
  ) {
    self.name = name
    self.files = files
    self.policy = policy
    self.secretBytesMin = secretBytesMin ?? JWTKey.secretBytesMin
  }
}

/// A verifier of JSON Web Tokens with keys from files, which are read again when they change.
///
/// A token is verified with the keys that its `kid` names and with those without an id. The
/// algorithm is the key's own; a token with another algorithm is rejected. The claims must satisfy
/// the rules of the profile that contains the signing key, and no key belongs to two profiles. A
/// file's keys are parsed once after each change.
///
/// Must be used by one thread at a time.
public final class JWTAuthenticator: Authenticator {
  private struct Source {
    let file: KeyFile
    /// The index of the profile that contains the file.
    let profile: Int
    /// `nil` for a key that is only in memory.
    var watch: FileWatch?
    var keys: [JWTKey]
  }

  private let profiles: [JWTIssuerProfile]
  private var sources: [Source] = []
  private let log: (any LogSink)?
  /// The time until which omitted rights are not logged again.
  private var nextWarning: Timestamp = 0
  private static let warningMilliseconds: Timestamp = 60_000

  /// Reads the keys of several issuers.
  ///
  /// - Parameter log: Receives a line about short secrets, and about a changed file that is
  ///   invalid; its previous keys remain valid.
  /// - Throws: `JWTKeyError` for a file without a usable key, and for a key that belongs to two
  ///   profiles.
  public init(
    profiles: [JWTIssuerProfile], log: (any LogSink)? = nil
  ) throws(JWTKeyError) {
    self.profiles = profiles
    self.log = log
    for (index, profile) in profiles.enumerated() {
      for file in profile.files {
        let watch = FileWatch(path: file.path)
        let keys = try file.keys(secretBytesMin: profile.secretBytesMin)
        try refuseShared(keys, of: file, profile: index)
        sources.append(Source(file: file, profile: index, watch: watch, keys: keys))
      }
    }
    guard !sources.isEmpty else { throw .empty }
    for warning in warnings { log?.write(.warning, "short secret", [("hint", warning)]) }
  }

  /// Reads the keys of one issuer.
  public convenience init(
    files: [KeyFile], policy: JWTPolicy = JWTPolicy(), log: (any LogSink)? = nil
  ) throws(JWTKeyError) {
    try self.init(profiles: [JWTIssuerProfile(name: nil, files: files, policy: policy)], log: log)
  }

  /// Verifies tokens with one secret in memory.
  public init(secret: [UInt8], policy: JWTPolicy = JWTPolicy()) throws(JWTKeyError) {
    let key = try JWTKey(id: nil, secret: secret, file: "memory")
    let file = KeyFile(.secret(id: nil), path: "")
    profiles = [JWTIssuerProfile(name: nil, files: [file], policy: policy)]
    sources = [Source(file: file, profile: 0, watch: nil, keys: [key])]
    log = nil
  }

  /// Warnings about secrets that are accepted although they are too short, one sentence each.
  public var warnings: [String] {
    sources.filter { $0.keys.contains(where: \.isShort) }.map { source in
      "the secret in \(source.file.path) has fewer than \(JWTKey.secretBytesMin) bytes: an "
        + "owner of a token can guess it by trying; change it where the tokens are made as soon as you can"
    }
  }

  /// Verifies a token: form, key, signature, then claims.
  public func authenticate(
    _ token: String, now: Timestamp
  ) throws(AuthenticationError) -> Identity {
    try check(token, now: now).identity
  }

  /// Verifies a token, and returns the profile whose rules were applied.
  package func check(
    _ token: String, now: Timestamp
  ) throws(AuthenticationError) -> (identity: Identity, profile: JWTIssuerProfile) {
    reloadIfChanged(now: now)
    let (claims, profile) = try read(token)
    let identity = try profile.policy.identity(claims, now: now)
    if profile.policy.omitsRights(of: identity, claims) { warnOfOmittedRights(profile, now: now) }
    return (identity, profile)
  }

  /// Logs, with a minimum interval, that a user's id does not form a valid name. The id is omitted,
  /// since it is external input.
  private func warnOfOmittedRights(_ profile: JWTIssuerProfile, now: Timestamp) {
    guard now >= nextWarning || now < nextWarning - Self.warningMilliseconds else { return }
    nextWarning = now + Self.warningMilliseconds
    log?.write(
      .warning, "rights with {user} not granted",
      [
        ("profile", profile.name ?? "default"),
        (
          "reason",
          "the user's id has a *, a slash, a blank or invisible characters, or is too long"
        ),
      ])
  }

  /// Verifies a room token: signature, the issuer's rule for room tokens, room, user and deadline.
  ///
  /// Servers of the Twake family write the deadline into `iat`. A token with an actual time of
  /// issue is therefore never accepted as a room token.
  public func admits(_ roomToken: String, to room: RoomName, user: String, now: Timestamp) -> Bool {
    reloadIfChanged(now: now)
    guard let (claims, profile) = try? read(roomToken) else { return false }
    return profile.policy.admits(claims, to: room, user: user, now: now)
  }

  /// Returns the claims of a token with a valid signature. Time and audience are not checked.
  package func claims(of token: String) throws(AuthenticationError) -> JWTClaims {
    try read(token).claims
  }

  private func read(
    _ token: String
  ) throws(AuthenticationError) -> (claims: JWTClaims, profile: JWTIssuerProfile) {
    let token = try JSONWebToken(token)
    let profile = profiles[try verify(token)]
    return (try JWTClaims(json: token.payload, noting: profile.policy.notedClaims), profile)
  }

  /// Returns the index of the profile whose key has signed a token.
  private func verify(_ token: JSONWebToken) throws(AuthenticationError) -> Int {
    var isKnown = false
    var hasAlgorithm = false
    for source in sources {
      for key in source.keys where key.id == nil || token.keyID == nil || key.id == token.keyID {
        isKnown = true
        guard key.algorithm == token.algorithm else { continue }
        hasAlgorithm = true
        if key.verifies(token.signature, of: token.signed) { return source.profile }
      }
    }
    guard isKnown else { throw .unknownKey }
    guard hasAlgorithm else { throw .algorithm }
    throw .signature
  }

  /// Throws if another profile contains a key of a file.
  private func refuseShared(
    _ keys: [JWTKey], of file: KeyFile, profile: Int
  ) throws(JWTKeyError) {
    for source in sources where source.profile != profile {
      guard keys.contains(where: { key in source.keys.contains { $0.isSame(as: key) } }) else {
        continue
      }
      throw .shared(file: file.path, other: source.file.path)
    }
  }

  private func reloadIfChanged(now: Timestamp) {
    for index in sources.indices {
      guard sources[index].watch?.hasChanged(now: now) ?? false else { continue }
      let file = sources[index].file
      let profile = sources[index].profile
      do throws(JWTKeyError) {
        let keys = try file.keys(secretBytesMin: profiles[profile].secretBytesMin)
        try refuseShared(keys, of: file, profile: profile)
        sources[index].keys = keys
        log?.write(
          .notice, "keys read again",
          [("file", file.path), ("keys", "\(sources[index].keys.count)")])
      } catch {
        log?.write(.error, "keys not read again; those known before stay", [("error", "\(error)")])
      }
    }
  }
}
