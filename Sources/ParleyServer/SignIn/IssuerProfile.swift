package import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyJSON

/// Parses the setting that describes an issuer of tokens: a name, followed by words.
///
///     whaler hmac-secret-file:/etc/parley/whaler user-claim:userID audience:hasura
///
/// Within a word, a space is written `%20`, a semicolon `%3B`, a percent sign `%25`.
package enum IssuerProfile {
  /// The reason why a text is not a valid profile.
  package struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The expected form, as it follows "expected" in an error message.
    package let description: String

    init(_ description: String) { self.description = description }
  }

  /// Minimum bytes of a shared secret; a shorter one could be found in minutes.
  static let secretBytesMin = 8

  /// Parses a profile.
  package static func profile(
    _ text: String, clockSkewMilliseconds: Int64 = 0
  ) throws(Problem) -> JWTIssuerProfile {
    let words = text.split { $0 == " " || $0 == "\t" }
    guard let name = words.first, name.utf8.count <= 64, name.utf8.allSatisfy(isOfName) else {
      throw Problem(
        "a name of letters, digits, - and _, and then words such as hmac-secret-file:FILE")
    }
    var profile = JWTIssuerProfile(
      name: String(name), files: [],
      policy: JWTPolicy(clockSkewMilliseconds: clockSkewMilliseconds))
    profile.policy.needsExpiry = true
    var seen: Set<String> = []
    for word in words.dropFirst() {
      guard let colon = word.utf8.firstIndex(of: UInt8(ascii: ":")),
        let value = LineText.unescaped(word[word.utf8.index(after: colon)...]), !value.isEmpty
      else {
        throw Problem("words such as hmac-secret-file:FILE after the name; \(name) has another")
      }
      let key = String(word[..<colon])
      guard seen.insert(key).inserted || repeatable.contains(key) else {
        throw Problem("\(key) once; \(name) contains it twice")
      }
      try read(key, value, into: &profile)
    }
    try check(profile)
    return profile
  }

  private static let repeatable: Set<String> = [
    "auth-key", "hmac-secret-file", "jwks-file", "audience", "issuer", "require", "document",
    "room", "folder", "room-token-audience",
  ]

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func read(
    _ key: String, _ value: String, into profile: inout JWTIssuerProfile
  ) throws(Problem) {
    func yes() throws(Problem) -> Bool {
      guard let yes = ValueText.bool(value) else { throw Problem("\(key): yes or no") }
      return yes
    }
    switch key {
    case "auth-key":
      let (id, path) = ValueText.named(value)
      profile.files.append(KeyFile(.publicKey(id: id), path: path))
    case "hmac-secret-file":
      let (id, path) = ValueText.named(value)
      profile.files.append(KeyFile(.secret(id: id), path: path))
    case "jwks-file": profile.files.append(KeyFile(.keySet, path: value))
    case "audience": profile.policy.audiences.append(value)
    case "issuer": profile.policy.issuers.append(value)
    case "user-claim": profile.policy.userClaim = value
    case "user-prefix": profile.policy.userPrefix = value
    case "require":
      guard let equals = value.utf8.firstIndex(of: UInt8(ascii: "=")), equals > value.startIndex
      else { throw Problem("require:CLAIM=VALUE, such as require:type=access") }
      profile.policy.requiredClaims.append(
        JWTPolicy.RequiredClaim(
          String(value[..<equals]), String(value[value.utf8.index(after: equals)...])))
    case "document": profile.policy.rights.append(try right(.documents, value))
    case "room": profile.policy.rights.append(try right(.rooms, value))
    case "folder": profile.policy.rights.append(try right(.folders, value))
    case "claim-rights": profile.policy.honoursClaimedRights = try yes()
    case "secret-size-min":
      guard let bytes = ValueText.bytes(value), (secretBytesMin...1024).contains(bytes) else {
        throw Problem("secret-size-min: a number of bytes from \(secretBytesMin) to 1024")
      }
      profile.secretBytesMin = bytes
    case "room-token-audience": profile.policy.roomTokens.audiences.append(value)
    case "bare-room-tokens": profile.policy.roomTokens.acceptsBare = try yes()
    default:
      throw Problem("\(known.joined(separator: ":, ")): after the name; got \(key):")
    }
  }

  private static let known = [
    "auth-key", "hmac-secret-file", "jwks-file", "audience", "issuer", "user-claim",
    "user-prefix", "require", "document", "room", "folder", "claim-rights", "secret-size-min",
    "room-token-audience", "bare-room-tokens",
  ]

  private static func right(_ kind: Grant.Kind, _ text: String) throws(Problem) -> GrantTemplate {
    do throws(GrantTextError) {
      return try GrantTemplate(kind, text: text)
    } catch {
      let word = kind == .rooms ? "room" : kind == .folders ? "folder" : "document"
      throw Problem("\(word):MATCH=MAY; \(error)")
    }
  }

  private static func check(_ profile: JWTIssuerProfile) throws(Problem) {
    let name = profile.name ?? ""
    guard !profile.files.isEmpty else {
      throw Problem(
        "a key of the issuer's: auth-key:, hmac-secret-file: or jwks-file:; \(name) has none")
    }
    guard !Identity.isReserved(profile.policy.userPrefix) else {
      throw Problem(
        "a user-prefix that does not begin with \(Identity.programPrefix) or \(Identity.guestPrefix)"
      )
    }
    try check(profile.policy)
  }

  /// Throws if room tokens share an audience with other tokens: their kind would be ambiguous.
  package static func check(_ policy: JWTPolicy) throws(Problem) {
    for audience in policy.roomTokens.audiences
    where policy.audiences.contains(where: { $0.isExactly(audience) }) {
      throw Problem("a room-token-audience that is not an audience of other tokens as well")
    }
  }
}
