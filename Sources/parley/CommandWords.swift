import ParleyServer

/// The words behind a command: flags of its own, what it works on, and settings for the configuration.
struct CommandWords {
  private(set) var operands: [String] = []
  private(set) var options: [String: String] = [:]
  private(set) var switches: Set<String> = []
  /// Left for the configuration.
  private(set) var settings: [String] = []

  /// Takes words apart.
  ///
  /// - Parameters:
  ///   - known: flags of the command that take a value, without `--`.
  ///   - switches: flags of the command that take none.
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
        // A setting's value goes with it, unless it came with “=” or the setting is a flag.
        if !word.contains("="), Configuration.takesValue(name), let value = rest.popFirst() {
          settings.append(value)
        }
      }
    }
  }

  /// The only operand.
  func operand(_ what: String) throws(UsageError) -> String {
    guard operands.count == 1, let operand = operands.first else {
      throw UsageError("expected \(what), got \(operands.count) of them")
    }
    return operand
  }

  /// The configuration that the settings among the words make, with environment and file.
  func configuration() throws(ConfigurationError) -> Configuration {
    try Program.configuration(settings).configuration
  }
}

/// A mistake in the words behind a command.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// The words for a subcommand that there is not, with the one that was meant.
  static func unknown(_ word: String?, among known: [String]) -> UsageError {
    let list = known.dropLast().joined(separator: ", ") + " or " + (known.last ?? "")
    let meant = word.flatMap { Spelling.nearest(to: $0, among: known) }
    return UsageError("expected \(list)" + (meant.map { "; did you mean \($0)?" } ?? ""))
  }
}
