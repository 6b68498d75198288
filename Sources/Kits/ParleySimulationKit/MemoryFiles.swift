import ParleyGatewayPorts

/// The files of a note, in memory.
///
/// File hashes are not cryptographic here: they only distinguish the contents in tests.
struct MemoryFiles {
  private struct Kept {
    var file: NoteFile
    var bytes: [UInt8]
    var seen = -1
  }

  private var kept: [FileHash: Kept] = [:]

  /// The files, the newest first.
  var list: [NoteFile] {
    kept.values.map(\.file).sorted {
      $0.time == $1.time
        ? $0.hash.bytes.lexicographicallyPrecedes($1.hash.bytes) : $0.time > $1.time
    }
  }

  mutating func put(_ draft: FileDraft, _ limits: FileLimits) -> FileReply {
    let hash = Self.hash(draft.bytes)
    if var known = kept[hash] {
      known.file.time = TimeOrder.following(known.file.time, draft.time)
      kept[hash] = known
      return .kept(known.file, isNew: false)
    }
    guard kept.count < limits.noteFilesMax else { return .tooManyFiles(count: kept.count) }
    let taken = kept.values.reduce(0) { $0 + $1.bytes.count }
    guard draft.bytes.count <= limits.noteBytesMax - taken else {
      return .noteFull(byteCount: taken)
    }
    let file = NoteFile(
      hash: hash, name: draft.name, byteCount: draft.bytes.count, time: draft.time)
    kept[hash] = Kept(file: file, bytes: draft.bytes)
    return .kept(file, isNew: true)
  }

  func file(_ hash: FileHash, withBytes: Bool) -> FileReply {
    guard let known = kept[hash] else { return .unknownFile }
    return .file(known.file, withBytes ? known.bytes : nil)
  }

  func unsettled(before time: Timestamp, base: Int) -> [FileHash] {
    kept.values.filter { $0.file.time < time && $0.seen < base }.map(\.file.hash)
  }

  mutating func settle(_ uses: FileUses, head: Int, before time: Timestamp) -> FileReply {
    var removed = 0
    for (hash, newest) in uses.newest {
      guard let known = kept[hash] else { continue }
      if let newest {
        kept[hash]?.seen = max(known.seen, newest)
      } else if uses.head == head, known.file.time < time {
        kept[hash] = nil
        removed += 1
      }
    }
    return .settled(removed: removed)
  }

  /// Returns four FNV-1a hashes with different starts.
  private static func hash(_ bytes: [UInt8]) -> FileHash {
    var all: [UInt8] = []
    for start in UInt64(0)..<4 {
      let hash = FNV1a(bytes, start: start)
      withUnsafeBytes(of: hash.value.bigEndian) { all += $0 }
    }
    guard let hash = FileHash(all) else { preconditionFailure("four words have 32 bytes") }
    return hash
  }
}
