import Foundation
import ParleyServer
import SocketMessages
import Testing

/// Compares `Documentation/Limits.md` with the settings, `welcome`, and the tests that it names.
@Suite("The page about limits")
struct LimitsPageTests {
  private struct Row {
    var fallback: String
    var setting: String
    var announced: String
    var test: String
  }

  private let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  private let page: String
  private let rows: [Row]

  init() throws {
    page = try String(
      contentsOf: root.appendingPathComponent("Documentation/Limits.md"), encoding: .utf8)
    rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") }.compactMap { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
      }
      guard cells.count == 8, cells[3] != "setting", !cells[3].hasPrefix("-") else { return nil }
      return Row(fallback: cells[2], setting: cells[3], announced: cells[4], test: cells[6])
    }
  }

  @Test("each row names an existing setting and its default")
  func settings() throws {
    #expect(rows.count >= 40)
    for row in rows {
      let setting = try #require(Configuration.setting(named: row.setting), "\(row.setting)")
      #expect(setting.text(in: Configuration()) == row.fallback, "\(row.setting)")
    }
    #expect(Set(rows.map(\.setting)).count == rows.count)
  }

  @Test("every setting of the section on limits has a row")
  func complete() {
    let named = Set(rows.map(\.setting))
    for setting in Configuration.settings where setting.section == .limits {
      #expect(named.contains(setting.name), "\(setting.name)")
    }
  }

  @Test("every limit that is announced has a row")
  func announced() {
    let announced = rows.map(\.announced).filter { !$0.isEmpty }
    #expect(announced.sorted() == Limits().byName.map(\.name).sorted())
  }

  @Test("a setting changes the value announced under the name in its row")
  func connected() throws {
    for row in rows where !row.announced.isEmpty {
      let setting = try #require(Configuration.setting(named: row.setting))
      var configuration = Configuration()
      let other = row.fallback.hasSuffix("s") ? "77s" : "77"
      let isTaken = setting.set([other], in: &configuration)
      if !isTaken { #expect(setting.set(["2048"], in: &configuration), "\(row.setting)") }
      func announced(_ limits: Limits) throws -> Int {
        try #require(limits.byName.first { $0.name == row.announced }).value
      }
      #expect(
        try announced(configuration.announcedLimits) != announced(Limits()), "\(row.setting)")
    }
  }

  @Test("every test named on the page exists")
  func tests() throws {
    var count = 0
    for match in page.matches(of: /`(test_\w+\.py)::(\w+)`/) {
      count += 1
      let isThere = ["System", "Clients"].contains { folder in
        let file = root.appendingPathComponent("Tests/\(folder)/\(match.1)")
        let text = try? String(contentsOf: file, encoding: .utf8)
        return text?.contains("def \(match.2)(") ?? false
      }
      #expect(isThere, "\(match.0)")
    }
    #expect(count >= rows.count)
  }
}
