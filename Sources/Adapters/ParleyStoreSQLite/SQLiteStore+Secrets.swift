public import ParleyGatewayPorts
import ParleyHashing
import ParleyStoreRecords

/// Secrets, which are store-wide values.
extension SQLiteStore {
  /// Returns a secret, which is created when it is first requested.
  ///
  /// A new secret is durable before this returns: its tokens must be valid after a restart.
  ///
  /// - Parameters:
  ///   - name: The purpose of the secret.
  ///   - byteCount: The number of random bytes of a new secret.
  public func secret(named name: String, byteCount: Int = 32) throws(StoreError) -> [UInt8] {
    let name = "secret:" + name
    let meta = MetaTable(store: database)
    if let secret = try meta.meta(name) { return secret }
    let secret = randomBytes(count: byteCount)
    return try database.transaction { () throws(StoreError) in try meta.meta(name, orKeep: secret) }
  }
}
