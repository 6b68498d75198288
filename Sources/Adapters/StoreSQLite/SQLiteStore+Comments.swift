import GatewayPorts
import OTCore
import StoreRecords

/// Comments of notes: a row each, and their anchors, which move with the log.
extension SQLiteStore {
  func reply(to request: CommentRequest) throws(StoreError) -> CommentReply {
    try comments(of: existingRow(request.note)).reply(to: request.work)
  }

  func comments(of row: DocumentRow) -> SQLiteComments { SQLiteComments(store: self, row: row) }

  // MARK: Checking

  /// Whether each comment is what was written, and stands within the note's log.
  func checkComments(
    of row: DocumentRow, _ findings: inout StoreFindings
  ) throws(StoreError) {
    findings.checkComments(try comments(of: row).comments(), of: row)
  }

  /// A comment that is not what was kept.
  static var damagedComment: StoreError {
    .damaged("a comment of a note differs from its checksum; \(damageAdvice)")
  }
}

/// The comments of one note, within a transaction.
struct SQLiteComments: CommentLedger {
  let store: SQLiteStore
  let row: DocumentRow

  var epoch: String { row.epoch }
  var base: Int { row.base }
  var head: Int { row.revision }
  var folder: FolderPath { row.folder }

  func text(at revision: Int) throws(StoreError) -> Document {
    try store.fold(of: row, at: revision).document
  }

  func forEachOperation(
    after: Int, through: Int, _ body: (TextOperation) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard after < through else { return }
    guard after >= row.base else { throw .compacted(oldestRevision: row.base) }
    try store.walk(
      row, after: after, through: through, chain: try store.chain(at: after, of: row)
    ) { entry throws(StoreError) in try body(entry.operation) }
  }

  private func read(_ found: SQLiteStatement) throws(StoreError) -> Comment {
    let bytes = found.bytes(0)
    guard
      found.withBytes(1, { RecordChecksum($0) })
        == store.hasher.checksum(ofComment: bytes, document: row.id),
      let comment = CommentCoding.comment(bytes)
    else { throw SQLiteStore.damagedComment }
    return comment
  }

  func comments() throws(StoreError) -> [Comment] {
    try store.sql("SELECT data, checksum FROM comments WHERE document = ? ORDER BY id").rows(
      row.number
    ) { found throws(StoreError) in try read(found) }
  }

  func comment(_ id: CommentID) throws(StoreError) -> Comment? {
    try store.sql("SELECT data, checksum FROM comments WHERE document = ? AND id = ?").first(
      row.number, id
    ) { found throws(StoreError) in try read(found) }
  }

  func count() throws(StoreError) -> Int {
    try store.sql("SELECT count(*) FROM comments WHERE document = ?").first(row.number) {
      $0.integer(0)
    } ?? 0
  }

  func hasAnswers(_ thread: CommentID) throws(StoreError) -> Bool {
    try store.sql("SELECT 1 FROM comments WHERE document = ? AND thread = ? LIMIT 1").first(
      row.number, thread
    ) { $0.integer(0) } != nil
  }

  func keep(_ comment: Comment) throws(StoreError) {
    let bytes = CommentCoding.line(comment)
    try store.sql(
      """
      INSERT OR REPLACE INTO comments (document, id, thread, data, checksum) VALUES (?, ?, ?, ?, ?)
      """
    ).run(
      row.number, comment.id, comment.thread ?? "", bytes,
      store.hasher.checksum(ofComment: bytes, document: row.id))
  }

  func remove(_ id: CommentID) throws(StoreError) {
    try store.sql("DELETE FROM comments WHERE document = ? AND id = ?").run(row.number, id)
  }
}
