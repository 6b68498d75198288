public import ParleyGatewayPorts
import OTCore
import ParleyJSON

/// An importer of notes from text files, or from the output of `NoteExport`.
///
/// An imported note has a new id and epoch. From an export of operations it gets the whole log,
/// with authors, times and clients; one entry inserts the text at the base, in place of the
/// compacted entries. If any part fails, the note is removed.
public struct NoteImport {
  private let store: any DocumentStore

  /// Creates an import into a store.
  public init(into store: any DocumentStore) { self.store = store }

  /// The properties of an imported note that its file does not contain, and the limits.
  public struct Details: Sendable {
    /// The new note's id.
    public var id: DocumentID
    /// The new log's epoch, which must be random.
    public var epoch: Epoch
    /// The title, used if the file contains no title.
    public var title: String
    /// The folder of the note, used if the file contains no folder.
    public var folder: FolderPath = .none
    /// The kind of the note, used if the file contains no kind.
    public var kind: NoteKind = .plain
    /// The author of the text, used if the file contains no author.
    public var author: String
    /// The time of the import.
    public var time: Timestamp
    /// The maximum length of the title, in bytes of UTF-8.
    public var titleBytesMax: Int
    /// The maximum length of the text at the head, in Unicode scalars.
    public var textScalarsMax: Int

    /// Creates details, by default without limits.
    public init(
      id: DocumentID, epoch: Epoch, title: String, author: String, time: Timestamp,
      titleBytesMax: Int = .max, textScalarsMax: Int = .max
    ) {
      self.id = id
      self.epoch = epoch
      self.title = title
      self.author = author
      self.time = time
      self.titleBytesMax = titleBytesMax
      self.textScalarsMax = textScalarsMax
    }
  }

  /// A note that was parsed and is not stored yet.
  public struct Draft: Sendable {
    /// The summary that the stored note will have.
    public let summary: NoteSummary
    /// The bytes by which the note counts towards the size of a batch.
    public let bytes: Int
    fileprivate let requests: [StoreRequest]

    /// Whether the draft's text equals `text`, scalar by scalar.
    public func hasText(_ text: String) -> Bool {
      var document = Document()
      for case .append(_, _, let entries, _) in requests {
        for entry in entries where (try? document.apply(entry.operation)) == nil { return false }
      }
      return document.text.isExactly(text)
    }
  }

  /// Imports one note.
  ///
  /// - Returns: The stored note.
  @discardableResult
  public func importNote(
    _ bytes: [UInt8], as format: ExportFormat, _ details: Details
  ) throws(ExportError) -> NoteSummary {
    switch make([try Self.draft(bytes, as: format, details)])[0] {
    case .failure(let error): throw error
    case .success(let note):
      guard case .document(let stored) = store.perform([.load(id: note.id, recentMax: 0)])[0]
      else { throw .store(.unavailable("the note was imported, but could not be read back")) }
      return stored.summary
    }
  }

  /// Whether a file of the format `json` has formatting.
  public static func hasFormatting(_ json: [UInt8]) -> Bool {
    JSONFields(json[...])?.json("format") != nil
  }

  /// Parses one note.
  public static func draft(
    _ bytes: [UInt8], as format: ExportFormat, _ details: Details
  ) throws(ExportError) -> Draft {
    switch format {
    case .markdown, .text:
      let plain = WholeText.normalized(bytes)
      return try draft(details, entries: [try entry(inserting: plain, details)], bytes: bytes.count)
    case .json:
      guard let fields = JSONFields(bytes[...]), let text = fields.string("text") else {
        throw .malformed(line: 1, expected: "a JSON object with a string called text")
      }
      var details = details
      details.title = fields.string("title") ?? details.title
      details.folder = folder(fields) ?? details.folder
      let format = fields.json("format")
      details.kind = try kind(fields) ?? (format == nil ? details.kind : .rich)
      // Positions of attributes hold for the text as it was exported.
      let plain = format == nil ? WholeText.normalized(Array(text.utf8)) : Array(text.utf8)
      let start = try entry(inserting: plain, format: format, details)
      return try draft(details, entries: [start], bytes: bytes.count)
    case .html: throw .malformed(line: 1, expected: "a file that is not HTML")
    case .operations: return try draft(ofLog: bytes, details)
    }
  }

  /// Stores notes in one commit: if the disk is full, no note is stored. Then runs the store's
  /// housekeeping, so that a long log has its snapshots before it is read.
  ///
  /// - Returns: The note or the error of each draft.
  public func make(_ drafts: [Draft]) -> [Result<NoteSummary, ExportError>] {
    let replies = store.perform(drafts.flatMap(\.requests))
    while store.maintain() {}
    var place = 0
    return drafts.map { draft in
      let own = replies[place..<place + draft.requests.count]
      place = own.endIndex
      if let error = own.first?.failure { return .failure(.store(error)) }
      if let error = own.lazy.compactMap(\.failure).first {
        // The store performed only some of the draft's requests.
        _ = store.perform([.delete(id: draft.summary.id)])
        return .failure(.store(error))
      }
      return .success(draft.summary)
    }
  }

  /// The client name of imported text. Servers never create such a name.
  private static let client = "import"

