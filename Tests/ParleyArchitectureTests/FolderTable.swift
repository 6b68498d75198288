import Testing

/// The table of a module's folders, and whose types each may name: the compiler sees no folders.
struct FolderTable {
  /// The module's folder.
  let root: String
  /// For each folder, the other folders whose types it may name. The folder of the module itself puts
  /// the others together: it may name all of them, and none names it.
  let allowed: [String: Set<String>]

  /// Records each name that the table does not allow, and each permission that is not used.
  func check(_ tree: SourceTree) throws {
    let files = try tree.files(in: root, endings: ["swift"])
    var declaring: [String: Set<String>] = [:]
    for file in files {
      for type in Self.types(in: file) { declaring[type, default: []].insert(folder(of: file)) }
    }
    var named: [String: Set<String>] = allowed.mapValues { _ in [] }
    for file in files where folder(of: file) != "" {
      let own = folder(of: file)
      let allowed = try #require(allowed[own], "\(own) is not in the table")
      for word in Self.words(in: file) {
        guard let folders = declaring[word], !folders.contains(own) else { continue }
        #expect(!allowed.isDisjoint(with: folders), "\(file.path) names \(word)")
        named[own]?.formUnion(folders)
      }
    }
    for (folder, allowed) in allowed {
      let unused = allowed.subtracting(named[folder] ?? []).sorted()
      #expect(unused.isEmpty, "\(folder) may name \(unused), and does not")
    }
  }

  /// The folders through which a circle goes, two that name each other included.
  var circle: [String] {
    var rest = allowed
    while true {
      let lowest = rest.filter { $0.value.isDisjoint(with: rest.keys) }
      guard !lowest.isEmpty else { return rest.keys.sorted() }
      for folder in lowest.keys { rest[folder] = nil }
    }
  }

  /// The folder below the module's; empty for a file directly in it.
  func folder(of file: SourceTree.File) -> String {
    file.path.dropFirst(root.count + 1).split(separator: "/").dropLast().joined(separator: "/")
  }

  /// The types that a file declares for others.
  private static func types(in file: SourceTree.File) -> [String] {
    file.code.compactMap { line in
      guard line.utf8.first.map(isOfWord) == true else { return nil }
      return line.firstMatch(
        of: /^(?:(?:public|package|final) )*(?:struct|class|enum|protocol|typealias) (\w+)/
      ).map { String($0.1) }
    }
  }

  /// The words of a file that may be names of types; a word after a dot belongs to another type.
  static func words(in file: SourceTree.File) -> Set<String> {
    var words: Set<String> = []
    for line in file.code {
      for word in line.utf8.split(whereSeparator: { !isOfWord($0) }) {
        let before = line.utf8[..<word.startIndex].suffix(2)
        guard before.last != UInt8(ascii: ".") || before.elementsEqual("..".utf8) else { continue }
        words.insert(String(Substring(word)))
      }
    }
    return words
  }

  /// Whether names have this byte: letters, digits, and whatever is not of ASCII.
  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }
}
