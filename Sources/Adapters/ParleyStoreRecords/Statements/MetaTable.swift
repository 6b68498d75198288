package import ParleyGatewayPorts

/// Store-wide values, each with a name and a checksum.
package struct MetaTable<Store: SQLConnection> {
  let store: Store

  package init(store: Store) { self.store = store }

  package func meta(_ name: String) throws(StoreError) -> [UInt8]? {
    try store.first("SELECT value, checksum FROM meta WHERE name = $1", name) {
      found throws(StoreError) in
      let value = found.bytes(0)
      guard found.withBytes(1, { RecordChecksum($0) }) == checksum(name, value) else {
        throw .damaged(
          "the record \"\(name)\" in table meta differs from its checksum; \(damageAdvice)")
      }
      return value
    }
  }

  package func setMeta(_ name: String, value: [UInt8]) throws(StoreError) {
    try store.change(
      """
      INSERT INTO meta (name, value, checksum) VALUES ($1, $2, $3)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value, checksum = excluded.checksum
      """, name, Blob(value), checksum(name, value))
  }

  /// Stores a value unless the name has a value already, and returns the stored one.
  package func meta(_ name: String, orKeep value: [UInt8]) throws(StoreError) -> [UInt8] {
    try store.change(
      """
      INSERT INTO meta (name, value, checksum) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING
      """, name, Blob(value), checksum(name, value))
    return try meta(name) ?? value
  }

  private func checksum(_ name: String, _ value: [UInt8]) -> RecordChecksum {
    store.context.hasher.begin(.secret)
    store.context.hasher.add(name)
    store.context.hasher.add(value)
    return store.context.hasher.checksum()
  }
}
