/// An error in flags, environment or configuration file, described for the operator.
public enum ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A name that is not a setting. `suggestion` is the name probably meant, in the same form.
  case unknownSetting(String, at: SettingSource, suggestion: String?)
  /// A flag that takes a value is the last argument.
  case missingValue(flag: String, placeholder: String)
  /// A flag that takes no value was given as `--flag=value`.
  case unexpectedValue(flag: String)
  /// An argument that is not a flag.
  case unexpectedArgument(String)
  /// A value that the setting does not accept.
  case invalidValue(String, setting: String, at: SettingSource, expected: String)
  /// A line of the file that is neither blank nor a comment nor `name = value`.
  case malformedLine(at: SettingSource)
  /// A setting that the file sets twice.
  case givenTwice(setting: String, first: SettingSource, second: SettingSource)
  /// The file cannot be read.
  case unreadableFile(String, reason: String)
  /// A host that other machines can reach, while any client may read and write.
  case openNetwork(host: String)
  /// Two settings contradict each other.
  case conflict(String)
  /// The page is not in the configured folder, or in none of the default folders.
  case noPage(String?)

  /// A message with the expected and the actual value, and the remedy.
  public var description: String {
    switch self {
    case .unknownSetting(let name, let place, let suggestion):
      let hint = suggestion.map { "; did you mean \($0)?" } ?? "; parley serve --help-all lists all"
      return "\(place.prefix)\(name) is not a setting\(hint)"
    case .missingValue(let flag, let placeholder):
      return "\(flag) expects a value: \(flag) \(placeholder)"
    case .unexpectedValue(let flag):
      return "\(flag) takes no value; write it alone"
    case .unexpectedArgument(let argument):
      return "expected a flag that begins with --, got \(quoted(argument)); "
        + "parley serve --help-all lists all"
    case .invalidValue(let value, let setting, let place, let expected):
      return "\(place.prefix)\(place.name(of: setting)) expects \(expected); got \(quoted(value))"
    case .malformedLine(let place):
      return "\(place.prefix)expected name = value, a comment after #, or a blank line"
    case .givenTwice(let setting, let first, let second):
      return "\(second.prefix)\(setting) is set already (\(first)); keep one of the two"
    case .unreadableFile(let path, let reason):
      return "the configuration file \(path) cannot be read: \(reason)"
    case .openNetwork(let host):
      return "host expects a loopback address such as 127.0.0.1 while anyone who connects may read "
        + "and write; got \(quoted(host)). If everyone who can reach this machine may do so, add "
        + "--allow-open-network"
    case .conflict(let text):
      return text
    case .noPage(let folder?):
      return "web-dir expects the folder with the page's index.html; \(folder) has none"
    case .noPage(nil):
      return
        "the page (Web/index.html) is neither beside the program nor in a folder above it; "
        + "name its folder with --web-dir"
    }
  }

  private func quoted(_ text: String) -> String { text.isEmpty ? "nothing" : "“\(text)”" }
}

/// The source of a setting's value.
public enum SettingSource: Sendable, Equatable, CustomStringConvertible {
  /// The default, because the setting was not given.
  case standard
  /// A line of the configuration file, counted from 1.
  case file(String, line: Int)
  /// A variable of the environment.
  case environment
  /// A flag of the command line.
  case flag

  /// The source, in words.
  public var description: String {
    switch self {
    case .standard: "default"
    case .file(let path, let line): "\(path), line \(line)"
    case .environment: "environment"
    case .flag: "command line"
    }
  }

  /// The prefix of an error message, in a format that editors recognise.
  var prefix: String {
    switch self {
    case .standard, .environment, .flag: ""
    case .file(let path, let line): "\(path):\(line): "
    }
  }

  /// Returns the name of a setting in this source.
  func name(of setting: String) -> String {
    switch self {
    case .standard, .file: setting
    case .environment: Configuration.setting(named: setting)?.variable ?? setting
    case .flag: "--" + setting
    }
  }
}
