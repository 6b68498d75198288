import ParleyGatewayPorts
import ParleyHashing
import OTCore

/// The log in an export of operations, read line by line after the first.
struct ImportedLog {
  /// The revision that the exported log begins after.
  private let base: Int
  /// Added to a revision of the export, it is the revision in the new log.
  private(set) var offset = 0
  private(set) var entries: [LogEntry] = []
  private(set) var versions: [NamedVersion] = []
  private(set) var files: [FileDraft] = []
  private var comments: [Comment] = []

  init(base: Int) { self.base = base }

  /// Takes the text at the base, as the entry that stands for all before it.
  mutating func begin(with entry: LogEntry) {
    entries = [entry]
    offset = 1 - base
  }

  /// Reads a line, whose number the error names.
  mutating func read(_ line: ArraySlice<UInt8>, number: Int) throws(ExportError) {
    let fields = JSONFields(line)
    if let fields, fields.has("file") {
      files.append(try Self.file(fields, line: number))
    } else if let fields, fields.has("comment") {
      guard let comment = CommentCoding.comment(fields) else {
        throw .malformed(line: number, expected: "a comment")
      }
      comments.append(comment)
    } else {
      try readChange(fields, number: number)
    }
  }

  /// Reads an entry or a version.
  private mutating func readChange(_ fields: JSONFields?, number: Int) throws(ExportError) {
    guard let fields, let revision = fields.integer("revision"),
      revision > base || (revision == base && fields.has("version")), revision < Int(Int32.max),
      let author = fields.string("author"), let time = fields.integer("time")
    else { throw .malformed(line: number, expected: "an entry of a log, or a version") }
    if let name = fields.string("version") {
      versions.append(
        NamedVersion(
          revision: revision + offset, name: OneLine.made(of: name), author: author,
          time: Timestamp(time)))
      return
    }
    guard let client = fields.string("client"), let sequence = fields.integer("sequence"),
      let digest = fields.string("digest").flatMap({ UInt64($0, radix: 16) }),
      let operation = fields.operation("operation")
    else { throw .malformed(line: number, expected: "an entry of a log") }
    guard revision + offset == entries.count + 1, operation.baseLength == length else {
      throw .malformed(
        line: number, expected: "the entry of revision \(entries.count + 1 - offset)")
    }
    entries.append(
      LogEntry(
        revision: revision + offset, client: client, sequence: sequence, digest: digest,
        operation: operation, author: author, time: Timestamp(time)))
  }

  /// Unicode scalars of the text at the head.
  private var length: Int { entries.last?.operation.targetLength ?? 0 }

  /// The comments, as comments of the new log.
  func settledComments(in epoch: String) -> [Comment] {
    comments.map { comment in
      var comment = comment
      comment.settle(in: epoch, movedBy: offset, head: entries.count, length: length)
      return comment
    }
  }

  /// Reads a file, whose content has to be what its hash says: the note's text names it by that.
  private static func file(_ fields: JSONFields, line: Int) throws(ExportError) -> FileDraft {
    guard let name = fields.string("file"), let time = fields.integer("time"),
      let hash = fields.string("hash"),
      let bytes = fields.string("bytes").flatMap({ Base64.standard.decode($0.utf8) }),
      !bytes.isEmpty,
      Array(hash.utf8) == RecordHasher().hash(ofFile: bytes).digits
    else { throw .malformed(line: line, expected: "a file with the hash of its bytes") }
    return FileDraft(name: FileName.clean(name), bytes: bytes, time: Timestamp(time))
  }
}

extension Comment {
  /// Makes a comment of an export one of the imported log: its range applies to the head there, and
  /// the revision that it was made at has another number.
  fileprivate mutating func settle(
    in epoch: String, movedBy offset: Int, head: Int, length: Int
  ) {
    guard var place = anchor, var made = origin else { return }
    place.revision = head
    place.end = min(place.end, length)
    place.start = min(place.start, place.end)
    made.epoch = epoch
    made.anchor.revision += offset
    // The log that it was made on may have been forgotten before it was exported.
    if !(1...max(head, 1)).contains(made.anchor.revision) { made.anchor = place }
    (anchor, origin) = (place, made)
  }
}
