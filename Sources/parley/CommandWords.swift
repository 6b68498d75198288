import ParleyServer

/// The parsed arguments of a command: its operands, its own flags, and settings.
struct CommandWords {
  private(set) var operands: [String] = []
  private(set) var options: [String: String] = [:]
  private(set) var switches: Set<String> = []
  /// The settings, as flags with values, for the configuration.
  private(set) var settings: [String] = []

  /// Parses arguments.
  ///
  /// - Parameters:
  ///   - known: The command's flags that take a value, without `--`.
  ///   - switches: The command's flags without a value, without `--`.
  init(
    _ arguments: some Sequence<String>, options known: Set<String>, switches: Set<String>
  ) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("--") else {
        operands.append(word)
        continue
      }
      let name = String(word.dropFirst(2))
      if switches.contains(name) {
        self.switches.insert(name)
      } else if known.contains(name) {
        guard let value = rest.popFirst() else { throw UsageError("--\(name) needs a value") }
        options[name] = value
      } else {
        settings.append(word)
        // Include the value, unless it is in this word (`=`) or the setting takes none.
        if !word.contains("="), Configuration.takesValue(name), let value = rest.popFirst() {
          settings.append(value)
        }
      }
    }
  }

  /// Returns the only operand; throws if missing, or more than one.
  func operand(_ what: String) throws(UsageError) -> String {
    guard operands.count == 1, let operand = operands.first else {
      throw UsageError("expected \(what), got \(operands.count) of them")
    }
    return operand
  }

  /// Loads the configuration from the settings, the environment and the file.
  func configuration() throws(ConfigurationError) -> Configuration {
    try Program.configuration(settings).configuration
  }
}

/// An error in the arguments of a command.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// Returns the error for an unknown subcommand, with a suggestion.
  static func unknown(_ word: String?, among known: [String]) -> UsageError {
    let list = known.dropLast().joined(separator: ", ") + " or " + (known.last ?? "")
    let meant = word.flatMap { Spelling.nearest(to: $0, among: known) }
    return UsageError("expected \(list)" + (meant.map { "; did you mean \($0)?" } ?? ""))
  }
}
