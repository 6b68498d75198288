import ParleyServer

/// The command `parley health`, which checks a running server.
enum HealthCommand {
  /// Prints whether the running server accepts changes; fails if it does not.
  static func run(_ arguments: [String]) throws {
    let loaded = try ConfigurationLoader(environment: Program.environment).load(arguments)
    let configuration = loaded.configuration
    Program.warn(of: loaded.injected)
    guard configuration.port != 0 else {
      Terminal.error("parley: health requires the server's port, and got 0 (any free port)\n")
      throw Program.ExitCode.usage
    }
    let probe = HealthProbe(configuration)
    switch probe.ask() {
    case .ready: return Terminal.output("ready\n")
    case .notReady(let status):
      Terminal.error("parley: \(probe.url) answers with status \(status), expected 200\n")
    case .unreachable(let reason):
      Terminal.error("parley: \(probe.url) does not answer: \(reason)\n")
    }
    throw Program.ExitCode.failure
  }
}
