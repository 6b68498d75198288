package import ParleyGatewayPorts
package import ParleyStoreRecords

/// Clock set-backs in logs. They are stored apart from the log, since most logs have none.
extension SQLiteDatabase {
  /// The maximum set-backs stored for one document. Beyond it, the oldest are discarded.
  private static let setBacksMax = 1_000

  // MARK: Clock set-backs

  private static func name(of document: Int) -> String { "clock:\(document)" }

  /// Returns the revisions before which the clock was set back, ascending.
  package func setBacks(of row: DocumentRow) throws(StoreError) -> [Int] {
    Self.setBacks(try MetaTable(store: self).meta(Self.name(of: row.number)) ?? [])
  }

  /// Decodes revisions from their stored value: 8 bytes each, little-endian.
  static func setBacks(_ bytes: [UInt8]) -> [Int] {
    stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map { start in
      bytes[start..<(start + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
  }

  /// Sets the update time of a document's row, and records clock set-backs.
  ///
  /// - Parameter revision: The first revision that may have the new time.
  package func note(
    _ time: Timestamp, before revision: Int, in row: inout DocumentRow
  ) throws(StoreError) {
    if TimeOrder.isSetBack(from: row.updatedAt, to: time) {
      var revisions = try setBacks(of: row)
      if revisions.last != revision { revisions.append(revision) }
      let (name, bytes) = Self.setBacks(revisions, ofDocument: row.number)
      try MetaTable(store: self).setMeta(name, value: bytes)
    }
    row.updatedAt = TimeOrder.following(row.updatedAt, time)
  }

  /// Encodes the newest revisions, and returns them with the name of the value in `meta`.
  static func setBacks(
    _ revisions: [Int], ofDocument number: Int
  ) -> (name: String, value: [UInt8]) {
    let bytes = revisions.suffix(setBacksMax).flatMap { revision in
      (0..<8).map { UInt8(truncatingIfNeeded: revision >> (8 * $0)) }
    }
    return (name(of: number), bytes)
  }

  /// Deletes the record of clock set-backs of a deleted document.
  package func forgetSetBacks(ofDocument number: Int) throws(StoreError) {
    try change("DELETE FROM meta WHERE name = $1", Self.name(of: number))
  }
}
