import ParleyGatewayPorts
import Glibc
import ParleyJSON
import ParleyServer

/// The command `parley revoke`, which revokes tokens.
enum RevokeCommand {
  /// Appends revocations to the file, which a server reads while running or at its start.
  static func run(_ arguments: [String]) throws {
    var settings: [String] = []
    var revocations: [Revocation] = []
    var users: [String] = []
    var rest = arguments[...]
    while let word = rest.popFirst() {
      guard word == "--user" || word == "--token" else {
        settings.append(word)
        continue
      }
      guard let value = rest.popFirst(), !value.isEmpty else {
        throw UsageError("\(word) needs a value")
      }
      if word == "--user" { users.append(value) } else { revocations.append(.token(value)) }
    }
    guard !revocations.isEmpty || !users.isEmpty else {
      throw UsageError("expected --user ID or --token ID")
    }
    let configuration = try Program.configuration(settings).configuration
    let path = configuration.revocationsPath
    revocations += ids(of: users, in: configuration.usersFile).map {
      .user($0, before: Program.now)
    }
    for revocation in revocations {
      guard RevocationFile.append(revocation, to: path) else {
        throw CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
      }
    }
  }

  /// Returns the names themselves, for other issuers' users, and the ids of accounts they match.
  private static func ids(of users: [String], in file: String?) -> [String] {
    guard let file else { return users }
    let editing = UserEditing(path: file)
    return users.flatMap { user in
      // An unreadable file of users must not prevent a revocation.
      let account = (try? editing.id(of: user)) ?? nil
      return account.map { $0.isExactly(user) ? [user] : [user, $0] } ?? [user]
    }
  }
}
