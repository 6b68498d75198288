import Dispatch
public import ParleyClient
import Synchronization

/// Everything an app keeps on the device: unconfirmed edits of notes, what was fetched, and changes
/// that wait for the server. One SQLite file in a folder of its own, synced at each step.
///
///     let store = try OfflineStore(folder: folder)
///     let parley = Parley("wss://notes.example.org", as: "Ann", storage: store)
///     let outbox = try Outbox(store, user: "ann", sender: service)
///
/// It is open once: a second store on the folder, of this process or another, is refused with
/// ``OfflineStoreError/inUse``, and so is a second ``Outbox`` on the store. The file is its owner's alone
/// to read. A file that is damaged, foreign, or of a newer version is refused, and
/// left as it is.
public final class OfflineStore: ClientStorage, Sendable {
  package let executor = QueueExecutor()
  private let file: Mutex<SQLiteFile>
  /// Whether an outbox has been opened, and is there still.
  private let hasOutbox = Mutex(false)

  /// Opens the store of a folder, and makes it if it is not there. Blocks for a moment.
  ///
  /// - Parameter folder: A folder that is backed up with the device. Nothing else may be in it.
  public convenience init(folder: String) throws(OfflineStoreError) {
    try self.init(folder: folder, vfs: nil)
  }

  /// Opens a store over another layer of input and output.
  package init(folder: String, vfs: String?) throws(OfflineStoreError) {
    try StoreFolder.make(folder)
    let path = folder + "/offline.sqlite"
    StoreFolder.makeFile(path)
    let file = try SQLiteFile(path: path, vfs: vfs)
    try OfflineSchema.prepare(file)
    StoreFolder.makePrivate(path)
    self.file = Mutex(file)
  }

  // MARK: ClientStorage

  /// Returns the value of a key; `nil` if there is none.
  public func read(_ key: String) async throws -> [UInt8]? {
    try await run { (file) throws(OfflineStoreError) in
      try file.query("SELECT value FROM client WHERE key = ?").rows([.text(key)]) { $0.bytes(0) }
        .first
    }
  }

  /// Writes a value in place of what was there; it is on the disk when this returns.
  public func write(_ value: [UInt8], for key: String) async throws {
    try await run { (file) throws(OfflineStoreError) in
      try file.query("INSERT OR REPLACE INTO client (key, value) VALUES (?, ?)")
        .run(.text(key), .bytes(value))
    }
  }

  /// Removes a value, if there is one; it is gone from the disk when this returns.
  public func remove(_ key: String) async throws {
    try await run { (file) throws(OfflineStoreError) in
      try file.query("DELETE FROM client WHERE key = ?").run(.text(key))
    }
  }

  /// Returns all keys that begin with a text.
  public func keys(beginningWith prefix: String) async throws -> [String] {
    try await run { (file) throws(OfflineStoreError) in
      try file.query("SELECT key FROM client").rows { $0.text(0) }
        .filter { $0.utf8.starts(with: prefix.utf8) }
    }
  }

  // MARK: The outbox

  /// Hands out what an outbox begins with, to one outbox at a time: two would give their changes the same
  /// numbers, and overwrite each other's.
  ///
  /// - Throws: `inUse` while there is an outbox.
  package func openOutbox() throws(OfflineStoreError) -> (
    senderID: String, kept: OutboxMachine.Kept
  ) {
    let isFirst = hasOutbox.withLock { hasOutbox in
      defer { hasOutbox = true }
      return !hasOutbox
    }
    guard isFirst else { throw .inUse }
    do throws(OfflineStoreError) {
      return (try senderID(), try kept())
    } catch {
      closeOutbox()
      throw error
    }
  }

  /// Lets another outbox be opened: the one before is gone.
  package func closeOutbox() { hasOutbox.withLock { $0 = false } }

  /// The device's name, made when it is asked for the first time.
  package func senderID() throws(OfflineStoreError) -> String {
    try transaction { (file) throws(OfflineStoreError) in
      let known = try file.query("SELECT value FROM client WHERE key = 'offline/sender'")
        .rows { $0.bytes(0) }.first
      if let known { return String(decoding: known, as: UTF8.self) }
      let name = RandomName.make()
      try file.query("INSERT INTO client (key, value) VALUES ('offline/sender', ?)")
        .run(.bytes(Array(name.utf8)))
      return name
    }
  }

  // MARK: Work

  /// Runs work on the file, here and now.
  package func perform<Value: Sendable>(
    _ work: (SQLiteFile) throws(OfflineStoreError) -> Value
  ) throws(OfflineStoreError) -> Value {
    try file.withLock { (file) throws(OfflineStoreError) -> Value in try work(file) }
  }

  /// Runs work in one transaction, synced when this returns.
  package func transaction<Value: Sendable>(
    _ work: (SQLiteFile) throws(OfflineStoreError) -> Value
  ) throws(OfflineStoreError) -> Value {
    try perform { (file) throws(OfflineStoreError) in
      try file.transaction { () throws(OfflineStoreError) in try work(file) }
    }
  }

  private func run<Value: Sendable>(
    _ work: @escaping @Sendable (SQLiteFile) throws(OfflineStoreError) -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      executor.queue.async { continuation.resume(with: Result { try self.perform(work) }) }
    }
  }
}
