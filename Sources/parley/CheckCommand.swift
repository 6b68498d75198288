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
    return problems.isEmpty ? Program.ExitCode.success : Program.ExitCode.usage
  }
}
