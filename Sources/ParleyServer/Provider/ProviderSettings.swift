import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyJSON

/// The parsed settings of the identity provider, and the rights of its users.
struct ProviderSettings: Sendable {
  /// The provider's issuer URL, as in its tokens.
  let issuer: String
  /// The provider's name on the page.
  let name: String
  /// The client id of this server at the provider.
  let clientID: String
  let clientSecret: String?
  /// The page's public address, without a slash at its end.
  let page: String
  let scopes: [String]
  let userClaim: String
  let userPrefix: String
  let groupsClaim: String
  let rights: [GrantTemplate]
  let groups: [ProviderConfiguration.Group]
  /// Allowed domains of email addresses, in lower case.
  let emailDomains: [String]
  let clockSkewMilliseconds: Int64
  let sessionMilliseconds: Int64
  let timeoutMilliseconds: Int
  /// The file of users, which contains the groups that settings name; `nil` if missing.
  var users: UserFile?

  /// The path to which the provider redirects browsers back.
  static let returnPath = "/api/user/provider/return"
  /// The path at which a sign-in begins.
  static let beginPath = "/api/user/provider"

  /// The redirect URI, which has to be registered at the provider.
  var returnAddress: String { page + Self.returnPath }

  /// The address of the provider's metadata (OpenID Connect Discovery 1.0, section 4).
  var descriptionAddress: String {
    (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer)
      + "/.well-known/openid-configuration"
  }

  /// Whether browsers reach the page only by HTTPS.
  var isEncrypted: Bool { page.hasPrefix("https://") }
}

/// The settings that map the provider's claims to a user and rights.
extension ProviderSettings {
  /// Returns the user's rights; groups that no setting names have no effect.
  ///
  /// - Complexity: O(*n* · *m*) for *n* groups in the settings and *m* groups of the user.
  func grants(of user: ProvidedUser) -> [Grant] {
    let shared = groups(of: user).flatMap(\.groups).flatMap { users?.grants(ofGroup: $0) ?? [] }
    return ownGrants(of: user) + shared
  }

  /// Whether rights with `{user}` are omitted, because the user's id is not a plain name.
  func omitsRights(of user: ProvidedUser) -> Bool {
    ownGrants(of: user).count < templates(of: user).count
  }

  private func groups(of user: ProvidedUser) -> [ProviderConfiguration.Group] {
    groups.filter { group in
      user.groups.contains { $0.isExactly(group.name) }
    }
  }

  private func templates(of user: ProvidedUser) -> [GrantTemplate] {
    rights + groups(of: user).flatMap(\.rights)
  }

  /// Returns the rights written in the settings, with the user's id inserted.
  private func ownGrants(of user: ProvidedUser) -> [Grant] {
    let templates = templates(of: user)
    // The prefix may have changed since the user signed in.
    guard user.id.utf8.starts(with: userPrefix.utf8) else { return templates.grants(for: user.id) }
    let id = String(decoding: user.id.utf8.dropFirst(userPrefix.utf8.count), as: UTF8.self)
    return templates.grants(for: id, prefix: userPrefix)
  }

  /// Whether the ID token lacks claims that the user info may contain.
  func wantsMore(than claims: JSONFields) -> Bool {
    let isNamed = ["name", "preferred_username", "email"].contains { claims[$0]?.string != nil }
    let isAddressed = claims["email"] != nil && claims["email_verified"] != nil
    let needsAddress = !emailDomains.isEmpty || isEmail(userClaim)
    return !isNamed || (needsAddress && !isAddressed)
      || (!isSubject(userClaim) && value(userClaim, in: claims) == nil)
      || (!groups.isEmpty && value(groupsClaim, in: claims) == nil)
  }

  /// Returns the user that the claims describe.
  ///
  /// - Throws: `ProviderFailure` if the user may not sign in.
  func user(subject: String, claims: JSONFields) throws(ProviderFailure) -> ProvidedUser {
    let address = verifiedAddress(in: claims)
    if !emailDomains.isEmpty {
      guard let domain = address?.split(separator: "@").last,
        emailDomains.contains(where: { domain.isExactly($0) })
      else {
        throw ProviderFailure(.notAllowed, "no verified address of an oidc-email-domain")
      }
    }
    let id =
      isSubject(userClaim)
      ? subject : isEmail(userClaim) ? address : value(userClaim, in: claims)?.string
    guard let id, UserLine.isName(userPrefix + id), !Identity.isReserved(userPrefix + id) else {
      throw ProviderFailure(
        .notAllowed, "the claim \(userClaim) is missing, not verified, or no name for a user")
    }
    // The same name in two spellings would be two users who look alike.
    if let account = users?.account(named: userPrefix + id),
      !account.id.isExactly(userPrefix + id)
    {
      throw ProviderFailure(.notAllowed, "users-file has this user by another spelling of the name")
    }
    let user = ProvidedUser(
      id: userPrefix + id, name: name(in: claims) ?? id, groups: known(groupsClaim, in: claims))
    guard !grants(of: user).isEmpty else {
      throw ProviderFailure(
        .notAllowed,
        omitsRights(of: user)
          ? "the user's id is no plain name, and only rights with {user} apply"
          : "in no oidc-group, and there is no oidc-right")
    }
    return user
  }

  private func isSubject(_ claim: String) -> Bool { claim.isExactly("sub") }
  private func isEmail(_ claim: String) -> Bool { claim.isExactly("email") }

  /// Returns the verified email address in lower case; `nil` if missing.
  private func verifiedAddress(in claims: JSONFields) -> String? {
    let flag = claims["email_verified"]
    guard flag?.boolean ?? (flag?.string.map { $0.isExactly("true") } ?? false),
      let text = claims["email"]?.string, text.split(separator: "@").count == 2
    else { return nil }
    return Self.lowercased(text)
  }

  /// Returns an address or domain in lower case. Only ASCII letters change, since the lower case of
  /// some other letters is ASCII.
  static func lowercased(_ text: String) -> String {
    let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
    return String(
      decoding: text.utf8.map { capitals.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  private func name(in claims: JSONFields) -> String? {
    for claim in ["name", "preferred_username", "email"] {
      guard let text = claims[claim]?.string else { continue }
      let name = UserLine.shownName(text)
      if !name.isEmpty { return name }
    }
    return nil
  }

  /// Returns the groups in a claim that the settings name.
  private func known(_ claim: String, in claims: JSONFields) -> [String] {
    guard let value = value(claim, in: claims) else { return [] }
    let all = value.elements?.compactMap(\.string) ?? [value.string].compactMap(\.self)
    let known = Set(all.map { Array($0.utf8) })
    return groups.map(\.name).filter { known.contains(Array($0.utf8)) }
  }

  /// Returns the value of a claim, or the value at a path of claims separated by full stops.
  private func value(_ claim: String, in claims: JSONFields) -> JSONValue? {
    if let value = claims[claim] { return value }
    var fields: JSONFields? = claims
    var value: JSONValue?
    for step in claim.split(separator: ".") {
      value = fields?[String(step)]
      fields = value?.fields
    }
    return value
  }
}
