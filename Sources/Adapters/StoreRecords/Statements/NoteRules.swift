package import GatewayPorts

/// Notes: their rows, titles and list.
extension SQLStore {
  func create(
    _ id: DocumentID, epoch: String, title: String, time: Timestamp, folder: FolderPath
  ) throws(StoreError) -> NoteSummary {
    guard try row(id) == nil else { throw .exists }
    // Of an earlier note of this id.
    try change("DELETE FROM note_origins WHERE id = $1", id)
    try change("DELETE FROM note_links WHERE note = $1", id)
    let origin = hasher.origin(of: id)
    var row = DocumentRow(
      number: 0, id: id, title: title, createdAt: time, updatedAt: time, epoch: epoch,
      revision: 0, length: 0, chain: origin, base: 0, baseChain: origin, marks: 0, unsnapped: 0,
      folder: folder)
    try insert(&row)
    try beginEpoch(epoch, after: 0, document: row.number)
    return row.summary
  }

  func rename(
    _ id: DocumentID, title: String, time: Timestamp
  ) throws(StoreError) -> NoteSummary {
    var row = try existingRow(id)
    row.title = title
    try note(time, before: row.revision + 1, in: &row)
    try write(row)
    return row.summary
  }

  /// Hides the note at once. If it is not to be kept, `maintain` removes its log piece by piece, so
  /// that no request waits for a long one.
  func delete(_ id: DocumentID, keeping deletion: Deletion?) throws(StoreError) {
    let row = try existingRow(id)
    if let deletion {
      try keep(row, as: deletion)
    } else {
      try restNames(of: row.number)
      try change("INSERT INTO garbage (document) VALUES ($1)", row.number)
    }
    try change("DELETE FROM documents WHERE number = $1", row.number)
    try change("UPDATE note_origins SET deleted = 1 WHERE id = $1", id)
    noteMoved(id, nil)
    upkeep.hasUndatedDeletions = true
    upkeep.isTimeKnown = false
    upkeep.hasGarbage = true
  }

  package func list() throws(StoreError) -> [NoteSummary] {
    try summaries(" ORDER BY updated DESC, id", limit: .max)
  }

  /// Some notes in the order of their places.
  func notes(after place: NotePlace?, limit: Int) throws(StoreError) -> [NoteSummary] {
    try summaries(
      " WHERE (created, id) < ($1, $2) ORDER BY created DESC, id DESC", place?.time ?? .max,
      place?.id ?? "", limit: limit)
  }

  /// Some notes of a folder in the order of their places.
  func notes(
    in folder: FolderPath, after place: NotePlace?, limit: Int
  ) throws(StoreError) -> [NoteSummary] {
    try summaries(
      " WHERE folder = $1 AND (created, id) < ($2, $3) ORDER BY created DESC, id DESC",
      folder.text, place?.time ?? .max, place?.id ?? "", limit: limit)
  }
}
