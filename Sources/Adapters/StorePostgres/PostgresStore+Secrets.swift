public import GatewayPorts
import Hashing
import StoreRecords

/// Small values of the store as a whole.
extension PostgresStore {
  /// Returns a secret that is made on first use and kept from then on.
  ///
  /// Returns after a new one is durable, since what it signs is to outlive the process. Of two nodes
  /// that make it at once, both get the one that is kept.
  ///
  /// - Parameters:
  ///   - name: What it is for.
  ///   - byteCount: Random bytes of a new one.
  public func secret(named name: String, byteCount: Int = 32) throws(StoreError) -> [UInt8] {
    let name = "secret:" + name
    if let secret = try reading({ () throws(StoreError) in try meta(name) }) { return secret }
    let secret = randomBytes(count: byteCount)
    return try transaction { () throws(StoreError) in
      change(
        """
        INSERT INTO parley.meta (name, value, checksum) VALUES ($1, $2, $3)
        ON CONFLICT (name) DO NOTHING
        """, name, Blob(secret), checksum(name, secret))
      return try meta(name) ?? secret
    }
  }

  func meta(_ name: String) throws(StoreError) -> [UInt8]? {
    let found = try query("SELECT value, checksum FROM parley.meta WHERE name = $1", name)
    guard let row = found.first else { return nil }
    let value = row.bytes(0)
    guard row.withBytes(1, { RecordChecksum($0) }) == checksum(name, value) else {
      throw .damaged("the value \(name) differs from its checksum; \(damageAdvice)")
    }
    return value
  }

  private func checksum(_ name: String, _ value: [UInt8]) -> RecordChecksum {
    hasher.begin(.secret)
    hasher.add(name)
    hasher.add(value)
    return hasher.checksum()
  }
}
