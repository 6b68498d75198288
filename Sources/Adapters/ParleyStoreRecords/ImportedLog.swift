import ParleyGatewayPorts
import ParleyHashing
import OTCore

/// The log in an export of operations, read line by line after the header line.
struct ImportedLog {
  /// The revision before the first exported entry.
  private let base: Int
  /// The difference between an entry's revision in the new log and in the export.
  private(set) var offset = 0
  private(set) var entries: [LogEntry] = []
  private(set) var versions: [NamedVersion] = []
  private(set) var files: [FileDraft] = []
  private var comments: [Comment] = []

  init(base: Int) { self.base = base }

  /// Begins the log with an entry that inserts the text at the base, replacing all earlier entries.
  mutating func begin(with entry: LogEntry) {
    entries = [entry]
    offset = 1 - base
  }

  /// Reads a line. Errors contain its `number`.
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

  /// Reads an entry or a named version.
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
    let format: ChangeFormat?
    do throws(OperationError) {
      format =
        try fields.json("format").map { json throws(OperationError) in
          try ChangeFormat(json: json, of: operation)
        } ?? nil
    } catch {
      throw .malformed(line: number, expected: "a format that fits the operation")
    }
    entries.append(
      LogEntry(
        revision: revision + offset, client: client, sequence: sequence, digest: digest,
        operation: operation, format: format, author: author, time: Timestamp(time)))
  }

  /// The length of the text at the head, in Unicode scalars.
  private var length: Int { entries.last?.operation.targetLength ?? 0 }

  /// Returns the comments, converted to the revisions of the new log.
  func settledComments(in epoch: Epoch) -> [Comment] {
    comments.map { comment in
      var comment = comment
      comment.settle(in: epoch, movedBy: offset, head: entries.count, length: length)
      return comment
    }
  }

  /// Reads a file, and verifies its content against its hash, which the note's text contains.
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
  /// Converts an exported comment to the imported log: moves its range to the head, and its
  /// original revision by `offset`.
  fileprivate mutating func settle(
    in epoch: Epoch, movedBy offset: Int, head: Int, length: Int
  ) {
    guard var place = anchor, var made = origin else { return }
    place.revision = head
    place.end = min(place.end, length)
    place.start = min(place.start, place.end)
    made.epoch = epoch
    made.anchor.revision += offset
    // The exported log may not reach back to the revision at which the comment was made.
    if !(1...max(head, 1)).contains(made.anchor.revision) { made.anchor = place }
    (anchor, origin) = (place, made)
  }
}
