import CryptoOpenSSL
package import StoreRecords

/// The findings of `parley check`: a configuration, and the store that it names.
package struct CheckReport {
  /// A setting as it holds.
  package struct Line {
    /// The setting's name.
    package let name: String
    /// The value as an operator would write it; empty for nothing.
    package let value: String
    /// The source of the value, in words.
    package let place: String
  }

  /// The store's state.
  package enum Store {
    /// It was not looked at, since the configuration cannot be read, or has names that are no settings.
    case unknown
    /// There is none yet.
    case missing
    /// It was read and is as it was written.
    case sound(StoreFindings)
    /// It was read and is not.
    case damaged([String])
    /// It cannot be read.
    case unreadable(String)
  }

  /// Every setting.
  package private(set) var lines: [Line] = []
  /// Sentences about what may be more than an operator wants.
  package private(set) var warnings: [String] = []
  /// Sentences about what keeps a configuration from being used.
  package private(set) var problems: [String] = []
  /// The store's name for people.
  package private(set) var storeName = ""
  /// The store's state.
  package private(set) var store = Store.unknown

  /// Reports a configuration that cannot be read at all.
  package init(_ error: ConfigurationError) { problems = ["\(error)"] }

  /// Looks at a configuration and, unless it has names that are no settings, at its store.
  ///
  /// - Parameter progress: Called with the number of notes read so far, and of all.
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
    // A name that is no setting may be meant to say which store; everything else leaves it as it is.
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
