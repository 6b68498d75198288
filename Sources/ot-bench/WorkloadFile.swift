import Glibc
import OTCore

/// A workload: a header line, then a line for each item.
struct WorkloadFile {
  /// An edit of a trace, in Unicode scalars.
  struct Patch {
    var position: Int
    var deleted: Int
    var inserted: String
  }

  let header: JSONValue
  let lines: [ArraySlice<UInt8>]
  private let folder: String

  init(_ name: String, in folder: String) throws(BenchError) {
    self.folder = folder
    let bytes = try Self.bytes(of: "\(folder)/\(name).jsonl")
    var lines = bytes.split(separator: 0x0a)
    guard !lines.isEmpty else { throw BenchError("\(name).jsonl is empty") }
    header = try JSONParser.value(of: lines.removeFirst())
    self.lines = lines
  }

  /// Returns a file's bytes, decompressed by `gzip` if it is packed.
  static func bytes(of path: String, isPacked: Bool = false) throws(BenchError) -> [UInt8] {
    let quoted = path.split(separator: "'", omittingEmptySubsequences: false)
      .joined(separator: "'\\''")
    guard let file = isPacked ? popen("gzip -dc '\(quoted)'", "r") : fopen(path, "rb") else {
      throw BenchError("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    defer { _ = isPacked ? pclose(file) : fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = fread(&chunk, 1, chunk.count, file)
      if count == 0 { return bytes }
      bytes.append(contentsOf: chunk[..<count])
    }
  }

  func integer(_ key: String) throws(BenchError) -> Int {
    guard let value = header[key]?.int else { throw BenchError("the header has no number \(key)") }
    return value
  }

  func text(_ key: String) throws(BenchError) -> String {
    guard let value = header[key]?.text else { throw BenchError("the header has no text \(key)") }
    return value
  }

  /// The text file that the header names.
  func document() throws(BenchError) -> String {
    String(decoding: try Self.bytes(of: "\(folder)/\(try text("doc"))"), as: UTF8.self)
  }

  func pairs() throws(BenchError) -> [(a: TextOperation, b: TextOperation)] {
    var pairs: [(a: TextOperation, b: TextOperation)] = []
    for line in lines {
      let value = try JSONParser.value(of: line)
      guard let a = value["a"]?.operation, let b = value["b"]?.operation else {
        throw BenchError("expected a line with operations a and b")
      }
      pairs.append((a, b))
    }
    return pairs
  }

  func patches() throws(BenchError) -> [Patch] {
    var patches: [Patch] = []
    for line in lines {
      guard let list = try JSONParser.value(of: line).list, list.count == 3,
        let position = list[0].int, let deleted = list[1].int, let inserted = list[2].text
      else { throw BenchError("expected a line with position, deleted and inserted") }
      patches.append(Patch(position: position, deleted: deleted, inserted: inserted))
    }
    return patches
  }

  func operations() throws(BenchError) -> [TextOperation] {
    var operations: [TextOperation] = []
    for line in lines {
      guard let operation = try JSONParser.value(of: line).operation else {
        throw BenchError("expected a line with an operation")
      }
      operations.append(operation)
    }
    return operations
  }

  /// The patches as operations on a text that begins as `start`.
  static func operations(
    of patches: [Patch], on start: String
  ) -> [TextOperation] {
    var length = start.unicodeScalars.count
    return patches.map { patch in
      var operation = TextOperation()
      operation.retain(patch.position)
      operation.insert(patch.inserted)
      operation.delete(patch.deleted)
      operation.retain(length - patch.position - patch.deleted)
      length = operation.targetLength
      return operation
    }
  }
}
