import ParleyCryptoOpenSSL
package import ParleyStoreRecords

/// The findings of `parley check` about a configuration and the store that it names.
package struct CheckReport {
  /// A setting with its effective value.
  package struct Line {
    /// The setting's name.
    package let name: String
    /// The value in the syntax of the settings; empty if the setting has no value.
    package let value: String
    /// The source of the value, in words.
    package let place: String
  }

  /// The store's state.
  package enum Store {
    /// The store was not checked: the configuration is invalid or contains unknown settings.
    case unknown
    /// The store does not exist yet.
    case missing
    /// All records were read and are intact.
    case sound(StoreFindings)
    /// Some records are damaged, as these problems describe.
    case damaged([String])
    /// The store cannot be read, for this reason.
    case unreadable(String)
  }

  /// Every setting, with its effective value.
  package private(set) var lines: [Line] = []
  /// Warnings about settings that work but may be unsafe.
  package private(set) var warnings: [String] = []
  /// Problems that prevent the use of the configuration.
  package private(set) var problems: [String] = []
  /// The store's name for messages.
  package private(set) var storeName = ""
  /// The store's state.
  package private(set) var store = Store.unknown

  /// Reports a configuration that cannot be read.
  package init(_ error: ConfigurationError) { problems = ["\(error)"] }

  /// Checks a configuration and, unless it contains unknown settings, its store.
  ///
  /// - Parameter progress: Called with the number of notes read so far, and the total number.
  package init(
    _ loaded: ConfigurationLoader.Result, executable: String,
    progress: (Int, Int) -> Void = { _, _ in }
  ) {
    let configuration = loaded.configuration
    lines = Configuration.settings.map { setting in
      Line(
        name: setting.name, value: setting.text(in: configuration),
        place: "\(loaded.places[setting.name] ?? .standard)")
    }
    problems = loaded.unknown.map { "\($0)" }
    if let injected = loaded.injected { warnings = ["\(injected)"] }
    do throws(ConfigurationError) {
      _ = try configuration.webDirectory(executable: executable)
    } catch {
      problems.append("\(error)")
    }
    do {
      let authenticator = try configuration.authenticator(log: nil)
      warnings += (authenticator?.warnings ?? []) + configuration.issuerWarnings
      _ = try configuration.apiKeys(log: nil)
      _ = try configuration.users(log: nil)
      try configuration.checkProvider()
    } catch {
      problems.append("\(error)")
    }
    // An unknown setting may be a misspelt one that selects the store. No other problem affects
    // which store is used.
    guard loaded.unknown.isEmpty else { return }
    let commands = StoreCommands(configuration)
    storeName = commands.name
    do {
      guard try commands.exists() else {
        store = .missing
        return
      }
      let findings = try commands.check(progress: progress)
      store =
        findings.problems.isEmpty ? .sound(findings) : .damaged(findings.problems.map { "\($0)" })
    } catch {
      store = .unreadable("\(error)")
    }
  }
}
