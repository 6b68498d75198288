/// Why an ``OfflineStore`` cannot be used, or did not take something.
public enum OfflineStoreError: Error, Sendable, Hashable {
  /// The folder cannot be made or used, in the system's words.
  case folder(String)
  /// Another process, or another object of this one, has the store open, or the store has an outbox.
  case inUse
  /// A newer version of the app has written the store; it is kept as it is.
  case newerVersion(found: Int, known: Int)
  /// A file of another kind lies in the store's place; it is kept as it is.
  case foreign
  /// The file is damaged, in SQLite's words; it is kept as it is.
  case damaged(String)
  /// The disk is full; nothing of what was to be written is.
  case full
  /// The disk or the file may not be written.
  case readOnly
  /// The disk could not be read or written, in SQLite's words.
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
      "expected a store of this library, but another database lies there; choose another folder"
    case .damaged(let reason):
      "the store is damaged (\(reason)); set its folder aside, and open a new one"
    case .full: "the device's disk is full; free space on it, then try again"
    case .readOnly: "the store may not be written; check its owner and mode"
    case .disk(let reason): "the device's disk could not be read or written: \(reason)"
    }
  }
}
