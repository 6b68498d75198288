public import ParleyGatewayPorts
import ParleyHashing
import ParleyStoreRecords

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
    let name = "secret:" + name
    let meta = MetaRules(store: database)
    if let secret = try meta.meta(name) { return secret }
    let secret = randomBytes(count: byteCount)
    return try database.transaction { () throws(StoreError) in try meta.meta(name, orKeep: secret) }
  }
}
