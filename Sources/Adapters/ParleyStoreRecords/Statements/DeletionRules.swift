import ParleyGatewayPorts

/// Deleted notes that can be restored. Only the document row moves to another table.
struct DeletionRules<Store: DeletedNoteTable> {
  let store: Store
  private var names: NameRules<Store> { NameRules(store: store) }

  func reply(to request: DeletedRequest) throws(StoreError) -> StoreReply {
    switch request {
    case .list(let place, let limit):
      return .deletedNotes(
        try store.deleted(
          " WHERE (deleted, id) < ($1, $2) ORDER BY deleted DESC, id DESC", place?.time ?? .max,
          place?.id ?? "", limit: limit, end: ""
        ).map { DeletedNote(note: $0.row.summary, deletion: $0.deletion) })
    case .bringBack(let id):
      return .note(try bringBack(id).summary)
    case .remove(let id):
      guard let row = try newestDeleted(id) else { throw .unknownDocument }
      try remove(row)
      return .done
    case .removeOlder(let time, let limit):
      // `deleted` omits rows whose time is damaged; `check` reports them.
      for deleted in try store.deleted(
        " WHERE deleted < $1 ORDER BY deleted, id", time, limit: limit, end: store.skippingLocked)
      {
        try remove(deleted.row)
      }
      return .done
    }
  }

  /// Returns a deleted note's row.
  func deletedRow(number: Int) throws(StoreError) -> DocumentRow? {
    try store.first(Store.selectDeleted + " WHERE number = $1", number, read: store.readDeleted)?
      .row
  }

  /// Returns the newest deleted row of this id, which is locked if the transaction writes.
  func newestDeleted(_ id: DocumentID) throws(StoreError) -> DocumentRow? {
    try store.first(
      Store.selectDeleted + " WHERE id = $1 ORDER BY deleted DESC LIMIT 1" + store.locking, id,
      read: store.readDeleted)?.row
  }

  private func bringBack(_ id: DocumentID) throws(StoreError) -> DocumentRow {
    guard let row = try newestDeleted(id) else { throw .unknownDocument }
    guard try store.row(id) == nil else { throw .exists }
    try store.putBack(row)
    try store.change("DELETE FROM deleted_documents WHERE number = $1", row.number)
    try store.change("UPDATE note_origins SET deleted = 0, expires = NULL WHERE id = $1", id)
    store.noteMoved(id, row)
    // Its log may have been due for a snapshot or for compaction when it was deleted.
    store.context.noteDue(row)
    if row.base > 0 { store.noteCompacted(row) }
    return row
  }

  private func remove(_ row: DocumentRow) throws(StoreError) {
    try names.rest(of: row.number)
    try store.change("INSERT INTO garbage (document) VALUES ($1)", row.number)
    try store.change("DELETE FROM deleted_documents WHERE number = $1", row.number)
    store.context.upkeep.hasGarbage = true
  }
}
