/// Loads a configuration. Flags override the environment, the environment overrides the file, and
/// the file overrides the defaults.
///
/// The file contains lines `name = value`, with the names of the flags. A `#` at the beginning of a
/// line or after a blank begins a comment. `--config` or `PARLEY_CONFIG` names the file; without
/// either, no file is read.
public struct ConfigurationLoader: Sendable {
  /// A configuration and the sources of its values.
  public struct Result: Sendable {
    /// The loaded configuration.
    public var configuration: Configuration
    /// The path of the file that was read; `nil` without a file.
    public var file: String?
    /// Unknown settings in the file and the environment. `check` rejects them; `serve` starts with
    /// a warning, so that an older version can run with the file of a newer one.
    public var unknown: [ConfigurationError]
    /// Variables that a container platform has set for a service with this program's name; `nil` if
    /// there are none. They are not in ``unknown``.
    package var injected: InjectedVariables?
    /// The source of each setting that was given, by name.
    public var places: [String: SettingSource]
  }

  private struct Given {
    var values: [String]
    var place: SettingSource
  }

  private let environment: [String: String]
  private let read: @Sendable (String) throws(FileError) -> String

  /// - Parameters:
  ///   - environment: The environment; only variables that begin with `PARLEY_` are read.
  ///   - read: Reads a whole file.
  public init(
    environment: [String: String],
    read: @escaping @Sendable (String) throws(FileError) -> String = Files.text
  ) {
    self.environment = environment
    self.read = read
  }

  /// Loads flags, environment and file.
  ///
  /// - Parameter arguments: The arguments after the command's name.
  /// - Throws: The first error, in the order of flags, environment and file.
  public func load(_ arguments: some Sequence<String>) throws(ConfigurationError) -> Result {
    var unknown: [ConfigurationError] = []
    var flags = try flags(Array(arguments))
    var injected = InjectedVariables()
    var variables = variables(&unknown, &injected)
    let path = flags.removeValue(forKey: Self.fileSetting)?.values.last
    let variable = variables.removeValue(forKey: Self.fileSetting)?.values.last
    let file = path ?? variable
    var lines: [String: Given] = [:]
    if let file { lines = try self.lines(of: file, &unknown) }

    var configuration = Configuration()
    var places: [String: SettingSource] = [:]
    for setting in Configuration.settings {
      guard let given = flags[setting.name] ?? variables[setting.name] ?? lines[setting.name]
      else { continue }
      guard setting.set(given.values, in: &configuration) else {
        throw .invalidValue(
          setting.isSecret ? "another text" : given.values.joined(separator: ", "),
          setting: setting.name, at: given.place,
          expected: setting.expected(inPlaceOf: given.values))
      }
      places[setting.name] = given.place
    }
    try configuration.validate()
    return Result(
      configuration: configuration, file: file, unknown: unknown,
      injected: injected.names.isEmpty ? nil : injected, places: places)
  }

  /// The flag that names the file; not a setting, since a file cannot name itself.
  static let fileSetting = "config"
  static let fileVariable = "PARLEY_CONFIG"
  /// Variables of `parley note`, which may be set in the same environment.
  private static let noteVariables: Set<String> = [
    "PARLEY_SERVER", "PARLEY_TOKEN", "PARLEY_TOKEN_FILE", "PARLEY_NAME", "PARLEY_TRUST",
    "PARLEY_NOTE",
  ]

  private func flags(_ arguments: [String]) throws(ConfigurationError) -> [String: Given] {
    var given: [String: Given] = [:]
    var index = 0
    while index < arguments.count {
      let argument = arguments[index]
      index += 1
      guard argument.hasPrefix("--"), argument.count > 2 else {
        throw .unexpectedArgument(argument)
      }
      let body = argument.dropFirst(2)
      let name = String(body.prefix { $0 != "=" })
      let attached = body.firstIndex(of: "=").map { String(body[body.index(after: $0)...]) }
      let setting = Configuration.setting(named: name)
      guard setting != nil || name == Self.fileSetting else {
        throw .unknownSetting(
          "--" + name, at: .flag,
          suggestion: Spelling.nearest(
            to: name, among: Configuration.settings.map(\.name) + [Self.fileSetting]
          ).map { "--" + $0 })
      }
      let value: String
      if let attached {
        value = attached
      } else if case .flag? = setting?.shape {
        value = "true"
      } else if index < arguments.count {
        value = arguments[index]
        index += 1
      } else {
        throw .missingValue(flag: "--" + name, placeholder: setting?.placeholder ?? "FILE")
      }
      // The last value overrides earlier ones, so that a user can override a script's flags by
      // appending others. A list contains all values.
      given[name, default: Given(values: [], place: .flag)].values.append(value)
    }
    return given
  }

  private func variables(
    _ unknown: inout [ConfigurationError], _ injected: inout InjectedVariables
  ) -> [String: Given] {
    var given: [String: Given] = [:]
    let names = Dictionary(
      uniqueKeysWithValues: Configuration.settings.map { ($0.variable, $0.name) }
        + [(Self.fileVariable, Self.fileSetting)])
    for (variable, value) in environment.sorted(by: { $0.key < $1.key })
    where variable.hasPrefix("PARLEY_") && !Self.noteVariables.contains(variable) {
      if injected.take(variable, value) { continue }
      if let name = names[variable] {
        given[name] = Given(values: [value], place: .environment)
      } else {
        unknown.append(
          .unknownSetting(
            variable, at: .environment,
            suggestion: Spelling.nearest(to: variable, among: names.keys)))
      }
    }
    return given
  }

  private func lines(
    of path: String, _ unknown: inout [ConfigurationError]
  ) throws(ConfigurationError) -> [String: Given] {
    let text: String
    do throws(FileError) {
      text = try read(path)
    } catch {
      throw .unreadableFile(path, reason: error.description)
    }
    var given: [String: Given] = [:]
    var number = 0
    for raw in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      number += 1
      let place = SettingSource.file(path, line: number)
      let line = Self.withoutComment(raw)
      if line.isEmpty { continue }
      guard let equals = line.firstIndex(of: "=") else { throw .malformedLine(at: place) }
      let name = ValueText.trimmed(line[..<equals])
      let value = ValueText.trimmed(line[line.index(after: equals)...])
      guard !name.isEmpty else { throw .malformedLine(at: place) }
      guard let setting = Configuration.setting(named: name) else {
        unknown.append(
          .unknownSetting(
            name, at: place,
            suggestion: Spelling.nearest(to: name, among: Configuration.settings.map(\.name))))
        continue
      }
      guard let before = given[name] else {
        given[name] = Given(values: [value], place: place)
        continue
      }
      guard case .list = setting.shape else {
        throw .givenTwice(setting: name, first: before.place, second: place)
      }
      given[name]?.values.append(value)
    }
    return given
  }

  /// Removes a comment from a line. A `#` within a word, as in an address, begins no comment.
  private static func withoutComment(_ line: Substring) -> String {
    var before: Character = " "
    for index in line.indices {
      if line[index] == "#", before == " " || before == "\t" {
        return ValueText.trimmed(line[..<index])
      }
      before = line[index]
    }
    return ValueText.trimmed(line)
  }
}
