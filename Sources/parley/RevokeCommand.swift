import GatewayPorts
import Glibc
import ParleyServer

/// `parley revoke`.
enum RevokeCommand {
  /// Writes a revocation down, for the server that runs or the next one.
  static func run(_ arguments: [String]) throws {
    var settings: [String] = []
    var revocations: [Revocation] = []
    var rest = arguments[...]
    while let word = rest.popFirst() {
      guard word == "--user" || word == "--token" else {
        settings.append(word)
        continue
      }
      guard let value = rest.popFirst(), !value.isEmpty else {
        throw UsageError("\(word) needs a value")
      }
      let now = Program.now
      revocations.append(word == "--user" ? .user(value, before: now) : .token(value))
    }
    guard !revocations.isEmpty else { throw UsageError("expected --user ID or --token ID") }
    let path = try Program.configuration(settings).configuration.revocationsPath
    for revocation in revocations {
      guard RevocationFile.append(revocation, to: path) else {
        throw CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
      }
    }
  }
}
