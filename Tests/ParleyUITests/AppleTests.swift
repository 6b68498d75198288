import Foundation
import Testing

/// Checks on Linux of the code that only Apple's systems compile.
@Suite("Code for Apple's systems")
struct AppleTests {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  @Test(
    "each declaration in place of Apple's names its page and the day of reading, or is unverified and listed"
  )
  func sources() throws {
    let declaration = #/^(@\w+ )*(public |open )*(protocol|struct|enum|class|extension|func) /#
    let page =
      #/// https://developer\.apple\.com/documentation/\S+ · (.+) · read 2\d{3}-\d\d-\d\d/#
    var unverified: Set<String> = []
    for kit in ["SwiftUI", "UIKit", "AppKit"] {
      var above = Substring()
      for line in try Self.text("Tests/AppleStubs/\(kit).swift").split(separator: "\n") {
        if line.contains(declaration) {
          if let versions = above.wholeMatch(of: page)?.1 {
            // The package's own oldest versions.
            for version in versions.matches(of: #/(iOS|macOS) (\d+)/#) {
              #expect(try #require(Int(version.2)) <= (version.1 == "iOS" ? 18 : 15), "\(line)")
            }
          } else if !above.hasPrefix("// unverified: ") {
            #expect(above == "// for the stubs alone", "no page for: \(kit): \(line)")
          }
        }
        if let name = line.firstMatch(of: #/// unverified: (.+)/#)?.1 {
          unverified.insert("\(kit): \(name)")
        }
        above = line
      }
    }
    let listed = try Self.text("Tests/AppleStubs/README.md").matches(of: #/\n- (\w+: .+)/#)
      .map { String($0.1) }
    #expect(Set(listed) == unverified)
  }

  @Test("what a text view needs is not compiled for tvOS and watchOS, which have no editable one")
  func systems() throws {
    for file in ["NoteTextView+UIKit", "NoteUndoManager", "NoteEditor"] {
      let condition = try #require(
        try Self.text("Sources/ParleyUI/Apple/\(file).swift").split(separator: "\n").first {
          $0.hasPrefix("#if ")
        })
      #expect(condition.contains("!os(tvOS)") && condition.contains("!os(watchOS)"), "\(file)")
    }
  }
}
