package import ParleyGatewayPorts
package import ParleyStoreRecords

/// The times of a log. Places where the clock was set back are kept beside the log, for there are few
/// and often none.
extension SQLiteDatabase {
  /// Places kept for one document; beyond, the oldest are forgotten.
  private static let setBacksMax = 1_000

  // MARK: Where the clock was set back

  private static func name(of document: Int) -> String { "clock:\(document)" }

  /// The revisions before which the clock was set back, ascending.
  package func setBacks(of row: DocumentRow) throws(StoreError) -> [Int] {
    Self.setBacks(try MetaRules(store: self).meta(Self.name(of: row.number)) ?? [])
  }

  /// Revisions as they are kept among the small values.
  static func setBacks(_ bytes: [UInt8]) -> [Int] {
    stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map { start in
      bytes[start..<(start + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
  }

  /// Takes a time into a document's record, and notes where the clock was set back.
  ///
  /// - Parameter revision: The first one that may have the new time.
  package func note(
    _ time: Timestamp, before revision: Int, in row: inout DocumentRow
  ) throws(StoreError) {
    if TimeOrder.isSetBack(from: row.updatedAt, to: time) {
      var revisions = try setBacks(of: row)
      if revisions.last != revision { revisions.append(revision) }
      let (name, bytes) = Self.setBacks(revisions, ofDocument: row.number)
      try MetaRules(store: self).keepMeta(name, value: bytes)
    }
    row.updatedAt = TimeOrder.following(row.updatedAt, time)
  }

  /// The newest revisions as they are kept among the small values, and the name for them.
  static func setBacks(
    _ revisions: [Int], ofDocument number: Int
  ) -> (name: String, value: [UInt8]) {
    let bytes = revisions.suffix(setBacksMax).flatMap { revision in
      (0..<8).map { UInt8(truncatingIfNeeded: revision >> (8 * $0)) }
    }
    return (name(of: number), bytes)
  }

  /// Forgets what is noted of a document that is gone.
  package func forgetSetBacks(ofDocument number: Int) throws(StoreError) {
    try change("DELETE FROM meta WHERE name = $1", Self.name(of: number))
  }
}
