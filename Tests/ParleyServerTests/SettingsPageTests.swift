import Foundation
import ParleyServer
import Testing

/// The tables of settings in the documentation, generated from the settings' declarations.
///
/// A comment above each table selects its settings: by the name of a section, or by their names.
///
///     <!-- settings: Webhooks -->
///     <!-- settings: auth-key, audience -->
@Suite("Tables of settings")
struct SettingsPageTests {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Documentation")

  @Test("agree with the declarations", arguments: ["Operations.md", "Settings.md"])
  func tables(page: String) throws {
    let file = Self.folder.appendingPathComponent(page)
    let text = try String(contentsOf: file, encoding: .utf8)
    let current = try Self.withTables(text)
    if ProcessInfo.processInfo.environment["UPDATE_PAGES"] != nil {
      try current.write(to: file, atomically: true, encoding: .utf8)
    } else {
      #expect(text == current, "make settings-pages writes the tables of \(page) again")
    }
  }

  @Test("name every setting on the page of settings")
  func complete() throws {
    let page = try String(
      contentsOf: Self.folder.appendingPathComponent("Settings.md"), encoding: .utf8)
    for section in Setting.Section.allCases {
      #expect(page.contains("<!-- settings: \(section.rawValue) -->"), "\(section.rawValue)")
    }
  }

  /// Returns the page with a new table below each comment, replacing the existing one.
  private static func withTables(_ page: String) throws -> String {
    var lines: [Substring] = []
    var isInTable = false
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if isInTable, line.isEmpty || line.hasPrefix("|") { continue }
      if isInTable { lines.append("") }
      isInTable = false
      lines.append(line)
      guard let match = line.wholeMatch(of: /<!-- settings: (.*) -->/) else { continue }
      lines += [""] + table(of: try settings(match.1)).map { $0[...] }
      isInTable = true
    }
    return lines.joined(separator: "\n") + (isInTable ? "\n" : "")
  }

  private static func settings(_ words: Substring) throws -> [Setting] {
    if let section = Setting.Section(rawValue: String(words)) {
      return Configuration.settings.filter { $0.section == section }
    }
    return try words.split(separator: ", ").map {
      try #require(Configuration.setting(named: String($0)), "\($0)")
    }
  }

  private static func table(of settings: [Setting]) -> [String] {
    let standard = Configuration()
    return ["| setting | default | meaning |", "| --- | --- | --- |"]
      + settings.map { setting in
        let value = setting.text(in: standard)
        let cells = [
          "`\(setting.name)\(setting.placeholder.isEmpty ? "" : " = " + setting.placeholder)`",
          value.isEmpty ? "" : "`\(value)`", prose(setting.help),
        ]
        return "| " + cells.joined(separator: " | ") + " |"
      }
  }

  /// Returns a help text with Markdown escaped.
  private static func prose(_ help: String) -> String {
    var text = ""
    for character in help {
      if "|<*_`".contains(character) { text.append("\\") }
      text.append(character)
    }
    return text
  }
}
