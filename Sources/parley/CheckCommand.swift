import ParleyServer
import ParleyStoreRecords

/// The command `parley check`, which checks the configuration and the store.
enum CheckCommand {
  /// Prints the settings and the problems; throws the exit code if there are any.
  static func run(_ arguments: [String]) throws {
    let report = report(on: arguments.filter { $0 != "--json" })
    if arguments.contains("--json") {
      Terminal.output(JSONReport.check(report))
    } else {
      show(report)
    }
    let code = exitCode(of: report)
    if code != .success { throw code }
  }

  /// Checks the configuration from flags, environment and file, and its store.
  static func report(on arguments: [String]) -> CheckReport {
    do throws(ConfigurationError) {
      let loaded = try ConfigurationLoader(environment: Program.environment).load(arguments)
      var progress = ProgressLines()
      return CheckReport(loaded, executable: Program.executable) {
        progress.show("checking", $0, of: $1, "notes")
      }
    } catch {
      return CheckReport(error)
    }
  }

  /// Prints the warnings and problems to standard error.
  static func showProblems(_ report: CheckReport) {
    for warning in report.warnings { Terminal.error("parley: warning: \(warning)\n") }
    for problem in report.problems { Terminal.error("parley: \(problem)\n") }
    switch report.store {
    case .damaged(let problems):
      for problem in problems { Terminal.error("parley: \(report.storeName): \(problem)\n") }
    case .unreadable(let problem): Terminal.error("parley: \(problem)\n")
    case .unknown, .missing, .sound: break
    }
  }

  /// Returns the exit code for a report: `usage` for the configuration, `failure` for the store.
  static func exitCode(of report: CheckReport) -> Program.ExitCode {
    guard report.problems.isEmpty else { return .usage }
    switch report.store {
    case .damaged, .unreadable: return .failure
    case .unknown, .missing, .sound: return .success
    }
  }

  private static func show(_ report: CheckReport) {
    let width = report.lines.map(\.name.count).max() ?? 0
    for line in report.lines {
      Terminal.output(
        "\(line.name.padded(to: width))  \(line.value.isEmpty ? "-" : line.value)  (\(line.place))\n"
      )
    }
    showProblems(report)
    switch report.store {
    case .missing:
      Terminal.output("\nstore \(report.storeName): not there yet; serve makes it\n")
    case .sound(let findings):
      Terminal.output(
        "\nstore \(report.storeName): sound, \(findings.notes) notes with \(findings.entries) "
          + "changes\n")
    case .unknown, .damaged, .unreadable: break
    }
  }
}
