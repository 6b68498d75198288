public import ParleyGatewayPorts
import ParleyHashing
import ParleyStoreRecords

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
    let meta = MetaRules(store: database)
    let known = try database.reading { () throws(StoreError) in try meta.meta(name) }
    if let known { return known }
    let secret = randomBytes(count: byteCount)
    return try database.transaction { () throws(StoreError) in try meta.meta(name, orKeep: secret) }
  }
}
