/// The device's storage for data that outlives the process: the client's identity, and edits that
/// the server has not confirmed.
///
/// A storage belongs to one client at a time. To the server, two clients with the same storage
/// would be one client, and it would end the older connection.
public protocol ClientStorage: Sendable {
  /// Returns the value of a key; `nil` if missing.
  func read(_ key: String) async throws -> [UInt8]?

  /// Writes a value atomically, replacing the former one: after a crash the storage contains either
  /// the old value or the new one. The new value is on disk when this returns.
  func write(_ value: [UInt8], for key: String) async throws

  /// Removes a value, if there is one. It is removed from disk when this returns.
  func remove(_ key: String) async throws

  /// Returns all keys that begin with a text, in any order.
  func keys(beginningWith prefix: String) async throws -> [String]
}

/// A storage in memory: for tests, previews, and bots that write nothing offline.
public actor MemoryStorage: ClientStorage {
  private var values: [String: [UInt8]] = [:]

  /// Creates an empty storage.
  public init() {}

  /// Returns the value of a key; `nil` if missing.
  public func read(_ key: String) -> [UInt8]? { values[key] }

  /// Writes a value, replacing the former one.
  public func write(_ value: [UInt8], for key: String) { values[key] = value }

  /// Removes a value, if there is one.
  public func remove(_ key: String) { values[key] = nil }

  /// Returns all keys that begin with a text.
  public func keys(beginningWith prefix: String) -> [String] {
    values.keys.filter { $0.hasPrefix(prefix) }
  }
}
