package import ParleyGatewayPorts

/// The rows of notes.
package protocol NoteTable: SQLConnection {
  /// A note's row, if there is one, locked where the transaction writes.
  func row(_ id: DocumentID) throws(StoreError) -> DocumentRow?

  /// Writes the columns of a row that change with its log.
  func write(_ row: DocumentRow) throws(StoreError)

  /// Adds a new note's row, and gives it its number.
  func insert(_ row: inout DocumentRow) throws(StoreError)

  /// Some notes that a condition holds for.
  func summaries(
    _ condition: String, _ values: any StoredValue..., limit: Int
  ) throws(StoreError) -> [NoteSummary]

  /// Records that a note was deleted or restored.
  func noteMoved(_ id: DocumentID, _ row: DocumentRow?)

  /// Takes a time into a note's row, and records where the clock was set back.
  ///
  /// - Parameter revision: The first one that may have the new time.
  func note(
    _ time: Timestamp, before revision: Int, in row: inout DocumentRow
  ) throws(StoreError)
}

extension NoteTable {
  /// A note's row, locked where the transaction writes.
  package func existingRow(_ id: DocumentID) throws(StoreError) -> DocumentRow {
    guard let row = try row(id) else { throw .unknownDocument }
    return row
  }
}

/// The rows of notes' logs.
package protocol LogTable: NoteTable {
  /// The newest entry of each client, those that are compacted away too.
  func marks(of row: DocumentRow) throws(StoreError) -> [String: ClientMark]

  /// A log's chain in the form for other nodes, where there may be others.
  func shared(_ chain: RecordChecksum) -> LogChain?

  /// The revisions before which the clock was set back by more than ``TimeOrder/pullMax``, ascending.
  func setBacks(of row: DocumentRow) throws(StoreError) -> [Int]

  /// Removes what is known of a removed note's clock.
  func forgetSetBacks(ofDocument number: Int) throws(StoreError)

  /// Records that a document may have entries left before its log's base.
  func noteCompacted(_ row: DocumentRow)

  /// Whether there may be such entries.
  var hasCompacted: Bool { get }

  /// Removes some of them, in a transaction of its own.
  func removeSomeCompacted() throws(StoreError)
}

/// The rows of deleted notes that can be restored.
package protocol DeletedNoteTable: LogTable {
  /// Keeps the row of a note that is being deleted.
  func keep(_ row: DocumentRow, as deletion: Deletion) throws(StoreError)

  /// Selects deleted notes, as ``readDeleted(_:)`` reads them.
  static var selectDeleted: String { get }

  func readDeleted(_ row: Row) throws(StoreError) -> (row: DocumentRow, deletion: Deletion)

  /// Some deleted notes that a condition holds for, as many as asked for if there are; unreadable ones do not count.
  /// `end` is the end of the query, such as ``lockingFree``.
  func deleted(
    _ condition: String, _ values: any StoredValue..., limit: Int, end: String
  ) throws(StoreError) -> [(row: DocumentRow, deletion: Deletion)]

  /// Puts the row of a deleted note among the others again.
  func putBack(_ row: DocumentRow) throws(StoreError)
}

/// The folders of notes.
package protocol FolderTable: DeletedNoteTable {
  /// Whether other processes may commit to the same database.
  var isShared: Bool { get }

  /// Counts the notes of folders that follow each other, one folder after the other, up to a limit.
  ///
  /// - Returns: The counted folders; of the last one, the notes up to the limit.
  func counts(of folders: [FolderPath], limit: Int) throws(StoreError) -> [FolderCount]

  /// The existing notes among some ids.
  func summaries(of ids: [DocumentID]) throws(StoreError) -> [NoteSummary]

  /// The folders of notes.
  func folders(of ids: [DocumentID]) throws(StoreError) -> [FolderPath?]

  /// Rows of notes that are to be moved, locked where other processes write; without those that cannot be read or no
  /// longer exist.
  func rows(toMove numbers: [Int]) throws(StoreError) -> [DocumentRow]

  /// Puts notes into folders, and returns them as they are then.
  func move(_ moves: [(row: DocumentRow, folder: FolderPath)]) throws(StoreError) -> [NoteSummary]
}

/// The rows of files.
package protocol FileTable: LogTable {
  /// The column of `files` that names a file, and the column of `note_files` that refers to it.
  static var fileKey: String { get }
  static var noteFileKey: String { get }

  /// Bytes that are left on the store's disk, where the store can tell.
  var freeBytes: Int? { get }

  /// Has this transaction be the only one in which files come or go.
  func lockFiles() throws(StoreError)
}

/// The rows of kept answers.
package protocol AnswerTable: DeletedNoteTable {
  /// Keeps an answer in place of one that has expired.
  ///
  /// - Returns: Whether no valid answer was kept before; if another request is about to keep one,
  ///   this waits.
  func keep(
    _ answer: [UInt8], _ digest: RecordChecksum, _ checksum: RecordChecksum,
    to asked: KeyedRequest, until expires: Timestamp
  ) throws(StoreError) -> Bool
}
