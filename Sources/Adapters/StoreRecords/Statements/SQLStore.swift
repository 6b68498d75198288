package import GatewayPorts
import Hashing

/// A store whose rules are said in statements that SQLite and PostgreSQL both understand.
///
/// The rules are extensions of it, each in a file of its own; the stores run their statements, and
/// keep to themselves where the two differ. Parameters are `$1`, `$2` and so on. Names that are words of
/// the language are quoted, such as `"offset"` and `"user"`.
package protocol SQLStore: TimedLog, AnyObject {
  associatedtype Row: StoredRow

  var hasher: RecordHasher { get set }

  /// Whether others may commit to the same database.
  var isShared: Bool { get }

  /// The end of a query that locks its rows, where there are others and the transaction writes.
  var locking: String { get }

  /// The end of a locking query that skips rows which another transaction has locked.
  var lockingFree: String { get }

  /// Runs a statement that returns nothing. It may be sent with the next one that is waited for.
  func change(_ sql: String, _ values: any StoredValue...) throws(StoreError)

  /// Runs a statement, and returns the number of rows that it changed.
  func changedRows(_ sql: String, _ values: any StoredValue...) throws(StoreError) -> Int

  /// Reads the first row of a query, if there is one. What reads it does not ask for the same query.
  func first<Result>(
    _ sql: String, _ values: any StoredValue..., read: (Row) throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Reads all rows of a query. What reads them does not ask for the same query.
  func rows<Result>(
    _ sql: String, _ values: any StoredValue..., read: (Row) throws(StoreError) -> Result
  ) throws(StoreError) -> [Result]

  // MARK: What is known between requests

  var upkeep: Upkeep { get set }

  /// The part of a long log that housekeeping keeps; all of it if `nil`.
  var retention: Retention? { get }

  /// Whether texts are folded on another connection.
  var foldsBeside: Bool { get }

  // MARK: Transactions

  /// Runs `body` in a transaction of its own and commits it. It may be run more than once.
  func transaction<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result

  /// Runs `body` in such a transaction, unless another node is at housekeeping; then returns `nil`.
  func alone<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Runs `body` in a transaction that only reads, as of one moment.
  func reading<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result

  /// Throws the connection's failure, which no single request caused.
  func passOn() throws(StoreError)

  // MARK: Notes

  /// Does a request that each store does in its own way, within the transaction under way.
  func ownReply(to request: StoreRequest) throws(StoreError) -> StoreReply

  /// A note's row, if there is one, locked where the transaction writes.
  func row(_ id: DocumentID) throws(StoreError) -> DocumentRow?

  /// Writes what changes of a row with its log.
  func write(_ row: DocumentRow) throws(StoreError)

  /// Adds a new note's row, and gives it its number.
  func insert(_ row: inout DocumentRow) throws(StoreError)

  /// Some notes that a condition holds for.
  func summaries(
    _ condition: String, _ values: any StoredValue..., limit: Int
  ) throws(StoreError) -> [NoteSummary]

  /// Records that a note was deleted or restored.
  func noteMoved(_ id: DocumentID, _ row: DocumentRow?)

  /// Takes a time into a note's row, and notes where the clock was set back.
  ///
  /// - Parameter revision: The first one that may have the new time.
  func note(
    _ time: Timestamp, before revision: Int, in row: inout DocumentRow
  ) throws(StoreError)

  /// Forgets where the clock was set back for a note that is gone.
  func forgetSetBacks(ofDocument number: Int) throws(StoreError)

  // MARK: Folders

  /// Counts the notes of folders that follow each other, one folder after the other, until there are so many.
  ///
  /// - Returns: The counted folders; of the last one, the notes up to the limit.
  func counts(of folders: [FolderPath], limit: Int) throws(StoreError) -> [FolderCount]

  /// The notes of some ids; those that are not there are left out.
  func summaries(of ids: [DocumentID]) throws(StoreError) -> [NoteSummary]

  /// The folders of notes.
  func folders(of ids: [DocumentID]) throws(StoreError) -> [FolderPath?]

  /// Rows of notes that are to be moved, locked where there are others; without those that cannot
  /// be read or no longer exist.
  func rows(toMove numbers: [Int]) throws(StoreError) -> [DocumentRow]

  /// Puts notes into folders, and returns how they are then.
  func move(_ moves: [(row: DocumentRow, folder: FolderPath)]) throws(StoreError) -> [NoteSummary]

  // MARK: Deleted notes

  /// Keeps the row of a note that is being deleted.
  func keep(_ row: DocumentRow, as deletion: Deletion) throws(StoreError)

  /// Selects deleted notes, as ``readDeleted(_:)`` reads them.
  static var selectDeleted: String { get }

  func readDeleted(_ row: Row) throws(StoreError) -> (row: DocumentRow, deletion: Deletion)

  /// Some deleted notes that a condition holds for, as many as asked for if there are; those that cannot be read do
  /// not count. `end` is the end of the query, such as ``lockingFree``.
  func deleted(
    _ condition: String, _ values: any StoredValue..., limit: Int, end: String
  ) throws(StoreError) -> [(row: DocumentRow, deletion: Deletion)]

  /// Puts the row of a deleted note among the others again.
  func putBack(_ row: DocumentRow) throws(StoreError)

  // MARK: Logs

  /// The newest entry of each client, those that are compacted away too.
  func marks(of row: DocumentRow) throws(StoreError) -> [String: ClientMark]

  /// A log's chain in the form for other nodes, where there may be others.
  func shared(_ chain: RecordChecksum) -> LogChain?

  /// Takes note that a document may have entries left before its log's base.
  func noteCompacted(_ row: DocumentRow)

  /// Whether there may be such entries.
  var hasCompacted: Bool { get }

  /// Removes some of them, in a transaction of its own.
  func removeSomeCompacted() throws(StoreError)

  // MARK: Files

  /// The column of `files` that names a file, and the column of `note_files` that refers to it.
  static var fileKey: String { get }
  static var noteFileKey: String { get }

  /// Bytes that are left on the store's disk, where the store can tell.
  var freeBytes: Int? { get }

  /// Has this transaction be the only one in which files come or go.
  func lockFiles() throws(StoreError)

  // MARK: Rooms

  /// A room's row, if there is one.
  func row(of name: RoomName) throws(StoreError) -> RoomRow?

  /// A room's row, made if there is none.
  func rowMade(for name: RoomName) throws(StoreError) -> RoomRow

  func write(_ row: RoomRow) throws(StoreError)

  /// The heads of rooms, whether they have rows or not.
  func heads(of names: [RoomName]) throws(StoreError) -> [RoomHead]

  /// Notes that people were there at a time.
  func note(online people: [PersonID], _ time: Timestamp) throws(StoreError)

  /// The times at which people were there last.
  func lastOnline(_ people: [PersonID]) throws(StoreError) -> [Timestamp?]

  // MARK: The outbox

  /// Rules for outside events; with `nil` none is recorded.
  var outboxRules: OutboxRules? { get }

  /// Queues whose state may have changed since it was last reported.
  var changedTargets: Set<OutboxTarget> { get set }

  /// Whether this store is the one that takes a queue's events.
  func isSender(to target: OutboxTarget) throws(StoreError) -> Bool

  /// Puts an event into its queue, and gives up the oldest ones of a queue that is too long.
  func enqueue(_ draft: OutboxDraft) throws(StoreError)

  /// Whether events that were sent are all there, and no other gateway has settled one.
  func holds(_ events: [OutboxEvent]) throws(StoreError) -> Bool

  /// Takes note that a dead letter is kept.
  func noteBuried()

  func standing(of target: OutboxTarget) throws(StoreError) -> OutboxStanding

  // MARK: Answers

  /// Keeps an answer in place of one that has expired.
  ///
  /// - Returns: Whether no valid answer was kept before; if another request is about to keep one,
  ///   this waits.
  func keep(
    _ answer: [UInt8], _ digest: RecordChecksum, _ checksum: RecordChecksum,
    to asked: KeyedRequest, until expires: Timestamp
  ) throws(StoreError) -> Bool
}

extension SQLStore {
  /// 24 digits that nothing else of any store has.
  package func freshName() -> String { randomBytes(count: 12).hexadecimal }

  /// Takes note of the time that a request came with.
  package func noteTime(_ time: Timestamp) {
    upkeep.latestTime = TimeOrder.following(upkeep.latestTime, time)
    upkeep.isTimeKnown = true
  }

  /// A note's row, locked where the transaction writes.
  package func existingRow(_ id: DocumentID) throws(StoreError) -> DocumentRow {
    guard let row = try row(id) else { throw .unknownDocument }
    return row
  }
}
