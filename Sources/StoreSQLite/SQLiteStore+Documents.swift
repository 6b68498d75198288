import GatewayPorts

/// Notes: their rows, titles and list.
extension SQLiteStore {
  func create(
    _ id: DocumentID, epoch: String, title: String, time: Timestamp
  ) throws(StoreError) -> NoteSummary {
    guard try row(id) == nil else { throw .exists }
    statements.insertDocument.bind(1, id)
    try statements.insertDocument.run()
    let origin = hasher.origin(of: id)
    let row = DocumentRow(
      number: connection.lastInsertedKey, id: id, title: title, createdAt: time, updatedAt: time,
      epoch: epoch, revision: 0, length: 0, chain: origin, base: 0, baseChain: origin, marks: 0,
      unsnapped: 0)
    try write(row)
    try beginEpoch(epoch, after: 0, document: row.number)
    return row.summary
  }

  func rename(
    _ id: DocumentID, title: String, time: Timestamp
  ) throws(StoreError) -> NoteSummary {
    var row = try existingRow(id)
    row.title = title
    row.updatedAt = max(row.updatedAt, time)
    try write(row)
    return row.summary
  }

  /// Takes the note out of sight at once; its log is removed piece by piece by `maintain`, so that
  /// nobody waits for a long one.
  func delete(_ id: DocumentID) throws(StoreError) {
    let row = try existingRow(id)
    statements.insertGarbage.bind(1, row.number)
    try statements.insertGarbage.run()
    statements.deleteDocument.bind(1, row.number)
    try statements.deleteDocument.run()
    hasGarbage = true
  }

  /// All notes whose rows are whole. A damaged one shows in `check`, and when it is loaded: it must
  /// not take the others out of sight.
  func list() throws(StoreError) -> [NoteSummary] {
    defer { statements.selectDocuments.reset() }
    var summaries: [NoteSummary] = []
    while try statements.selectDocuments.step() {
      if let row = readRow(statements.selectDocuments) { summaries.append(row.summary) }
    }
    return summaries
  }

  // MARK: Rows

  func existingRow(_ id: DocumentID) throws(StoreError) -> DocumentRow {
    guard let row = try row(id) else { throw .unknownDocument }
    return row
  }

  func row(_ id: DocumentID) throws(StoreError) -> DocumentRow? {
    defer { statements.selectDocument.reset() }
    statements.selectDocument.bind(1, id)
    guard try statements.selectDocument.step() else { return nil }
    guard let row = readRow(statements.selectDocument) else {
      throw .damaged("the note's own record differs from its checksum; \(damageAdvice)")
    }
    return row
  }

  /// The row that a statement stands on, or `nil` if it is not what was written.
  private func readRow(_ statement: SQLiteStatement) -> DocumentRow? {
    guard
      let chain = statement.withBytes(8, { RecordChecksum($0) }),
      let baseChain = statement.withBytes(10, { RecordChecksum($0) }),
      let checksum = statement.withBytes(13, { RecordChecksum($0) })
    else { return nil }
    let row = DocumentRow(
      number: statement.integer(0), id: statement.text(1), title: statement.text(2),
      createdAt: Timestamp(statement.integer(3)), updatedAt: Timestamp(statement.integer(4)),
      epoch: statement.text(5), revision: statement.integer(6), length: statement.integer(7),
      chain: chain, base: statement.integer(9), baseChain: baseChain, marks: statement.bits(11),
      unsnapped: statement.integer(12))
    return hasher.checksum(of: row) == checksum ? row : nil
  }

  func write(_ row: DocumentRow) throws(StoreError) {
    statements.updateDocument.bind(1, row.number)
    statements.updateDocument.bind(2, row.title)
    statements.updateDocument.bind(3, Int(row.createdAt))
    statements.updateDocument.bind(4, Int(row.updatedAt))
    statements.updateDocument.bind(5, row.epoch)
    statements.updateDocument.bind(6, row.revision)
    statements.updateDocument.bind(7, row.length)
    statements.updateDocument.bind(8, row.chain.bytes)
    statements.updateDocument.bind(9, row.base)
    statements.updateDocument.bind(10, row.baseChain.bytes)
    statements.updateDocument.bind(11, bits: row.marks)
    statements.updateDocument.bind(12, row.unsnapped)
    statements.updateDocument.bind(13, hasher.checksum(of: row).bytes)
    try statements.updateDocument.run()
    if row.needsSnapshot { unsnapped.insert(row.id) }
    if let retention, retention.isOverlong(row) { overlong.insert(row.id) }
  }

  // MARK: Epochs

  func beginEpoch(_ epoch: String, after revision: Int, document: Int) throws(StoreError) {
    statements.insertEpoch.bind(1, document)
    statements.insertEpoch.bind(2, revision)
    statements.insertEpoch.bind(3, epoch)
    try statements.insertEpoch.run()
  }

  /// The epochs of a document's log, each with the revision after which it began; never empty.
  func epochs(of row: DocumentRow) throws(StoreError) -> [(after: Int, epoch: String)] {
    defer { statements.selectEpochs.reset() }
    statements.selectEpochs.bind(1, row.number)
    var epochs: [(after: Int, epoch: String)] = []
    while try statements.selectEpochs.step() {
      epochs.append((statements.selectEpochs.integer(0), statements.selectEpochs.text(1)))
    }
    guard epochs.last?.epoch == row.epoch else {
      throw .damaged("the note's epochs do not end in its newest; \(damageAdvice)")
    }
    return epochs
  }
}

/// What to do about damage.
let damageAdvice = "run parley check, then restore the newest backup"
