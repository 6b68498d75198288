package import ParleyGatewayPorts

/// A connection to a store that contains the rows of notes.
package protocol NoteTable: SQLConnection {
  /// Returns a note's row; in a transaction that writes, it is locked.
  func row(_ id: DocumentID) throws(StoreError) -> DocumentRow?

  /// Writes the columns of a row that change with its log.
  func write(_ row: DocumentRow) throws(StoreError)

  /// Inserts a new note's row, and sets its number.
  func insert(_ row: inout DocumentRow) throws(StoreError)

  /// Returns the summaries of notes that satisfy a condition.
  func summaries(
    _ condition: String, _ values: any StoredValue..., limit: Int
  ) throws(StoreError) -> [NoteSummary]

  /// Called when a note was deleted or restored.
  func noteMoved(_ id: DocumentID, _ row: DocumentRow?)

  /// Sets the update time of a note's row, and records clock set-backs.
  ///
  /// - Parameter revision: The first revision that may have the new time.
  func note(
    _ time: Timestamp, before revision: Int, in row: inout DocumentRow
  ) throws(StoreError)
}

extension NoteTable {
  /// Returns a note's row, which is locked if the transaction writes; throws `unknownDocument`.
  package func existingRow(_ id: DocumentID) throws(StoreError) -> DocumentRow {
    guard let row = try row(id) else { throw .unknownDocument }
    return row
  }
}

/// A connection to a store that contains the logs of notes.
package protocol LogTable: NoteTable {
  /// Returns the newest entry of each client, including compacted entries.
  func marks(of row: DocumentRow) throws(StoreError) -> [String: ClientMark]

  /// Returns the head checksum in the form for other nodes; `nil` if the store has one node.
  func shared(_ chain: RecordChecksum) -> LogChain?

  /// Returns the revisions before which the clock was set back by more than
  /// ``TimeOrder/adjustmentMax``, ascending.
  func setBacks(of row: DocumentRow) throws(StoreError) -> [Int]

  /// Deletes the record of clock set-backs of a deleted note.
  func forgetSetBacks(ofDocument number: Int) throws(StoreError)

  /// Records that entries up to a document's base may remain to be deleted.
  func noteCompacted(_ row: DocumentRow)

  /// Whether entries of compacted logs may remain.
  var hasCompacted: Bool { get }

  /// Deletes some entries of compacted logs, in a separate transaction.
  func removeSomeCompacted() throws(StoreError)
}

/// A connection to a store that contains deleted notes which can be restored.
package protocol DeletedNoteTable: LogTable {
  /// Copies the row of a note that is being deleted.
  func keep(_ row: DocumentRow, as deletion: Deletion) throws(StoreError)

  /// The query for deleted notes, with the columns that ``readDeleted(_:)`` reads.
  static var selectDeleted: String { get }

  func readDeleted(_ row: Row) throws(StoreError) -> (row: DocumentRow, deletion: Deletion)

  /// Returns up to `limit` deleted notes that satisfy a condition; unreadable notes are skipped.
  /// `end` is appended to the query, such as ``skippingLocked``.
  func deleted(
    _ condition: String, _ values: any StoredValue..., limit: Int, end: String
  ) throws(StoreError) -> [(row: DocumentRow, deletion: Deletion)]

  /// Restores the row of a deleted note.
  func putBack(_ row: DocumentRow) throws(StoreError)
}

/// A connection to a store that contains the folders of notes.
package protocol FolderTable: DeletedNoteTable {
  /// Whether other processes may commit to the same database.
  var isShared: Bool { get }

  /// Counts the notes of consecutive folders, in order, until `limit` notes are counted.
  ///
  /// - Returns: The counts of the folders; the last one may be partial.
  func counts(of folders: [FolderPath], limit: Int) throws(StoreError) -> [FolderCount]

  /// Returns the summaries of the notes that exist among `ids`.
  func summaries(of ids: [DocumentID]) throws(StoreError) -> [NoteSummary]

  /// Returns the folder of each note; `nil` for a note that does not exist.
  func folders(of ids: [DocumentID]) throws(StoreError) -> [FolderPath?]

  /// Returns the rows of notes to be moved, locked where other processes write. Rows that are
  /// unreadable or no longer exist are omitted.
  func rows(toMove numbers: [Int]) throws(StoreError) -> [DocumentRow]

  /// Moves notes to folders, and returns their new summaries.
  func move(_ moves: [(row: DocumentRow, folder: FolderPath)]) throws(StoreError) -> [NoteSummary]
}

/// A connection to a store that contains files.
package protocol FileTable: LogTable {
  /// The key column of `files`, and the column of `note_files` that refers to it.
  static var fileKey: String { get }
  static var noteFileKey: String { get }

  /// Free bytes on the store's disk; `nil` if unknown.
  var freeBytes: Int? { get }

  /// Locks files: no other transaction can add or delete files until this one ends.
  func lockFiles() throws(StoreError)
}

/// A connection to a store that contains the answers to requests with keys.
package protocol AnswerTable: DeletedNoteTable {
  /// Stores an answer, replacing an expired one.
  ///
  /// - Returns: Whether no valid answer was stored before. Waits for another transaction that is
  ///   storing an answer with this key.
  func keep(
    _ answer: [UInt8], _ digest: RecordChecksum, _ checksum: RecordChecksum,
    to asked: KeyedRequest, until expires: Timestamp
  ) throws(StoreError) -> Bool
}
