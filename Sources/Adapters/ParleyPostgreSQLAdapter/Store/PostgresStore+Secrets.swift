public import ParleyGatewayPorts
import ParleyHashing
import ParleyStoreRecords

/// Secrets, which are store-wide values.
extension PostgresStore {
  /// Returns a secret, which is created when it is first requested.
  ///
  /// A new secret is durable before this returns, since it signs tokens that are valid after a
  /// restart. If two nodes create it at once, both receive the stored one.
  ///
  /// - Parameters:
  ///   - name: The purpose of the secret.
  ///   - byteCount: The number of random bytes of a new secret.
  public func secret(named name: String, byteCount: Int = 32) throws(StoreError) -> [UInt8] {
    let name = "secret:" + name
    let meta = MetaTable(store: database)
    let known = try database.reading { () throws(StoreError) in try meta.meta(name) }
    if let known { return known }
    let secret = randomBytes(count: byteCount)
    return try database.transaction { () throws(StoreError) in try meta.meta(name, orKeep: secret) }
  }
}
