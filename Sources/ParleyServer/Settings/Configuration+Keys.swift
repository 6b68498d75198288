package import ParleyCryptoOpenSSL
package import ParleyGatewayPorts

extension Configuration {
  /// Creates the authenticator of tokens; `nil` in demo mode.
  ///
  /// - Throws: `JWTKeyError` if a file contains no usable key.
  package func authenticator(log: (any LogSink)?) throws(JWTKeyError) -> JWTAuthenticator? {
    let profiles = profiles
    guard !profiles.isEmpty else { return nil }
    return try JWTAuthenticator(profiles: profiles, log: log)
  }

  /// The accepted issuers: that of the plain settings, if they name a key, then the issuer
  /// profiles.
  package var profiles: [JWTIssuerProfile] {
    let skew = Int64(clockSkew.milliseconds)
    var files: [KeyFile] = []
    for text in keyFiles {
      let (id, path) = ValueText.named(text)
      files.append(KeyFile(.publicKey(id: id), path: path))
    }
    for text in secretFiles {
      let (id, path) = ValueText.named(text)
      files.append(KeyFile(.secret(id: id), path: path))
    }
    for path in keySetFiles { files.append(KeyFile(.keySet, path: path)) }
    var profiles: [JWTIssuerProfile] = []
    if !files.isEmpty {
      var policy = JWTPolicy(
        audiences: audiences, issuers: issuers, clockSkewMilliseconds: skew)
      policy.roomTokens.audiences = roomTokenAudiences
      profiles.append(JWTIssuerProfile(name: nil, files: files, policy: policy))
    }
    return profiles
      + issuerProfiles.compactMap { try? IssuerProfile.profile($0, clockSkewMilliseconds: skew) }
  }

  /// Checks the issuers for conflicts.
  func validateIssuers() throws(ConfigurationError) {
    var names: Set<String> = []
    for profile in profiles {
      if let name = profile.name, !names.insert(name).inserted {
        throw .conflict(
          "issuer-profile expects a different name for each profile; \(name) is there twice")
      }
      do throws(IssuerProfile.Problem) {
        try IssuerProfile.check(profile.policy)
      } catch {
        throw .conflict("room-token-audience expects \(error)")
      }
    }
  }

  /// Warnings about issuer settings that work but may be unsafe.
  package var issuerWarnings: [String] {
    let profiles = profiles
    let alike = profiles.filter(\.policy.userPrefix.isEmpty).map { $0.name ?? "auth-key" }
    var warnings: [String] = []
    let hasProvider = provider.issuer != nil && provider.userPrefix.isEmpty
    let all =
      alike + (usersFile == nil ? [] : ["users-file"]) + (hasProvider ? ["oidc-issuer"] : [])
    if all.count > 1 {
      warnings.append(
        "users with the same name are one person, whichever issuer signed their token ("
          + all.joined(separator: ", ") + "); if they are not, give issuer profiles a user-prefix"
          + (hasProvider ? ", and set oidc-user-prefix" : ""))
    }
    for profile in profiles where profile.secretBytesMin < 32 && profile.policy.honoursClaimedRights
    {
      warnings.append(
        "a leaked secret of issuer profile \(profile.name ?? "") would let its finder sign any rights; "
          + "claim-rights:no limits them to the profile's")
    }
    return warnings
  }

  /// Reads the users with passwords; `nil` without a file of users.
  package func users(log: (any LogSink)?) throws(FileError) -> UserFile? {
    guard let usersFile else { return nil }
    return try UserFile(path: usersFile, log: log)
  }

  /// Reads the API keys; `nil` without a file of keys.
  package func apiKeys(log: (any LogSink)?) throws(APIKeyFileError) -> HashedAPIKeys? {
    guard let apiKeyFile else { return nil }
    return try HashedAPIKeys(path: apiKeyFile, log: log)
  }
}

extension Configuration {
  /// Parses a duration as in settings, such as `20m`; returns milliseconds.
  package static func milliseconds(_ text: String) -> Int? {
    ValueText.duration(text)?.milliseconds
  }
}
