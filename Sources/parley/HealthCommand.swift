import ParleyServer

/// `parley health`.
enum HealthCommand {
  /// Asks the running server whether it takes changes; returns the exit code.
  static func run(_ arguments: [String]) -> Int32 {
    let configuration: Configuration
    do throws(ConfigurationError) {
      configuration = try ConfigurationLoader(environment: Program.environment)
        .load(arguments).configuration
    } catch {
      Terminal.error("parley: \(error)\n")
      return Program.ExitCode.usage
    }
    guard configuration.port != 0 else {
      Terminal.error("parley: health needs the port of the server, and got 0, which is any\n")
      return Program.ExitCode.usage
    }
    let probe = HealthProbe(configuration)
    switch probe.ask() {
    case .ready:
      Terminal.output("ready\n")
      return Program.ExitCode.success
    case .notReady(let status):
      Terminal.error("parley: \(probe.url) answers with status \(status), expected 200\n")
    case .unreachable(let reason):
      Terminal.error("parley: \(probe.url) does not answer: \(reason)\n")
    }
    return Program.ExitCode.failure
  }
}
