import CryptoOpenSSL
import ParleyServer
import StoreRecords
import StoreSQLite

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
    do {
      let authenticator = try loaded.configuration.authenticator(log: nil)
      for warning in (authenticator?.warnings ?? []) + loaded.configuration.issuerWarnings {
        Terminal.error("parley: warning: \(warning)\n")
      }
      _ = try loaded.configuration.apiKeys(log: nil)
      _ = try loaded.configuration.users(log: nil)
    } catch {
      Terminal.error("parley: \(error)\n")
      return Program.ExitCode.usage
    }
    for problem in problems { Terminal.error("parley: \(problem)\n") }
    guard problems.isEmpty else { return Program.ExitCode.usage }
    return checkStore(loaded.configuration)
  }

  private static func checkStore(_ configuration: Configuration) -> Int32 {
    let commands = StoreCommands(configuration)
    do {
      guard try commands.exists() else {
        Terminal.output("\nstore \(commands.name): not there yet; serve makes it\n")
        return Program.ExitCode.success
      }
      let findings = try commands.check()
      for problem in findings.problems {
        Terminal.error("parley: \(commands.name): \(problem)\n")
      }
      guard findings.problems.isEmpty else { return Program.ExitCode.failure }
      Terminal.output(
        "\nstore \(commands.name): sound, \(findings.notes) notes with \(findings.entries) changes\n"
      )
    } catch {
      Terminal.error("parley: \(error)\n")
      return Program.ExitCode.failure
    }
    return Program.ExitCode.success
  }
}
