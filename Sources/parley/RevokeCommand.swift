import GatewayPorts
import Glibc
import ParleyServer

/// `parley revoke`.
enum RevokeCommand {
  /// Writes a revocation down, for the server that runs or the next one.
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

  /// The users as they are named, for tokens of issuers, and the ids of the accounts in the file that the names mean.
  private static func ids(of users: [String], in file: String?) -> [String] {
    guard let file else { return users }
    let editing = UserEditing(path: file)
    return users.flatMap { user in
      // A revocation does not wait for a file to be repaired.
      let account = (try? editing.id(of: user)) ?? nil
      return account.map { $0.utf8.elementsEqual(user.utf8) ? [user] : [user, $0] } ?? [user]
    }
  }
}
