extension Configuration {
  /// The cookie in which a browser stores a session's refresh token.
  var sessionCookie: SessionCookie {
    SessionCookie(
      isEncrypted: publicURL.map { $0.hasPrefix("https://") } ?? (certificatePath != nil),
      publicURL: publicURL)
  }

  /// Returns the parsed provider settings with the client secret; `nil` if there is no provider.
  ///
  /// - Throws: `FileError` if the secret cannot be read.
  func providerSettings() throws(FileError) -> ProviderSettings? {
    guard let issuer = provider.issuer, let clientID = provider.clientID, let publicURL else {
      return nil
    }
    return ProviderSettings(
      issuer: issuer, name: provider.name ?? HookAddress(issuer)?.host ?? issuer,
      clientID: clientID, clientSecret: try clientSecret(), page: ValueText.withoutSlash(publicURL),
      scopes: provider.scopes, userClaim: provider.userClaim, userPrefix: provider.userPrefix,
      groupsClaim: provider.groupsClaim,
      rights: provider.rights.compactMap { try? ProviderConfiguration.right($0) },
      groups: provider.groups.compactMap { try? ProviderConfiguration.Group($0) },
      emailDomains: provider.emailDomains.map(ProviderSettings.lowercased),
      clockSkewMilliseconds: Int64(clockSkew.milliseconds),
      sessionMilliseconds: Int64(provider.sessionTime.milliseconds),
      timeoutMilliseconds: provider.timeout.milliseconds)
  }

  /// Throws if the provider's secret cannot be read.
  package func checkProvider() throws(FileError) { _ = try providerSettings() }

  private func clientSecret() throws(FileError) -> String? {
    guard let path = provider.clientSecretFile else { return nil }
    do throws(FileError) {
      var text = try Files.text(at: path)[...]
      while let last = text.unicodeScalars.last, last == "\n" || last == "\r" {
        text.unicodeScalars.removeLast()
      }
      guard !text.isEmpty else { throw FileError("it is empty") }
      return String(text)
    } catch {
      throw FileError("oidc-client-secret-file \(path) cannot be used: \(error)")
    }
  }

  /// Checks the provider's settings for conflicts.
  func validateProvider() throws(ConfigurationError) {
    guard provider.issuer != nil || provider.clientID != nil else { return }
    guard provider.issuer != nil, provider.clientID != nil else {
      throw .conflict("oidc-issuer and oidc-client-id belong together; give both, or neither")
    }
    guard publicURL != nil else {
      throw .conflict(
        "oidc-issuer requires public-url, such as https://notes.example.org: the provider "
          + "redirects people back there, to \(ProviderSettings.returnPath)")
    }
    guard !provider.rights.isEmpty || !provider.groups.isEmpty else {
      throw .conflict(
        "oidc-issuer requires oidc-right or oidc-group, or people who sign in have no rights; "
          + "for example oidc-right = document:*=read,write,presence,manage")
    }
    guard provider.scopes.contains("openid") else {
      throw .conflict("oidc-scope must include openid: without it, the provider sends no ID token")
    }
  }

  /// Whether a text is a valid address of a provider or of this server: encrypted, or on this
  /// machine.
  static func isPrivateAddress(_ text: String) -> Bool {
    isPageAddress(text) && HookAddress(text)?.isPrivate ?? false
  }

  /// Whether a text is a valid page address, to which text such as an invitation's token can be
  /// appended.
  package static func isPageAddress(_ text: String) -> Bool {
    HookAddress(text) != nil && !text.utf8.contains(UInt8(ascii: "?"))
      && !text.utf8.contains(UInt8(ascii: "#"))
  }

  /// The settings of an identity provider.
  static let providerSettingList: [Setting] = [
    .text(
      "public-url", \.publicURL, .access, "URL", .privateAddress,
      help:
        "URL of the page as browsers know it; the identity provider redirects people back "
        + "to it."
    ),
    .text(
      "oidc-issuer", \.provider.issuer, .access, "URL", .privateAddress,
      help:
        "Issuer URL of the OpenID Connect identity provider for sign-in, exactly as in its "
        + "tokens. With it, every client needs a token."),
    .text(
      "oidc-client-id", \.provider.clientID, .access, "NAME",
      help: "Client id of this server at the identity provider."),
    .text(
      "oidc-client-secret-file", \.provider.clientSecretFile, .access, "FILE",
      help: "File with the client secret of oidc-client-id, if the identity provider issued one."),
    .text(
      "oidc-name", \.provider.name, .access, "NAME",
      help: "Name of the identity provider on the sign-in button; by default its host."),
    .list(
      "oidc-scope", \.provider.scopes, .access, "SCOPE", expected: "scopes such as openid, profile",
      help: "Scopes to request from the identity provider. Repeat for more.",
      isValid: { !$0.isEmpty && $0.utf8.allSatisfy { (0x21...0x7e).contains($0) } }),
    .text(
      "oidc-user-claim", \.provider.userClaim, .access, "CLAIM",
      help:
        "Claim with the user's id; email is accepted only if the provider has verified the "
        + "address."),
    .text(
      "oidc-user-prefix", \.provider.userPrefix, .access, "TEXT", mayBeEmpty: true,
      help:
        "Prefix of the user's id, which keeps it different from the ids of other issuers' "
        + "users."),
    .text(
      "oidc-groups-claim", \.provider.groupsClaim, .access, "CLAIM",
      help: "Claim with the user's groups, or a path to it such as realm_access.roles."),
    .list(
      "oidc-right", \.provider.rights, .access, "RIGHT", separator: ";",
      expected: "rights such as document:*=read",
      help:
        "Right of everyone who signs in there, as document:MATCH=MAY, folder:MATCH=MAY or "
        + "room:MATCH=MAY; {user} stands for the user's id. Repeat for more, or separate them "
        + "by semicolons.",
      problem: { text in
        do throws(ProviderConfiguration.RightProblem) {
          _ = try ProviderConfiguration.right(text)
          return nil
        } catch {
          return error.description
        }
      }),
    .list(
      "oidc-group", \.provider.groups, .access, "GROUP", separator: ";",
      expected: "groups such as writers document:*=read,write",
      help:
        "Group of the identity provider, and the rights of its members. Repeat for more, or "
        + "separate them by semicolons.",
      problem: { text in
        do throws(ProviderConfiguration.RightProblem) {
          _ = try ProviderConfiguration.Group(text)
          return nil
        } catch {
          return error.description
        }
      }),
    .list(
      "oidc-email-domain", \.provider.emailDomains, .access, "DOMAIN",
      expected: "domains such as example.org",
      help:
        "Domain of a verified email address that is required for sign-in. Repeat for more; by "
        + "default, addresses are not checked.",
      isValid: ProviderConfiguration.isDomain),
    .duration(
      "oidc-session-time", \.provider.sessionTime, .access,
      in: .seconds(60)...(.seconds(366 * 86_400)),
      help:
        "Maximum length of a session after a sign-in; until then, tokens are renewed without "
        + "the identity provider."),
    .duration(
      "oidc-timeout", \.provider.timeout, .access, in: .milliseconds(100)...(.seconds(60)),
      help: "Timeout for the identity provider's responses during one sign-in."),
  ]
}
