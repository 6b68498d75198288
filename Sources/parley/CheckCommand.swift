import ParleyServer

/// `parley check`.
enum CheckCommand {
  /// Prints what holds and what is wrong; returns the exit code.
  static func run(_ arguments: [String], executable: String) -> Int32 {
    let loaded: ConfigurationLoader.Result
    do throws(ConfigurationError) {
      loaded = try ConfigurationLoader(environment: Program.environment).load(arguments)
    } catch {
      Terminal.error("parley: \(error)\n")
      return Program.ExitCode.usage
    }
    let width = Configuration.settings.map(\.name.count).max() ?? 0
    for setting in Configuration.settings {
      let place = loaded.places[setting.name] ?? .standard
      let value = setting.text(in: loaded.configuration)
      Terminal.output(
        "\(setting.name.padded(to: width))  \(value.isEmpty ? "-" : value)  (\(place))\n")
    }
    var problems = loaded.unknown
    do throws(ConfigurationError) {
      _ = try loaded.configuration.webDirectory(executable: executable)
    } catch {
      problems.append(error)
    }
    for problem in problems { Terminal.error("parley: \(problem)\n") }
    guard problems.isEmpty else { return Program.ExitCode.usage }
    return checkStore(loaded.configuration)
  }

  private static func checkStore(_ configuration: Configuration) -> Int32 {
    let path = configuration.storePath
    switch StoreCheck.run(configuration) {
    case .none: Terminal.output("\nstore \(path): not there yet; serve makes it\n")
    case .inUse(let process):
      let owner = process.map { "process \($0)" } ?? "another process"
      Terminal.output("\nstore \(path): not looked at, \(owner) has it open\n")
    case .read(let findings):
      for problem in findings.problems { Terminal.error("parley: \(path): \(problem)\n") }
      guard findings.problems.isEmpty else { return Program.ExitCode.failure }
      Terminal.output(
        "\nstore \(path): sound, \(findings.notes) notes with \(findings.entries) changes\n")
    case .notOpened(let error):
      Terminal.error("parley: \(error)\n")
      return Program.ExitCode.failure
    }
    return Program.ExitCode.success
  }
}
