import ParleyGatewayPorts
import OTCore

/// The comments of a note in memory: copies of its log and comments. The caller stores changes.
final class MemoryComments: CommentLedger {
  let epoch: Epoch
  let base: Int
  let folder: FolderPath
  private let entries: [LogEntry]
  private(set) var kept: [CommentID: Comment]

  init(
    _ kept: [CommentID: Comment], epoch: Epoch, base: Int, in folder: FolderPath,
    entries: [LogEntry]
  ) {
    self.kept = kept
    self.epoch = epoch
    self.base = base
    self.folder = folder
    self.entries = entries
  }

  var head: Int { entries.count }

  func text(at revision: Int) throws(StoreError) -> Document {
    var document = Document()
    for entry in entries[..<revision] { document.apply(logged: entry) }
    return document
  }

  func forEachOperation(
    after: Int, through: Int, _ body: (TextOperation) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard after < through else { return }
    guard after >= base else { throw .compacted(oldestRevision: base) }
    for entry in entries[after..<through] { try body(entry.operation) }
  }

  func comments() throws(StoreError) -> [Comment] { Array(kept.values) }

  func comment(_ id: CommentID) throws(StoreError) -> Comment? { kept[id] }

  func count() throws(StoreError) -> Int { kept.count }

  func hasAnswers(_ thread: CommentID) throws(StoreError) -> Bool {
    kept.values.contains { $0.thread == thread }
  }

  func keep(_ comment: Comment) throws(StoreError) { kept[comment.id] = comment }

  func remove(_ id: CommentID) throws(StoreError) { kept[id] = nil }
}

extension NoteContent {
  /// Applies an entry of the note's own log.
  mutating func apply(logged entry: LogEntry) {
    do throws(OperationError) {
      try apply(entry.operation, entry.format)
    } catch {
      fatalError("the entry of revision \(entry.revision) does not apply: \(error)")
    }
  }
}

extension Document {
  /// Applies an entry of the document's own log.
  mutating func apply(logged entry: LogEntry) {
    do throws(OperationError) {
      try apply(entry.operation)
    } catch {
      fatalError("the entry of revision \(entry.revision) does not apply: \(error)")
    }
  }
}
