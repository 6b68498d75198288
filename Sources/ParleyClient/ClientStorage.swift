/// A place on the device for what has to outlive the process: who this client is, and edits that the
/// server has not confirmed.
///
/// A storage belongs to one client at a time. Two that shared it would be the same client to the server,
/// which ends the older connection.
public protocol ClientStorage: Sendable {
  /// Returns the value of a key; `nil` if there is none.
  func read(_ key: String) async throws -> [UInt8]?

  /// Writes a value in place of what was there, in one step: a process that dies leaves either the
  /// old value or the new one. It is on the disk when this returns.
  func write(_ value: [UInt8], for key: String) async throws

  /// Removes a value, if there is one. It is gone from the disk when this returns.
  func remove(_ key: String) async throws

  /// Returns all keys that begin with a text, in no order.
  func keys(beginningWith prefix: String) async throws -> [String]
}

/// A storage that ends with the process: for tests, previews, and bots that write nothing offline.
public actor MemoryStorage: ClientStorage {
  private var values: [String: [UInt8]] = [:]

  /// Makes an empty storage.
  public init() {}

  /// Returns the value of a key; `nil` if there is none.
  public func read(_ key: String) -> [UInt8]? { values[key] }

  /// Writes a value in place of what was there.
  public func write(_ value: [UInt8], for key: String) { values[key] = value }

  /// Removes a value, if there is one.
  public func remove(_ key: String) { values[key] = nil }

  /// Returns all keys that begin with a text.
  public func keys(beginningWith prefix: String) -> [String] {
    values.keys.filter { $0.hasPrefix(prefix) }
  }
}
