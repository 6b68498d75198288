import Foundation

/// `Documentation/Protocol.md`, the contract for client authors, as tests read it.
struct ProtocolPage {
  /// One line of JSON, under `<!-- golden DIRECTION TYPE -->`.
  struct Example {
    let direction: String
    let type: String
    let json: String
    let line: Int
  }

  /// The faults in the page's form.
  struct Mistake: Error, CustomStringConvertible {
    let description: String
  }

  let lines: [Substring]

  init() throws {
    let url = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Documentation/Protocol.md")
    lines = try String(contentsOf: url, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// Every example in the order of the page.
  func examples() throws -> [Example] {
    var examples: [Example] = []
    var fences = 0
    for (index, line) in lines.enumerated() {
      if line == "```json" { fences += 1 }
      guard line.hasPrefix("<!--") else { continue }
      let words = line.split(separator: " ")
      guard words.count == 5, words[1] == "golden", words[4] == "-->",
        index + 3 < lines.count, lines[index + 1] == "```json", lines[index + 3] == "```"
      else { throw Mistake(description: "line \(index + 1): no golden example of one line") }
      examples.append(
        Example(
          direction: String(words[2]), type: String(words[3]), json: String(lines[index + 2]),
          line: index + 3))
    }
    guard examples.count == fences else {
      throw Mistake(description: "\(fences) blocks of JSON, of which \(examples.count) are golden")
    }
    return examples
  }

  /// The rows of the table whose head is this line, each with its cells and without `code` marks.
  func table(headed head: String) throws -> [[String]] {
    guard let start = lines.firstIndex(of: head[...]) else {
      throw Mistake(description: "no table is headed \(head)")
    }
    return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { row in
      row.split(separator: "|").map {
        $0.trimmingCharacters(in: .whitespaces).replacingOccurrences(of: "`", with: "")
      }
    }
  }
}
