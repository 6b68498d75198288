import ParleyServer

/// `parley doctor`.
enum DoctorCommand {
  /// Prints what the machine is like; returns the exit code.
  static func run(_ arguments: [String], executable: String) -> Int32 {
    let isJSON = arguments.contains("--json")
    let configuration: Configuration
    do throws(ConfigurationError) {
      configuration = try ConfigurationLoader(environment: Program.environment)
        .load(arguments.filter { $0 != "--json" }).configuration
    } catch {
      Terminal.error("parley: \(error)\n")
      return Program.ExitCode.usage
    }
    let findings = Doctor.examine(configuration, executable: executable)
    if isJSON {
      Terminal.output(JSONReport.findings(findings))
    } else {
      for finding in findings {
        Terminal.output(
          "\(finding.severity.rawValue.padded(to: 8)) \(finding.subject.padded(to: 10)) "
            + "\(finding.text)\n")
      }
    }
    let isFit = !findings.contains { $0.severity == .problem }
    return isFit ? Program.ExitCode.success : Program.ExitCode.failure
  }
}
