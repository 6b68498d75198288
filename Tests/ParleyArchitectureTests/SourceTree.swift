import Foundation
import Testing

/// The package's files as text, for tests about the code itself.
struct SourceTree {
  /// One file, its path relative to the package.
  struct File: Sendable, CustomTestStringConvertible {
    let path: String
    let text: String

    var testDescription: String { path }

    /// The lines without comments, so that a comment may contain words forbidden in code.
    ///
    /// A `//` within a string literal ends the line too; none of the searched words is in such a
    /// line.
    var code: [Substring] {
      var isInComment = false
      return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        if isInComment {
          guard line.holds("*/"), let end = line.range(of: "*/") else { return "" }
          isInComment = false
          return line[end.upperBound...]
        }
        if line.holds("/*"), !line.holds("*/"), let start = line.range(of: "/*") {
          isInComment = true
          return line[..<start.lowerBound]
        }
        guard line.holds("//"), let start = line.range(of: "//") else { return line }
        return line[..<start.lowerBound]
      }
    }

    /// The modules that the file imports.
    var imports: [String] {
      code.compactMap { line in
        guard line.holds("import ") else { return nil }
        return line.firstMatch(
          of:
            /^(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)/
        ).map { String($0.1) }
      }
    }
  }

  let root: URL

  init() {
    root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  }

  /// The text of one file, named from the package's root.
  func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// Whether there is a file or folder of this name.
  func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
  }

  /// The names of the folders in a folder.
  func folders(in folder: String) throws -> [String] {
    let url = root.appendingPathComponent(folder)
    return try FileManager.default
      .contentsOfDirectory(at: url, includingPropertiesForKeys: [.isDirectoryKey])
      .filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
      .map(\.lastPathComponent)
      .sorted()
  }

  /// The folders of the modules in `Sources`, by their names. Some kinds have a folder of their own.
  func modules() throws -> [String: String] {
    let kinds = ["Adapters", "Kits", "SystemLibraries"]
    var modules: [String: String] = [:]
    for folder in ["Sources"] + kinds.map({ "Sources/" + $0 }) {
      for name in try folders(in: folder) where !kinds.contains(name) {
        modules[name] = folder + "/" + name
      }
    }
    return modules
  }

  /// The text files below a folder, whose names have one of the endings.
  ///
  /// What set-up and builds put there is left out.
  func files(in folder: String, endings: Set<String>) throws -> [File] {
    let generated: Set<String> = [
      "vendor", "generated", "node_modules", "__pycache__", ".build", ".venv", "artifacts", "data",
    ]
    let base = root.appendingPathComponent(folder).path
    guard let entries = FileManager.default.enumerator(atPath: base) else { return [] }
    var files: [File] = []
    while let entry = entries.nextObject() as? String {
      let name = (entry as NSString).lastPathComponent
      if generated.contains(name) {
        entries.skipDescendants()
        continue
      }
      guard endings.contains((name as NSString).pathExtension) else { continue }
      let text = try String(contentsOfFile: base + "/" + entry, encoding: .utf8)
      files.append(File(path: folder + "/" + entry, text: text))
    }
    return files.sorted { $0.path < $1.path }
  }
}

extension StringProtocol {
  /// Whether the text contains the bytes of a word, before its first NUL.
  ///
  /// The C library searches: Swift's own search goes by characters, and over all files that took
  /// longer than most suites.
  func holds(_ word: String) -> Bool {
    withCString { text in word.withCString { strstr(text, $0) != nil } }
  }
}
