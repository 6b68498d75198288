public import ParleyGatewayPorts
import ParleyHashing
import ParleyRichForms
import OTCore

/// An exporter of notes from a store.
public struct NoteExport {
  private let store: any DocumentStore

  /// Creates an export from a store, which may be opened read-only.
  public init(from store: any DocumentStore) { self.store = store }

  /// Exports one note.
  ///
  /// - Parameters:
  ///   - id: The note's id.
  ///   - format: The format. `operations` also writes the log from its base on; the other formats
  ///     write only the text at the head.
  ///   - files: The address of the note's files in HTML, which `HASH/name` follows.
  ///   - write: Receives the bytes in order, in pieces.
  public func export(
    _ id: DocumentID, as format: ExportFormat, files: String = "files/",
    to write: ([UInt8]) -> Void
  ) throws(ExportError) {
    let stored: StoredDocument
    switch one(.load(id: id, recentMax: 0)) {
    case .document(let document): stored = document
    case let reply: throw unexpected(reply)
    }
    switch format {
    // Text files have uniform line endings; the other formats have the text as committed.
    case .text: write(WholeText.shown(stored.content.utf8))
    case .markdown:
      switch stored.summary.kind {
      case .plain: write(WholeText.shown(stored.content.utf8))
      case .rich: write(try form { () throws(FormError) in try stored.content.document.markdown() })
      }
    case .html:
      let title = stored.summary.title
      write(
        try form { () throws(FormError) in
          try stored.content.document.htmlPage(title: title, files: files)
        })
    case .json:
      var line = JSONLine()
      Self.describe(stored, in: &line)
      line.add("text", stored.text)
      Self.add("format", stored.content, to: &line)
      line.end()
      write(line.bytes)
    case .operations: try exportLog(of: stored, to: write)
    }
  }

  private func form(_ write: () throws(FormError) -> [UInt8]) throws(ExportError) -> [UInt8] {
    do throws(FormError) {
      return try write()
    } catch {
      switch error {
      case .tooLarge(let bytesMax): throw .formTooLarge(bytesMax: bytesMax)
      }
    }
  }

  private static func describe(_ stored: StoredDocument, in line: inout JSONLine) {
    line.add("id", stored.summary.id)
    line.add("title", stored.summary.title)
    line.add("createdAt", Int(stored.summary.createdAt))
    line.add("updatedAt", Int(stored.summary.updatedAt))
    line.add("epoch", stored.epoch)
    line.add("revision", stored.summary.revision)
    if !stored.summary.folder.isNone { line.add("folder", stored.summary.folder.text) }
    if stored.summary.kind != .plain { line.add("kind", stored.summary.kind.rawValue) }
  }

  /// Adds the attributes of a text, if it has some.
  private static func add(
    _ name: StaticString, _ content: NoteContent, to line: inout JSONLine
  ) {
    let json = content.formatJSON
    if !json.isEmpty { line.add(name, json: json) }
  }

  /// Writes the header line with the text at the log's base, then the log.
  private func exportLog(
    of stored: StoredDocument, to write: ([UInt8]) -> Void
  ) throws(ExportError) {
    let id = stored.summary.id
    let head = stored.summary.revision
    let base = try base(of: id, head: head)
    guard case .text(let baseText) = one(.text(id: id, at: .revision(base))) else {
      throw .store(.compacted(oldestRevision: base))
    }
    var line = JSONLine()
    line.add("format", Self.operationsFormat(of: stored.summary.kind))
    Self.describe(stored, in: &line)
    line.add("baseRevision", base)
    line.add("baseTime", Int(baseText.time))
    line.add("baseText", baseText.text)
    Self.add("baseFormat", baseText.content, to: &line)
    line.end()
    write(line.bytes)
    var revision = base
    while revision < head {
      let through = min(revision + Self.entriesAtOnce, head)
      switch one(.entries(id: id, after: revision, through: through)) {
      case .entries(let entries):
        var bytes: [UInt8] = []
        for entry in entries { bytes += Self.line(entry) }
        write(bytes)
      case let reply: throw unexpected(reply)
      }
      revision = through
    }
    for file in try files(of: id) {
      guard let bytes = try content(of: file, in: id) else { continue }
      var line = JSONLine()
      line.add("file", file.name)
      line.add("hash", file.hash.description)
      line.add("time", Int(file.time))
      line.add("bytes", Base64.standard.encode(bytes))
      line.end()
      write(line.bytes)
    }
    switch one(.comments(CommentRequest(note: id, .list(at: head)))) {
    case .comments(.list(let list)):
      write(list.comments.flatMap(CommentCoding.line))
    case let reply: throw unexpected(reply)
    }
    switch one(.versions(id: id)) {
    case .versions(let versions):
      for version in versions.reversed() where version.revision >= base {
        var line = JSONLine()
        line.add("version", version.name)
        line.add("revision", version.revision)
        line.add("author", version.author)
        line.add("time", Int(version.time))
        line.end()
        write(line.bytes)
      }
    case let reply: throw unexpected(reply)
    }
  }

  /// The format's name in the header line of an export of operations. Programs that know only
  /// plain notes reject that of a rich one.
  static func operationsFormat(of kind: NoteKind) -> String {
    switch kind {
    case .plain: "parley.operations.1"
    case .rich: "parley.operations.2"
    }
  }

  static let entriesAtOnce = 1_000

  private static func line(_ entry: LogEntry) -> [UInt8] {
    var line = JSONLine()
    line.add("revision", entry.revision)
    line.add("client", entry.client)
    line.add("sequence", entry.sequence)
    // As a string: not every JSON reader supports 64-bit integers.
    line.add("digest", String(entry.digest, radix: 16))
    line.add("operation", entry.operation)
    if let format = entry.format {
      var json: [UInt8] = []
      format.appendJSON(to: &json)
      line.add("format", json: json)
    }
    line.add("author", entry.author)
    line.add("time", Int(entry.time))
    line.end()
    return line.bytes
  }

  /// Returns the files of a note, the oldest first.
  public func files(of id: DocumentID) throws(ExportError) -> [NoteFile] {
    switch one(.files(.list(id: id))) {
    case .files(.files(let files)): return files.reversed()
    case let reply: throw unexpected(reply)
    }
  }

  /// Returns the content of a file; `nil` if it was deleted meanwhile.
  public func content(of file: NoteFile, in id: DocumentID) throws(ExportError) -> [UInt8]? {
    switch one(.files(.read(id: id, file.hash, withBytes: true))) {
    case .files(.file(_, let bytes)): return bytes
    case .files(.unknownFile): return nil
    case let reply: throw unexpected(reply)
    }
  }

  /// Returns the revision before the oldest stored entry.
  private func base(of id: DocumentID, head: Int) throws(ExportError) -> Int {
    guard head > 0 else { return 0 }
    switch one(.entries(id: id, after: 0, through: 1)) {
    case .entries: return 0
    case .failed(.compacted(let oldest)): return oldest - 1
    case let reply: throw unexpected(reply)
    }
  }

  private func one(_ request: StoreRequest) -> StoreReply { store.perform([request])[0] }

  private func unexpected(_ reply: StoreReply) -> ExportError {
    if case .failed(let error) = reply { return .store(error) }
    preconditionFailure("the store's reply is not of the request's kind")
  }
}
