/// The reason why an ``OfflineStore`` cannot be used, or a write failed.
public enum OfflineStoreError: Error, Sendable, Hashable {
  /// The folder cannot be created or used; contains the system's message.
  case folder(String)
  /// Another process or object has the store open, or the store has an open outbox.
  case inUse
  /// A newer version of the app has written the store; it is left unchanged.
  case newerVersion(found: Int, known: Int)
  /// The file is not a store of this library; it is left unchanged.
  case foreign
  /// The file is damaged; contains SQLite's message. It is left unchanged.
  case damaged(String)
  /// The disk is full; nothing was written.
  case full
  /// The disk or the file is read-only.
  case readOnly
  /// The disk could not be read or written; contains SQLite's message.
  case disk(String)
}

extension OfflineStoreError: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .folder(let reason): "the store's folder cannot be used: \(reason)"
    case .inUse: "the store, or its outbox, is open already; open it once, and share it"
    case .newerVersion(let found, let known):
      "the store has version \(found), and this app knows \(known); install the newer app again"
    case .foreign:
      "expected a store of this library, but the file is another database; choose another folder"
    case .damaged(let reason):
      "the store is damaged (\(reason)); set its folder aside, and open a new one"
    case .full: "the device's disk is full; free space on it, then try again"
    case .readOnly: "the store may not be written; check its owner and mode"
    case .disk(let reason): "the device's disk could not be read or written: \(reason)"
    }
  }
}
