package import GatewayPorts
import OTCore
package import StoreRecords

/// Documents' logs: reading back with every link verified.
extension PostgresStore {
  /// All marks of a document.
  package func marks(of row: DocumentRow) throws(StoreError) -> [String: ClientMark] {
    let marks = try query(
      """
      SELECT client, sequence, revision, digest FROM parley.marks WHERE document = $1 AND sequence > 0
      """, row.number
    ).rows { found in
      (
        found.text(0),
        ClientMark(
          sequence: found.integer(1), revision: found.integer(2), digest: found.bits(3))
      )
    }
    return Dictionary(marks) { $1 }
  }

  // MARK: Reading

  /// Entries that are read at once.
  private static let stride = 256

  /// Reads entries in order, each verified before `body` sees it.
  ///
  /// - Parameters:
  ///   - after: At least the document's base.
  ///   - through: At most its head; the head's entry is compared with the document's row.
  ///   - chain: The checksum of the entry at `after`.
  /// - Returns: The checksum of the last entry.
  @discardableResult
  package func walk(
    _ row: DocumentRow, after: Int, through: Int, chain: RecordChecksum,
    _ body: (borrowing StoredEntry<Row>) throws(StoreError) -> Void
  ) throws(StoreError) -> RecordChecksum {
    guard after < through else { return chain }
    var place = LogPlace(revision: after, chain: chain, epochs: try epochs(of: row))
    while place.revision < through {
      let rows = try query(
        """
        SELECT revision, client, sequence, digest, operation, author, time, checksum FROM parley.log
        WHERE document = $1 AND revision > $2 AND revision <= $3 ORDER BY revision LIMIT $4
        """, row.number, place.revision, through, Self.stride
      ).rows { $0 }
      guard !rows.isEmpty else { throw damaged(place.revision + 1, "is missing") }
      try pass(rows, of: row, from: &place, body)
    }
    return place.chain
  }

  /// Verifies rows of the log that follow a place, and moves the place behind them.
  func pass(
    _ rows: [PostgresRow], of row: DocumentRow, from place: inout LogPlace,
    _ body: (borrowing StoredEntry<Row>) throws(StoreError) -> Void
  ) throws(StoreError) {
    for found in rows {
      place.revision += 1
      guard found.integer(0) == place.revision else { throw damaged(place.revision, "is missing") }
      place.chain = checksum(
        of: found, after: place.chain, document: row.id, epoch: place.epoch)
      guard found.withBytes(7, { RecordChecksum($0) }) == place.chain else {
        throw damaged(place.revision, "differs from its checksum")
      }
      try body(
        StoredEntry(
          found, revision: place.revision, operation: try operation(found), checksum: place.chain))
    }
    guard place.revision != row.revision || place.chain == row.chain else {
      throw damaged(place.revision, "is not the one that the note ends with")
    }
  }

  private func checksum(
    of found: PostgresRow, after chain: RecordChecksum, document: DocumentID, epoch: String
  ) -> RecordChecksum {
    hasher.beginEntry(chain, document: document, epoch: epoch, revision: found.integer(0))
    found.withBytes(1) { hasher.add($0) }
    hasher.add(found.integer(2))
    hasher.add(bits: found.bits(3))
    found.withBytes(4) { hasher.add($0) }
    found.withBytes(5) { hasher.add($0) }
    hasher.add(found.integer(6))
    return hasher.checksum()
  }

  private func operation(_ found: PostgresRow) throws(StoreError) -> TextOperation {
    do throws(OperationError) {
      return try found.withBytes(4) { bytes throws(OperationError) in
        try TextOperation(json: bytes.bindMemory(to: UInt8.self))
      }
    } catch {
      throw damaged(found.integer(0), "is not an operation")
    }
  }
}

/// A place in a log that is read: the entry there, which its successor has to follow.
struct LogPlace {
  var revision: Int
  /// The checksum of the entry there.
  var chain: RecordChecksum
  /// The log's epochs, each with the revision after which it began.
  let epochs: [(after: Int, epoch: String)]
  private var epochIndex = 0

  init(revision: Int, chain: RecordChecksum, epochs: [(after: Int, epoch: String)]) {
    self.revision = revision
    self.chain = chain
    self.epochs = epochs
  }

  /// The epoch of the entry there.
  var epoch: String {
    mutating get {
      while epochIndex + 1 < epochs.count, epochs[epochIndex + 1].after < revision {
        epochIndex += 1
      }
      return epochs[epochIndex].epoch
    }
  }
}
