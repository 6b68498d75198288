import GatewayPorts
import Glibc
import ParleyServer

/// `parley revoke`.
enum RevokeCommand {
  /// Writes a revocation down, for the server that runs or the next one; returns the exit code.
  static func run(_ arguments: [String]) -> Int32 {
    var settings: [String] = []
    var revocations: [Revocation] = []
    var rest = arguments[...]
    while let word = rest.popFirst() {
      guard word == "--user" || word == "--token" else {
        settings.append(word)
        continue
      }
      guard let value = rest.popFirst(), !value.isEmpty else {
        return usage("\(word) needs a value")
      }
      let now = Program.now
      revocations.append(word == "--user" ? .user(value, before: now) : .token(value))
    }
    guard !revocations.isEmpty else { return usage("expected --user ID or --token ID") }
    let configuration: Configuration
    do throws(ConfigurationError) {
      configuration = try Program.configuration(settings).configuration
    } catch {
      Terminal.error("parley: \(error)\n")
      return Program.ExitCode.usage
    }
    for revocation in revocations {
      guard RevocationFile.append(revocation, to: configuration.revocationsPath) else {
        Terminal.error(
          "parley revoke: \(configuration.revocationsPath) cannot be written: "
            + "\(String(cString: strerror(errno)))\n")
        return Program.ExitCode.failure
      }
    }
    return Program.ExitCode.success
  }

  private static func usage(_ text: String) -> Int32 {
    Terminal.error("parley revoke: \(text); parley revoke --help says more\n")
    return Program.ExitCode.usage
  }
}
