import Glibc

/// The workloads for which a folder has files.
enum Catalogue {
  /// The names of a folder's files, sorted; empty if there is no such folder.
  static func files(in folder: String) throws(BenchError) -> [String] {
    var names: [String] = []
    guard let directory = opendir(folder) else {
      if errno == ENOENT { return [] }
      throw BenchError("\(folder) cannot be read: \(String(cString: strerror(errno)))")
    }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) {
          String(decoding: $0.prefix(while: { $0 != 0 }), as: UTF8.self)
        })
    }
    return names.sorted()
  }

  static func workloads(in folder: String) throws(BenchError) -> [String] {
    let names = try files(in: folder).filter { $0.hasSuffix(".jsonl") }.map { $0.dropLast(6) }
    guard !names.isEmpty else {
      throw BenchError("\(folder) has no workload files; ot-bench generate \(folder) writes them")
    }
    return names.flatMap { name -> [String] in
      if name == "pairs-large" {
        return [
          "pairs:\(name)", "apply1:\(name)", "decode:\(name)", "encode:\(name)", "rich:\(name)",
        ]
      }
      if name == "pairs-small" {
        return ["pairs:\(name)", "apply1:\(name)", "rich:\(name)", "rich:edit", "rich:compose"]
      }
      if name.hasPrefix("pairs-") { return ["pairs:\(name)", "apply1:\(name)"] }
      if name.hasPrefix("operation-") { return ["decode:\(name)", "encode:\(name)"] }
      if name.hasPrefix("trace-") {
        let trace = name.dropFirst(6)
        return [
          "apply:\(trace)", "compose:chunk.\(trace)", "compose:tree.\(trace)",
          "compose:fold.\(trace)", "rich:apply.\(trace)",
        ]
      }
      if name == "rebase-10k" { return ["rebase:10k", "rich:rebase"] }
      if name.hasPrefix("rebase-") { return ["rebase:\(name.dropFirst(7))"] }
      if name.hasPrefix("session-") { return ["session:\(name.dropFirst(8))"] }
      return name == "cursors" ? ["cursors"] : []
    }
  }
}
