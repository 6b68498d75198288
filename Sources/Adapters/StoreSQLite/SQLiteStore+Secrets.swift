public import GatewayPorts
import Hashing
import StoreRecords

/// Small values of the store as a whole.
extension SQLiteStore {
  /// Returns a secret that is made on first use and kept from then on.
  ///
  /// Returns after a new one is on the disk, since what it signs is to outlive the process.
  ///
  /// - Parameters:
  ///   - name: What it is for.
  ///   - byteCount: Random bytes of a new one.
  public func secret(named name: String, byteCount: Int = 32) throws(StoreError) -> [UInt8] {
    if let secret = try meta("secret:" + name) { return secret }
    let secret = freshBytes(count: byteCount)
    try transaction { () throws(StoreError) in try keepMeta("secret:" + name, value: secret) }
    return secret
  }

  func freshBytes(count: Int) -> [UInt8] { randomBytes(count: count) }

  func meta(_ name: String) throws(StoreError) -> [UInt8]? {
    try sql("SELECT value, checksum FROM meta WHERE name = ?").first(name) {
      found throws(StoreError) in
      let value = found.bytes(0)
      guard found.withBytes(1, { RecordChecksum($0) }) == checksum(name, value) else {
        throw .damaged("the value \(name) differs from its checksum; \(damageAdvice)")
      }
      return value
    }
  }

  func keepMeta(_ name: String, value: [UInt8]) throws(StoreError) {
    try sql("INSERT OR REPLACE INTO meta (name, value, checksum) VALUES (?, ?, ?)").run(
      name, value, checksum(name, value))
  }

  private func checksum(_ name: String, _ value: [UInt8]) -> RecordChecksum {
    hasher.begin(.secret)
    hasher.add(name)
    hasher.add(value)
    return hasher.checksum()
  }
}
