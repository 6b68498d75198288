import ParleyServer

/// `parley doctor`.
enum DoctorCommand {
  /// Prints what the machine is like.
  static func run(_ arguments: [String]) throws {
    let configuration = try ConfigurationLoader(environment: Program.environment)
      .load(arguments.filter { $0 != "--json" }).configuration
    let findings = Doctor.examine(configuration, executable: Program.executable)
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
