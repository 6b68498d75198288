import Dispatch
public import ParleyClient
import Synchronization

/// The app's storage on the device: unconfirmed edits of notes, fetched values, and changes that
/// wait for the server. It is one SQLite file in its own folder, synced at each step.
///
///     let store = try OfflineStore(named: "ann")
///     let parley = Parley("wss://notes.example.org", as: "Ann", storage: store)
///     let outbox = try Outbox(store, user: "ann", sender: service)
///
/// A folder can have one open store, in all processes, and a store one ``Outbox``; a second one is
/// refused with ``OfflineStoreError/inUse``. Only the file's owner may read it. A damaged, foreign
/// or newer file is refused and left unchanged.
public final class OfflineStore: ClientStorage, Sendable {
  package let executor = QueueExecutor()
  private let file: Mutex<SQLiteFile>
  /// Whether an outbox is open.
  private let hasOutbox = Mutex(false)

  /// Opens the store in the app's folder with a name, and creates both if necessary; see
  /// `FileStorage.init(named:)`. Blocks the calling thread.
  ///
  /// - Parameter name: Any text, such as the person's id.
  public convenience init(named name: String) throws(OfflineStoreError) {
    let folder = DataFolder.path(named: name)
    try self.init(folder: folder)
    DataFolder.protect(folder)
  }

  /// Opens the store in a folder, and creates both, and the folders above it, if necessary. Blocks
  /// the calling thread.
  ///
  /// - Parameter folder: A folder that contains nothing else. Exclude it from backups: a restored
  ///   one would continue
  ///   from an older state.
  public convenience init(folder: String) throws(OfflineStoreError) {
    try self.init(folder: folder, vfs: nil)
  }

  /// Opens a store on a given SQLite VFS; `nil` selects the default one.
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

  /// Returns the value of a key; `nil` if missing.
  public func read(_ key: String) async throws -> [UInt8]? {
    try await run { (file) throws(OfflineStoreError) in
      try file.query("SELECT value FROM client WHERE key = ?").rows([.text(key)]) { $0.bytes(0) }
        .first
    }
  }

  /// Writes a value, replacing the former one; it is on disk when this returns.
  public func write(_ value: [UInt8], for key: String) async throws {
    try await run { (file) throws(OfflineStoreError) in
      try file.query("INSERT OR REPLACE INTO client (key, value) VALUES (?, ?)")
        .run(.text(key), .bytes(value))
    }
  }

  /// Removes a value, if there is one; it is removed from disk when this returns.
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

  /// Returns an outbox's initial state. Only one outbox may be open: two would assign the same
  /// numbers to their changes, and overwrite each other's.
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

  /// Releases the outbox's claim, so that another outbox can be opened.
  package func closeOutbox() { hasOutbox.withLock { $0 = false } }

  /// Returns the device's id as a sender, created on the first call.
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

  /// Runs work on the file synchronously, on the calling thread.
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
