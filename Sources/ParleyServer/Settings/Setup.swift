import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import Glibc

/// The answers from which `parley setup` creates a configuration.
package struct Setup {
  /// The way in which browsers reach the server.
  package enum Reach: Sendable {
    /// The server itself encrypts connections, with these files.
    case tls(certificate: String, key: String)
    /// A proxy on this machine encrypts connections.
    case proxy
    /// Only this machine can connect, unencrypted.
    case local
  }

  /// The clients that have access.
  package enum Access: Sendable {
    /// Users of a file, who log in with passwords.
    case users
    /// Clients with tokens that another system signs; the path of its public key.
    case tokens(key: String)
    /// Any client that can connect.
    case anyone
  }

  /// The host name in the page's address.
  package var hostName: String
  /// The way in which browsers reach the server.
  package var reach: Reach
  /// The clients that have access.
  package var access: Access
  /// The port to listen on; `nil` for the default of `reach`.
  package var port: Int?
  /// The folder of notes, users and revocations.
  package var dataDirectory: String

  /// Creates a setup from answers.
  package init(
    hostName: String, reach: Reach, access: Access, port: Int?, dataDirectory: String
  ) {
    self.hostName = hostName
    self.reach = reach
    self.access = access
    self.port = port
    self.dataDirectory = dataDirectory
  }

  // MARK: Answers

  /// Returns the host name in a host name or page address, in lower case; `nil` if it is invalid.
  package static func hostName(_ text: String) -> String? {
    var name = text[...]
    for scheme in ["https://", "http://"] where name.hasPrefix(scheme) {
      name = name.dropFirst(scheme.count)
    }
    if name.hasSuffix("/") { name = name.dropLast() }
    guard (1...253).contains(name.utf8.count), !name.hasPrefix("."), !name.hasPrefix("-"),
      name.utf8.allSatisfy({ byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
          true
        default: false
        }
      })
    else { return nil }
    return name.lowercased()
  }

  /// The rights of the first user.
  package static let ownersRights = ["document:*=all", "room:*=all"]
  /// The suggested rights of other users.
  package static let membersRights = "document:*=read,write,presence,manage"

  /// The path of the file of users, in the data folder; `nil` without users.
  package var usersFile: String? {
    guard case .users = access else { return nil }
    return dataDirectory + "/users"
  }

  /// The address of the page.
  package var pageAddress: String {
    switch reach {
    case .tls: "https://" + hostName + (listeningPort == 443 ? "" : ":\(listeningPort)")
    case .proxy: "https://" + hostName
    case .local: "http://" + hostName + ":\(listeningPort)"
    }
  }

  private var listeningPort: Int {
    if let port { return port }
    if case .tls = reach { return 443 }
    return 8080
  }

  // MARK: The configuration

  /// The settings to write, in the order of the file, each with an optional comment.
  private var settings: [(name: String, value: String, why: String)] {
    var lines: [(name: String, value: String, why: String)] = []
    switch reach {
    case .tls(let certificate, let key):
      lines += [
        ("host", "0.0.0.0", "Any client may connect, encrypted by this certificate."),
        ("port", "\(listeningPort)", ""), ("tls-certificate", certificate, ""),
        ("tls-key", key, ""),
      ]
    case .proxy:
      lines += [
        ("host", "127.0.0.1", "The proxy for \(hostName) connects from this machine."),
        ("port", "\(listeningPort)", ""), ("trusted-proxy", "127.0.0.1", ""),
      ]
    case .local:
      lines += [
        ("host", "127.0.0.1", "Only this machine may connect."), ("port", "\(listeningPort)", ""),
      ]
    }
    switch access {
    case .users:
      lines.append(
        ("users-file", dataDirectory + "/users", "Users with passwords: parley user --help."))
    case .tokens(let key):
      lines.append(("auth-key", key, "Tokens that this key's owner signs: parley token --help."))
    case .anyone: break
    }
    lines.append(("data-dir", dataDirectory, "Notes, and all that belongs to them."))
    return lines
  }

  /// Returns the text of the configuration file.
  ///
  /// - Throws: `FileError` for a value that a configuration file cannot contain,
  ///   `ConfigurationError` for answers that contradict each other.
  package func configurationText() throws -> String {
    var text = "# Written by parley setup. parley serve --help-all lists every setting.\n"
    for (name, value, why) in settings {
      if !why.isEmpty { text += "\n# \(why)\n" }
      text += "\(name) = \(value)\n"
    }
    let written = text
    let loader = ConfigurationLoader(environment: [:]) { _ in written }
    let configuration = try loader.load(["--config", "the new file"]).configuration
    for (name, value, _) in settings
    where Configuration.setting(named: name)?.text(in: configuration) != value {
      throw FileError("\(name) cannot be \(value): a configuration file cannot hold that value")
    }
    return text
  }

  /// Checks the answers and the files that they name, before any file is written.
  ///
  /// - Throws: The first error found.
  package func check() throws {
    if case .anyone = access {
      guard case .local = reach else {
        throw FileError(
          "anyone could read, change and delete every note from wherever \(hostName) is reached; "
            + "choose users or tokens, or reach local")
      }
    }
    if case .tls(let certificate, let key) = reach {
      _ = try ServerCertificate(certificatePath: certificate, keyPath: key)
    }
    _ = try configurationText()
    if case .tokens(let key) = access {
      var configuration = Configuration()
      configuration.keyFiles = [key]
      _ = try configuration.authenticator(log: nil)
    }
    if let usersFile, Files.isFile(usersFile) { _ = try UserLine.lines(ofFileAt: usersFile) }
  }

  /// Whether the file of users contains the user already.
  package func hasUser(_ id: String) throws(FileError) -> Bool {
    guard let usersFile, Files.isFile(usersFile) else { return false }
    return try UserLine.lines(ofFileAt: usersFile).contains { $0.user.id == id }
  }

  /// Writes the data folder, the first user, then the configuration. A failure undoes everything.
  ///
  /// - Parameters:
  ///   - path: The path of the configuration.
  ///   - firstUser: A user that the file does not contain yet.
  ///   - isReplacing: Whether an existing configuration may be renamed to `.old`.
  package func write(to path: String, firstUser: UserLine?, isReplacing: Bool) throws {
    let text = try configurationText()
    let hadFolder = Files.isFolder(dataDirectory)
    let hadUsers = usersFile.map(Files.isFile) ?? false
    var hasAddedUser = false
    do {
      try Files.makeDirectory(dataDirectory)
      if let usersFile, let firstUser {
        try UserEditing(path: usersFile).add(firstUser)
        hasAddedUser = true
      }
      try writeConfiguration(text, to: path, isReplacing: isReplacing)
    } catch {
      if let usersFile, let firstUser, hasAddedUser {
        if hadUsers {
          try? UserEditing(path: usersFile).remove(firstUser.user.id)
        } else {
          unlink(usersFile)
        }
      }
      if !hadFolder { rmdir(dataDirectory) }
      throw error
    }
  }

  private func writeConfiguration(
    _ text: String, to path: String, isReplacing: Bool
  ) throws(FileError) {
    // Replaces the target of a symbolic link, not the link.
    let path = Files.resolved(path) ?? path
    let isNew = !Files.isThere(path)
    if !isNew {
      guard isReplacing else { throw FileError("\(path) is there already") }
      // Keep the old file under a second name, even after it is replaced.
      unlink(path + ".old")
      guard link(path, path + ".old") == 0 else {
        throw FileError(
          "\(path) cannot be kept as \(path).old: \(String(cString: strerror(errno)))")
      }
    }
    try Files.replace(path, with: text, isNew: isNew, isSecret: false)
  }
}
