package import ParleyGatewayPorts

/// Notes: creating, renaming, deleting and listing.
package struct NoteRules<Store: DeletedNoteTable> {
  let store: Store
  private var logs: LogRules<Store> { LogRules(store: store) }
  private var names: NameRules<Store> { NameRules(store: store) }

  package init(store: Store) { self.store = store }

  func create(
    _ id: DocumentID, epoch: Epoch, title: String, time: Timestamp, folder: FolderPath,
    kind: NoteKind
  ) throws(StoreError) -> NoteSummary {
    guard try store.row(id) == nil else { throw .exists }
    // Delete what remains of an earlier note with this id.
    try store.change("DELETE FROM note_origins WHERE id = $1", id)
    try store.change("DELETE FROM note_links WHERE note = $1", id)
    let origin = store.context.hasher.origin(of: id)
    var row = DocumentRow(
      number: 0, id: id, title: title, createdAt: time, updatedAt: time, epoch: epoch,
      revision: 0, length: 0, chain: origin, base: 0, baseChain: origin, marks: 0, unsnapped: 0,
      folder: folder, kind: kind)
    try store.insert(&row)
    try logs.beginEpoch(epoch, after: 0, document: row.number)
    return row.summary
  }

  func rename(
    _ id: DocumentID, title: String, time: Timestamp
  ) throws(StoreError) -> NoteSummary {
    var row = try store.existingRow(id)
    row.title = title
    try store.note(time, before: row.revision + 1, in: &row)
    try store.write(row)
    return row.summary
  }

  /// Deletes a note. With `deletion`, it can be restored. Otherwise `maintain` deletes its log in
  /// small portions, so that no request waits for a long log.
  func delete(_ id: DocumentID, keeping deletion: Deletion?) throws(StoreError) {
    let row = try store.existingRow(id)
    if let deletion {
      try store.keep(row, as: deletion)
    } else {
      try names.rest(of: row.number)
      try store.change("INSERT INTO garbage (document) VALUES ($1)", row.number)
    }
    try store.change("DELETE FROM documents WHERE number = $1", row.number)
    try store.change("UPDATE note_origins SET deleted = 1 WHERE id = $1", id)
    store.noteMoved(id, nil)
    store.context.upkeep.hasUndatedDeletions = true
    store.context.upkeep.isTimeKnown = false
    store.context.upkeep.hasGarbage = true
  }

  package func list() throws(StoreError) -> [NoteSummary] {
    try store.summaries(" ORDER BY updated DESC, id", limit: .max)
  }

  /// Returns notes in descending order of creation.
  func notes(after place: NoteSortKey?, limit: Int) throws(StoreError) -> [NoteSummary] {
    try store.summaries(
      " WHERE (created, id) < ($1, $2) ORDER BY created DESC, id DESC", place?.time ?? .max,
      place?.id ?? "", limit: limit)
  }

  /// Returns notes of a folder in descending order of creation.
  func notes(
    in folder: FolderPath, after place: NoteSortKey?, limit: Int
  ) throws(StoreError) -> [NoteSummary] {
    try store.summaries(
      " WHERE folder = $1 AND (created, id) < ($2, $3) ORDER BY created DESC, id DESC",
      folder.text, place?.time ?? .max, place?.id ?? "", limit: limit)
  }

  // MARK: Epochs

  package func renewEpoch(_ id: DocumentID, from: Epoch, to: Epoch) throws(StoreError) {
    var row = try store.existingRow(id)
    guard from == row.epoch else {
      throw .notNext(headRevision: row.revision)
    }
    try logs.beginEpoch(to, after: row.revision, document: row.number)
    row.epoch = to
    try store.write(row)
  }
}