  private static func entry(
    inserting utf8: [UInt8], format json: [UInt8]? = nil, _ details: Details
  ) throws(ExportError) -> LogEntry {
    var operation = TextOperation()
    do throws(OperationError) {
      try utf8.withUnsafeBufferPointer { utf8 throws(OperationError) in
        try operation.insert(utf8: utf8)
      }
    } catch {
      let line = utf8.prefix(Self.validPrefix(utf8)).count { $0 == 0x0a } + 1
      throw .malformed(line: line, expected: "UTF-8")
    }
    let format: ChangeFormat?
    do throws(OperationError) {
      format =
        try json.map { json throws(OperationError) in
          try ChangeFormat(json: json, of: operation)
        } ?? nil
    } catch {
      throw .malformed(line: 1, expected: "a format that fits the text")
    }
    return LogEntry(
      revision: 1, client: client, sequence: 0, digest: 0, operation: operation, format: format,
      author: details.author, time: details.time)
  }

  /// Returns the length of the longest prefix that is valid UTF-8, in bytes.
  private static func validPrefix(_ utf8: [UInt8]) -> Int {
    var decoder = Unicode.UTF8.ForwardParser()
    var iterator = utf8.makeIterator()
    var count = 0
    while case .valid(let scalar) = decoder.parseScalar(from: &iterator) { count += scalar.count }
    return count
  }

  /// Returns the folder in an export; `nil` if it is invalid, which does not prevent the import.
  private static func folder(_ fields: JSONFields) -> FolderPath? {
    fields.string("folder").flatMap { try? FolderPath($0) }
  }

  /// Returns the kind in an export; `nil` if missing.
  private static func kind(_ fields: JSONFields) throws(ExportError) -> NoteKind? {
    guard let word = fields.string("kind") else { return nil }
    guard let kind = NoteKind(rawValue: word) else {
      throw .malformed(line: 1, expected: "a kind of note that this program knows")
    }
    return kind
  }

  // MARK: Logs

  private static func draft(
    ofLog bytes: [UInt8], _ details: Details
  ) throws(ExportError) -> Draft {
    var lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)[...]
    guard let first = lines.popFirst().flatMap({ JSONFields($0) }),
      let kind = NoteKind(rawValue: first.string("kind") ?? NoteKind.plain.rawValue),
      first.string("format") == NoteExport.operationsFormat(of: kind),
      let base = first.integer("baseRevision"), base >= 0,
      let baseText = first.string("baseText"), let baseTime = first.integer("baseTime")
    else {
      throw .malformed(line: 1, expected: "the first line of an export of operations")
    }
    let head = first.integer("revision")
    if let head, head < base {
      throw .malformed(
        line: 1, expected: "a revision that is not before the base revision, \(base)")
    }
    var details = details
    details.title = first.string("title") ?? details.title
    details.folder = Self.folder(first) ?? details.folder
    details.kind = kind
    var log = ImportedLog(base: base)
    if base > 0 {
      var start = details
      start.time = Timestamp(baseTime)
      start.author = ""
      log.begin(
        with: try Self.entry(
          inserting:
            Array(baseText.utf8), format: first.json("baseFormat"), start))
    }
    for (number, line) in lines.enumerated() where !line.isEmpty {
      try log.read(line, number: number + 2)
    }
    if let head, log.entries.count < head + log.offset {
      throw .malformed(
        line: lines.count { !$0.isEmpty } + 2,
        expected: "all \(head) revisions that the first line names; the file seems cut")
    }
    return try draft(
      details, entries: log.entries, versions: log.versions, files: log.files,
      comments: log.settledComments(in: details.epoch), bytes: bytes.count)
  }

  // MARK: The note

  private static func draft(
    _ details: Details, entries: [LogEntry], versions: [NamedVersion] = [],
    files: [FileDraft] = [], comments: [Comment] = [], bytes: Int
  ) throws(ExportError) -> Draft {
    let title = OneLine.made(of: details.title)
    guard title.utf8.count <= details.titleBytesMax else {
      throw .titleTooLong(bytes: title.utf8.count, max: details.titleBytesMax)
    }
    let length = entries.last?.operation.targetLength ?? 0
    guard length <= details.textScalarsMax else {
      throw .textTooLong(characters: length, max: details.textScalarsMax)
    }
    let created = entries.first.map { min($0.time, details.time) } ?? details.time
    var batch: [StoreRequest] = [
      .create(
        id: details.id, epoch: details.epoch, title: title, time: created,
        folder: details.folder, kind: details.kind)
    ]
    for start in stride(from: 0, to: entries.count, by: NoteExport.entriesAtOnce) {
      let end = min(start + NoteExport.entriesAtOnce, entries.count)
      batch.append(
        .append(id: details.id, epoch: details.epoch, entries: Array(entries[start..<end])))
    }
    batch += versions.map {
      .saveVersion(id: details.id, epoch: details.epoch, version: $0)
    }
    // A thread's first comment must be stored before its replies.
    for comment in comments.filter({ $0.thread == nil }) + comments.filter({ $0.thread != nil }) {
      batch.append(
        .comments(CommentRequest(note: details.id, .add(comment, countMax: .max))))
    }
    batch += files.map { .files(.put(id: details.id, $0, .unbounded)) }
    let summary = NoteSummary(
      id: details.id, title: title, revision: entries.count, createdAt: created,
      updatedAt: entries.last?.time ?? created, folder: details.folder, kind: details.kind)
    return Draft(summary: summary, bytes: bytes, requests: batch)
  }
}
