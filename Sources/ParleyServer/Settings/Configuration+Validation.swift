extension Configuration {
  /// Checks for conflicts between settings.
  package func validate() throws(ConfigurationError) {
    if isDemo, !allowOpenNetwork, let host = hosts.first(where: { !ListenAddress.isLoopback($0) }) {
      throw .openNetwork(host: host)
    }
    if let address = apiListen.flatMap(ListenAddress.init) {
      if isDemo, !allowOpenNetwork, !ListenAddress.isLoopback(address.host) {
        throw .conflict(
          "api-listen expects a loopback address such as 127.0.0.1:8081 while anyone who connects "
            + "may read and write; if everyone who can reach this machine may do so, add "
            + "--allow-open-network")
      }
      guard port == 0 || address.port != port || !hosts.contains(address.host) else {
        throw .conflict("api-listen and port name the same address; give api-listen another port")
      }
    }
    guard (certificatePath == nil) == (certificateKeyPath == nil) else {
      throw .conflict(
        "tls-certificate and tls-key belong together; give both, or neither to serve unencrypted")
    }
    try validateIssuers()
    try validatePusherApps()
    try validateProvider()
    try validateLoops()
    try validateMail()
    guard pingInterval < idleTimeout else {
      throw .conflict(
        "idle-timeout (\(ValueText.text(idleTimeout))) must be longer than ping-interval "
          + "(\(ValueText.text(pingInterval))), or every quiet connection would be closed")
    }
    guard webhookRetryMin <= webhookRetryMax else {
      throw .conflict(
        "webhook-retry-max (\(ValueText.text(webhookRetryMax))) must be at least "
          + "webhook-retry-min (\(ValueText.text(webhookRetryMin)))")
    }
    if let echoPath {
      guard echoPath.utf8.first == UInt8(ascii: "/"),
        !["/ws", "/socket", "/socket/"].contains(echoPath)
      else {
        throw .conflict("echo-path (\(echoPath)) must begin with / and differ from existing paths")
      }
    }
    guard receptionBytesMax == 0 || 2 * messageBytesMax <= receptionBytesMax else {
      throw .conflict(
        "reception-size-max (\(ValueText.text(bytes: receptionBytesMax))) must be at least twice "
          + "message-size-max (\(ValueText.text(bytes: messageBytesMax))), or 0 for no limit")
    }
    guard messageBytesMax <= queuedBytesMax else {
      throw .conflict(
        "queue-size-max (\(ValueText.text(bytes: queuedBytesMax))) must hold at least one message "
          + "of message-size-max (\(ValueText.text(bytes: messageBytesMax)))")
    }
  }

  /// Returns the folder with the page.
  ///
  /// It is the configured folder, or the first with an `index.html` of: `share/parley/web` of an
  /// installation; `Web/built` or `Web` next to the program or in a folder above it; both in the
  /// current folder.
  ///
  /// - Parameter executable: The path of the program.
  public func webDirectory(executable: String) throws(ConfigurationError) -> String {
    if let webDirectory {
      guard Files.isFile(webDirectory + "/index.html") else { throw .noPage(webDirectory) }
      return webDirectory
    }
    var candidates: [String] = []
    var folder = Files.folder(of: Files.resolved(executable) ?? executable)
    candidates.append(Files.folder(of: folder) + "/share/parley/web")
    while folder.count > 1 {
      candidates += [folder + "/Web/built", folder + "/Web"]
      folder = Files.folder(of: folder)
    }
    candidates += ["Web/built", "Web"]
    for candidate in candidates where Files.isFile(candidate + "/index.html") { return candidate }
    throw .noPage(nil)
  }

  /// Whether only programs on this machine can reach the server.
  var listensOnLoopbackOnly: Bool { hosts.allSatisfy(ListenAddress.isLoopback) }
}

extension HostPolicy {
  /// Creates the policy that the settings describe.
  init(_ configuration: Configuration) {
    let back = configuration.apiListen.flatMap(ListenAddress.init).map(\.host)
    self.init(
      isOpen: configuration.isDemo, listening: configuration.hosts + [back].compactMap(\.self),
      origins: configuration.allowedOrigins)
  }
}
