import GatewayPorts
import OTCore
import StoreRecords

/// Comments of notes: a row each, and their anchors, which move with the log.
///
/// Whoever changes them has locked the note's row.
extension PostgresStore {
  func reply(to request: CommentRequest) throws(StoreError) -> CommentReply {
    try comments(of: existingRow(request.note)).reply(to: request.work)
  }

  func comments(of row: DocumentRow) -> PostgresComments {
    PostgresComments(store: self, row: row)
  }

  /// Whether each comment is what was written, and stands within the note's log.
  func checkComments(
    of row: DocumentRow, _ findings: inout StoreFindings
  ) throws(StoreError) {
    findings.checkComments(try comments(of: row).comments(), of: row)
  }
}

/// The comments of one note, within a transaction.
struct PostgresComments: CommentLedger {
  let store: PostgresStore
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
    ) { entry, _ throws(StoreError) in try body(entry.operation) }
  }

  private func read(_ found: PostgresRow) throws(StoreError) -> Comment {
    let bytes = found.bytes(0)
    guard
      found.withBytes(1, { RecordChecksum($0) })
        == store.hasher.checksum(ofComment: bytes, document: row.id),
      let comment = CommentCoding.comment(bytes)
    else {
      throw .damaged("a comment of a note differs from its checksum; \(damageAdvice)")
    }
    return comment
  }

  func comments() throws(StoreError) -> [Comment] {
    try store.query(
      "SELECT data, checksum FROM parley.comments WHERE document = $1 ORDER BY id", row.number
    ).rows { found throws(StoreError) in try read(found) }
  }

  func comment(_ id: CommentID) throws(StoreError) -> Comment? {
    try store.query(
      "SELECT data, checksum FROM parley.comments WHERE document = $1 AND id = $2", row.number, id
    ).rows { found throws(StoreError) in try read(found) }.first
  }

  func count() throws(StoreError) -> Int {
    try store.query("SELECT count(*) FROM parley.comments WHERE document = $1", row.number)
      .first?.integer(0) ?? 0
  }

  func hasAnswers(_ thread: CommentID) throws(StoreError) -> Bool {
    try store.query(
      "SELECT 1::bigint FROM parley.comments WHERE document = $1 AND thread = $2 LIMIT 1",
      row.number, thread
    ).count > 0
  }

  func keep(_ comment: Comment) throws(StoreError) {
    let bytes = CommentCoding.line(comment)
    store.change(
      """
      INSERT INTO parley.comments (document, id, thread, data, checksum) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (document, id) DO UPDATE SET data = excluded.data, checksum = excluded.checksum
      """, row.number, comment.id, comment.thread ?? "", Blob(bytes),
      store.hasher.checksum(ofComment: bytes, document: row.id))
  }

  func remove(_ id: CommentID) throws(StoreError) {
    store.change(
      "DELETE FROM parley.comments WHERE document = $1 AND id = $2", row.number, id)
  }
}
