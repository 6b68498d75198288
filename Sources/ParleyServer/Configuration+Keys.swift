package import CryptoOpenSSL
package import GatewayPorts

extension Configuration {
  /// What checks tokens; `nil` in demo mode.
  ///
  /// - Throws: `JWTKeyError` for a file that holds no usable key.
  package func authenticator(log: (any LogSink)?) throws(JWTKeyError) -> JWTAuthenticator? {
    guard !(keyFiles.isEmpty && secretFiles.isEmpty && keySetFiles.isEmpty) else { return nil }
    var files: [KeyFile] = []
    for text in keyFiles {
      let (id, path) = Self.named(text)
      files.append(KeyFile(.publicKey(id: id), path: path))
    }
    for text in secretFiles {
      let (id, path) = Self.named(text)
      files.append(KeyFile(.secret(id: id), path: path))
    }
    for path in keySetFiles { files.append(KeyFile(.keySet, path: path)) }
    return try JWTAuthenticator(
      files: files,
      policy: JWTPolicy(
        audiences: audiences, issuers: issuers,
        clockSkewMilliseconds: Int64(clockSkew.milliseconds)), log: log)
  }

  /// Who may log in; `nil` if nobody can.
  package func users(log: (any LogSink)?) throws(FileError) -> UserFile? {
    guard let usersFile else { return nil }
    return try UserFile(path: usersFile, log: log)
  }

  /// What knows API keys; `nil` if there are none.
  package func apiKeys(log: (any LogSink)?) throws(APIKeyFileError) -> HashedAPIKeys? {
    guard let apiKeyFile else { return nil }
    return try HashedAPIKeys(path: apiKeyFile, log: log)
  }

  /// Splits `kid=path`; a path alone has no name.
  private static func named(_ text: String) -> (id: String?, path: String) {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
      return (nil, text)
    }
    return (String(text[..<equals]), String(text[text.index(after: equals)...]))
  }
}

extension Configuration {
  /// Reads a time as settings have it, such as `20m`, in milliseconds.
  package static func milliseconds(_ text: String) -> Int? {
    ValueText.duration(text)?.milliseconds
  }
}
