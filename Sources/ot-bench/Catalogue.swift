import Glibc

/// Which workloads a folder has files for.
enum Catalogue {
  static func workloads(in folder: String) throws(BenchError) -> [String] {
    var names: [String] = []
    guard let directory = opendir(folder) else {
      throw BenchError("\(folder) cannot be read: \(String(cString: strerror(errno)))")
    }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix(while: { $0 != 0 }), as: UTF8.self)
      }
      if name.hasSuffix(".jsonl") { names.append(String(name.dropLast(6))) }
    }
    return names.sorted().flatMap { name -> [String] in
      if name.hasPrefix("pairs-") { return ["pairs:\(name)", "apply1:\(name)"] }
      if name.hasPrefix("trace-") {
        let trace = name.dropFirst(6)
        return [
          "apply:\(trace)", "compose:chunk.\(trace)", "compose:tree.\(trace)",
          "compose:fold.\(trace)",
        ]
      }
      if name.hasPrefix("rebase-") { return ["rebase:\(name.dropFirst(7))"] }
      if name.hasPrefix("session-") { return ["session:\(name.dropFirst(8))"] }
      return name == "cursors" ? ["cursors"] : []
    }
  }
}
