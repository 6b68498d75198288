import GatewayPorts
import OTCore

/// Texts: the fold of a log from its nearest snapshot on.
extension SQLiteStore {
  func load(_ id: DocumentID, recentMax: Int) throws(StoreError) -> StoredDocument {
    let row = try existingRow(id)
    let marks = try marks(of: row)
    let snapshot = try snapshot(of: row, through: row.revision)
    var document = try document(from: snapshot)
    let recentStart = max(row.base, row.revision - max(recentMax, 0))
    let start = min(snapshot.revision, recentStart)
    var recent: [LogEntry] = []
    recent.reserveCapacity(row.revision - recentStart)
    try walk(
      row, after: start, through: row.revision, chain: try chain(at: start, of: row)
    ) { entry throws(StoreError) in
      if entry.revision > snapshot.revision { try apply(entry, to: &document) }
      if entry.revision > recentStart { recent.append(entry.logEntry()) }
    }
    guard document.scalarCount == row.length else {
      throw .damaged("the text differs from the note's record of its length; \(damageAdvice)")
    }
    return StoredDocument(
      summary: row.summary, epoch: row.epoch, text: document.text, recent: recent, marks: marks)
  }

  /// The text at a revision between the document's base and its head.
  func document(at revision: Int, of row: DocumentRow) throws(StoreError) -> Document {
    let snapshot = try snapshot(of: row, through: revision)
    var document = try document(from: snapshot)
    try walk(row, after: snapshot.revision, through: revision, chain: snapshot.chain) {
      entry throws(StoreError) in
      try apply(entry, to: &document)
    }
    return document
  }

  func apply(_ entry: borrowing StoredEntry, to document: inout Document) throws(StoreError) {
    do throws(OperationError) {
      try document.apply(entry.operation)
    } catch {
      throw damaged(entry.revision, "does not apply to the text before it")
    }
  }

  func keepSnapshot(
    _ id: DocumentID, epoch: String, revision: Int, text: String
  ) throws(StoreError) {
    let row = try existingRow(id)
    guard
      epoch.utf8.elementsEqual(row.epoch.utf8), revision >= row.base, revision <= row.revision,
      revision != row.revision || text.unicodeScalars.count == row.length
    else { throw .notNext(headRevision: row.revision) }
    try keepSnapshot(Array(text.utf8), revision: revision, of: row)
  }

  // MARK: Snapshots

  /// A verified text from the table of snapshots, or the empty one that a log starts from.
  struct Snapshot {
    let revision: Int
    let chain: RecordChecksum
    let text: [UInt8]
  }

  /// The newest snapshot not after a revision.
  func snapshot(of row: DocumentRow, through revision: Int) throws(StoreError) -> Snapshot {
    defer { statements.selectSnapshot.reset() }
    statements.selectSnapshot.bind(1, row.number)
    statements.selectSnapshot.bind(2, revision)
    guard try statements.selectSnapshot.step() else {
      guard row.base == 0 else {
        throw .damaged("the text at revision \(row.base) is missing; \(damageAdvice)")
      }
      return Snapshot(revision: 0, chain: row.baseChain, text: [])
    }
    let found = statements.selectSnapshot.integer(0)
    let text = statements.selectSnapshot.bytes(2)
    guard
      let chain = statements.selectSnapshot.withBytes(1, { RecordChecksum($0) }),
      let checksum = statements.selectSnapshot.withBytes(3, { RecordChecksum($0) }),
      text.withUnsafeBytes({ text in
        hasher.checksum(ofSnapshot: text, revision: found, chain: chain, document: row.id)
      }) == checksum
    else {
      throw .damaged("the text at revision \(found) differs from its checksum; \(damageAdvice)")
    }
    return Snapshot(revision: found, chain: chain, text: text)
  }

  func document(from snapshot: Snapshot) throws(StoreError) -> Document {
    do throws(OperationError) {
      return try snapshot.text.withUnsafeBufferPointer { text throws(OperationError) in
        try Document(utf8: text)
      }
    } catch {
      throw .damaged("the text at revision \(snapshot.revision) is not UTF-8; \(damageAdvice)")
    }
  }

  func keepSnapshot(
    _ text: [UInt8], revision: Int, of row: DocumentRow
  ) throws(StoreError) {
    let chain = try chain(at: revision, of: row)
    let checksum = text.withUnsafeBytes { text in
      hasher.checksum(ofSnapshot: text, revision: revision, chain: chain, document: row.id)
    }
    statements.upsertSnapshot.bind(1, row.number)
    statements.upsertSnapshot.bind(2, revision)
    statements.upsertSnapshot.bind(3, chain.bytes)
    statements.upsertSnapshot.bind(4, text)
    statements.upsertSnapshot.bind(5, checksum.bytes)
    try statements.upsertSnapshot.run()
    if revision == row.revision {
      var row = row
      row.unsnapped = 0
      try write(row)
      unsnapped.remove(row.id)
    }
  }

  /// The documents whose newest snapshot lies far behind their head.
  func idsToSnapshot() throws(StoreError) -> Set<DocumentID> {
    defer { statements.selectUnsnapped.reset() }
    var ids: Set<DocumentID> = []
    while try statements.selectUnsnapped.step() { ids.insert(statements.selectUnsnapped.text(0)) }
    return ids
  }
}
