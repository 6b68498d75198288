import ParleyGatewayPorts
import OTCore

/// The comments of notes: one row each. Their anchors move with the log.
///
/// Before a change, the caller must lock the note's row.
struct CommentRules<Store: LogTable> {
  let store: Store

  func reply(to request: CommentRequest) throws(StoreError) -> CommentReply {
    try rows(of: store.existingRow(request.note)).reply(to: request.work)
  }

  func rows(of row: DocumentRow) -> CommentRows<Store> {
    CommentRows(store: store, row: row)
  }

  /// Verifies the checksum of each comment, and that its anchor lies within the note's log.
  func check(
    of row: DocumentRow, _ findings: inout StoreFindings
  ) throws(StoreError) {
    findings.checkComments(try rows(of: row).comments(), of: row)
  }
}

/// The comments of one note, within a transaction.
struct CommentRows<Store: LogTable>: CommentLedger {
  fileprivate let store: Store
  fileprivate let row: DocumentRow

  var epoch: Epoch { row.epoch }
  var base: Int { row.base }
  var head: Int { row.revision }
  var folder: FolderPath { row.folder }

  func text(at revision: Int) throws(StoreError) -> Document {
    try TextRules(store: store).fold(of: row, at: revision).content.text
  }

  func forEachOperation(
    after: Int, through: Int, _ body: (TextOperation) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard after < through else { return }
    guard after >= row.base else { throw .compacted(oldestRevision: row.base) }
    let logs = LogRules(store: store)
    try logs.walk(
      row, after: after, through: through, chain: try logs.chain(at: after, of: row)
    ) { entry throws(StoreError) in try body(entry.operation) }
  }

  private func read(_ found: Store.Row) throws(StoreError) -> Comment {
    let bytes = found.bytes(0)
    guard
      found.withBytes(1, { RecordChecksum($0) })
        == store.context.hasher.checksum(ofComment: bytes, document: row.id),
      let comment = CommentCoding.comment(bytes)
    else {
      throw .damaged("a comment of a note differs from its checksum; \(damageAdvice)")
    }
    return comment
  }

  func comments() throws(StoreError) -> [Comment] {
    try store.rows(
      "SELECT data, checksum FROM comments WHERE document = $1 ORDER BY id", row.number
    ) { found throws(StoreError) in try read(found) }
  }

  func comment(_ id: CommentID) throws(StoreError) -> Comment? {
    try store.first(
      "SELECT data, checksum FROM comments WHERE document = $1 AND id = $2", row.number, id
    ) { found throws(StoreError) in try read(found) }
  }

  func count() throws(StoreError) -> Int {
    try store.first("SELECT count(*) FROM comments WHERE document = $1", row.number) {
      $0.integer(0)
    } ?? 0
  }

  func hasAnswers(_ thread: CommentID) throws(StoreError) -> Bool {
    try store.first(
      "SELECT 1 FROM comments WHERE document = $1 AND thread = $2 LIMIT 1", row.number, thread
    ) { _ in true } ?? false
  }

  /// Returns the people who wrote in a thread, each of them once.
  func writers(of thread: CommentID) throws(StoreError) -> [PersonID] {
    let first = try comment(thread)?.person
    // The inner query reads an index alone, and so does not read the whole table of a note.
    let others = try store.rows(
      """
      SELECT data, checksum FROM comments WHERE document = $1
        AND id IN (SELECT id FROM comments WHERE document = $1 AND thread = $2)
      """, row.number, thread
    ) { found throws(StoreError) in try read(found).person }
    return Array(Set(others.compactMap(\.self) + [first].compactMap(\.self)))
  }

  func keep(_ comment: Comment) throws(StoreError) {
    let bytes = CommentCoding.line(comment)
    try store.change(
      """
      INSERT INTO comments (document, id, thread, data, checksum) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (document, id) DO UPDATE SET data = excluded.data, checksum = excluded.checksum
      """, row.number, comment.id, comment.thread ?? "", Blob(bytes),
      store.context.hasher.checksum(ofComment: bytes, document: row.id))
  }

  func remove(_ id: CommentID) throws(StoreError) {
    try store.change(
      "DELETE FROM comments WHERE document = $1 AND id = $2", row.number, id)
  }
}
