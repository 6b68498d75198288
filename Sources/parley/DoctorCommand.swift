import ParleyServer

/// The command `parley doctor`, which checks this machine.
enum DoctorCommand {
  /// Prints the findings; fails if one is a problem.
  static func run(_ arguments: [String]) throws {
    let loaded = try ConfigurationLoader(environment: Program.environment)
      .load(arguments.filter { $0 != "--json" })
    Program.warn(of: loaded.injected)
    let findings = Doctor.examine(loaded.configuration, executable: Program.executable)
    if arguments.contains("--json") {
      Terminal.output(JSONReport.findings(findings))
    } else {
      for finding in findings {
        Terminal.output(
          "\(finding.severity.rawValue.padded(to: 8)) \(finding.subject.padded(to: 10)) "
            + "\(finding.text)\n")
      }
    }
    if findings.contains(where: { $0.severity == .problem }) { throw Program.ExitCode.failure }
  }
}
