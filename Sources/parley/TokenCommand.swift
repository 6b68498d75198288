import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import Glibc
import ParleyServer

/// The commands `parley token make` and `parley token inspect`.
enum TokenCommand {
  /// Runs the subcommand that the first argument names.
  static func run(_ arguments: [String]) throws {
    let rest = Array(arguments.dropFirst())
    switch arguments.first {
    case "make": try make(rest)
    case "inspect": try inspect(rest)
    default: throw UsageError.unknown(arguments.first, among: ["make", "inspect"])
    }
  }

  private static let flags = [
    "user", "name", "document", "room", "folder", "expires-in", "key", "secret", "kid", "audience",
    "issuer",
    "id", "profile", "config",
  ]

  private static func make(_ arguments: [String]) throws {
    var values: [String: [String]] = [:]
    var rest = arguments[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("--"), flags.contains(String(word.dropFirst(2))) else {
        throw UsageError("no flag is called \(word)")
      }
      guard let value = rest.popFirst() else { throw UsageError("\(word) needs a value") }
      values[String(word.dropFirst(2)), default: []].append(value)
    }
    guard let user = values["user"]?.last, !user.isEmpty else {
      throw UsageError("--user is missing")
    }
    let now = Program.now
    let profile = try profile(values)
    var claims = JWTSigner.Claims(
      user: user, name: values["name"]?.last, tokenID: values["id"]?.last ?? RandomNames().next(),
      issuer: values["issuer"]?.last ?? profile?.policy.issuers.first,
      audience: values["audience"]?.last ?? profile?.policy.audiences.first, issuedAt: now)
    if let profile {
      claims.userClaim = profile.policy.userClaim
      claims.extraClaims = profile.policy.requiredClaims
      claims.omitsEmptyRights = true
    }
    let lifetime = values["expires-in"]?.last ?? "1h"
    if lifetime != "never" {
      guard let milliseconds = Configuration.milliseconds(lifetime), milliseconds > 0 else {
        throw UsageError("--expires-in expects a time with its unit, such as 20m, or never")
      }
      claims.expiresAt = now + Int64(milliseconds)
    }
    for text in values["document"] ?? [] { claims.grants.append(try Grant(.documents, text: text)) }
    for text in values["room"] ?? [] { claims.grants.append(try Grant(.rooms, text: text)) }
    for text in values["folder"] ?? [] { claims.grants.append(try Grant(.folders, text: text)) }
    let signer = try signer(values, profile)
    Terminal.output(signer.token(claims) + "\n")
  }

  private static func signer(
    _ values: [String: [String]], _ profile: JWTIssuerProfile?
  ) throws -> JWTSigner {
    let keyID = values["kid"]?.last
    switch (values["key"]?.last, values["secret"]?.last) {
    case (let key?, nil): return try JWTSigner(privateKeyFile: key, keyID: keyID)
    case (nil, let secret?):
      return try JWTSigner(secretFile: secret, keyID: keyID, bytesMin: profile?.secretBytesMin)
    case (nil, nil):
      for file in profile?.files ?? [] {
        guard case .secret(let id) = file.kind else { continue }
        return try JWTSigner(
          secretFile: file.path, keyID: keyID ?? id, bytesMin: profile?.secretBytesMin)
      }
      throw UsageError("give --key or --secret, one of the two")
    case (_?, _?): throw UsageError("give --key or --secret, one of the two")
    }
  }

  /// Returns the configuration's issuer profile for the token; `nil` without `--profile`.
  private static func profile(_ values: [String: [String]]) throws -> JWTIssuerProfile? {
    guard let name = values["profile"]?.last else {
      guard values["config"] == nil else { throw UsageError("--config is for --profile") }
      return nil
    }
    let loaded = try ConfigurationLoader(environment: Program.environment).load(
      values["config"].map { ["--config", $0.last ?? ""] } ?? [])
    Program.warn(of: loaded.injected)
    guard let profile = loaded.configuration.profiles.first(where: { $0.name == name }) else {
      throw UsageError("the configuration has no issuer-profile \(name)")
    }
    return profile
  }

  private static func inspect(_ arguments: [String]) throws {
    guard var token = arguments.first, !token.hasPrefix("--") else {
      throw UsageError("expected a token, or - to read it from standard input")
    }
    if token == "-" { token = readLine() ?? "" }
    guard let parts = JWTInspection.parts(of: token) else {
      throw CommandFailure("expected a JSON Web Token, but the text is not one")
    }
    Terminal.output("header  \(printable(parts.header))\nclaims  \(printable(parts.claims))\n")
    let loaded = try Program.configuration(arguments.dropFirst())
    guard let authenticator = try loaded.configuration.authenticator(log: nil) else {
      Terminal.output("not checked: no key is configured\n")
      return
    }
    do throws(AuthenticationError) {
      let (identity, profile) = try authenticator.check(token, now: Program.now)
      let left = identity.expiresAt.map { "for another \(($0 - Program.now) / 1000) s" }
      let judge = profile.name.map { ", by issuer profile \($0) as \(printable(identity.user))" }
      Terminal.output("accepted \(left ?? "without an end")\(judge ?? "")\n")
    } catch {
      Terminal.output("refused: \(error)\n")
      throw Program.ExitCode.failure
    }
  }

  /// Returns a text with spaces instead of control characters.
  private static func printable(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      result.unicodeScalars.append(
        scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) ? " " : scalar)
    }
    return result
  }
}
