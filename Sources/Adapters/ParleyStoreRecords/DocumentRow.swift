package import ParleyGatewayPorts
package import OTCore

/// A document's row: the head of its log, and the checksums that verify its other rows.
package struct DocumentRow {
  package var number: Int
  package var id: DocumentID
  package var title: String
  package var createdAt: Timestamp
  package var updatedAt: Timestamp
  package var epoch: Epoch
  /// The head revision.
  package var revision: Int
  /// The length of the text at the head, in Unicode scalars.
  package var length: Int
  /// The checksum of the head entry, or of the origin if the log is empty.
  package var chain: RecordChecksum
  /// The base: entries up to this revision are compacted away, and a snapshot has its text.
  package var base: Int
  /// The checksum of the entry at `base`, or of the origin if `base` is 0.
  package var baseChain: RecordChecksum
  /// The wrapping sum of the hashes of all marks, so that a lost or changed mark is detected.
  package var marks: UInt64
  /// The approximate bytes of entries since the newest snapshot. Negative after a snapshot that was
  /// larger than the text. Not covered by the row's checksum.
  package var unsnapped: Int
  /// The folder that the note is in.
  package var folder: FolderPath
  /// The kind of the note.
  package var kind: NoteKind
  /// The minimum session of clients without a mark, in a shared log. Not covered by the checksum.
  package var sessionFloor = 0

  /// Creates a row whose `sessionFloor` is 0.
  package init(
    number: Int, id: DocumentID, title: String, createdAt: Timestamp, updatedAt: Timestamp,
    epoch: Epoch, revision: Int, length: Int, chain: RecordChecksum, base: Int,
    baseChain: RecordChecksum, marks: UInt64, unsnapped: Int,
    folder: FolderPath, kind: NoteKind
  ) {
    self.number = number
    self.id = id
    self.title = title
    self.createdAt = createdAt
    self.updatedAt = updatedAt
    self.epoch = epoch
    self.revision = revision
    self.length = length
    self.chain = chain
    self.base = base
    self.baseChain = baseChain
    self.marks = marks
    self.unsnapped = unsnapped
    self.folder = folder
    self.kind = kind
  }

  package var summary: NoteSummary {
    NoteSummary(
      id: id, title: title, revision: revision, createdAt: createdAt, updatedAt: updatedAt,
      folder: folder, kind: kind)
  }

  /// Changes the kind if an entry does.
  package mutating func note(_ format: ChangeFormat?) {
    if format?.makesRich == true { kind = .rich }
  }

  /// Whether the log has grown enough since the newest snapshot for another snapshot.
  ///
  /// A snapshot is due when the log has grown by the size of the text, and by at least 64 KiB. So
  /// the cost of loading is proportional to the text, and all snapshots together are smaller than
  /// the log.
  package var needsSnapshot: Bool { Self.needsSnapshot(unsnapped: unsnapped, length: length) }

  /// Whether a snapshot is due for a text of `length` scalars, after `unsnapped` bytes of entries.
  static func needsSnapshot(unsnapped: Int, length: Int) -> Bool {
    unsnapped >= max(length, 65_536)
  }
}

extension NoteKind {
  /// The number of the kind in the column `kind`.
  package var number: Int {
    switch self {
    case .plain: 0
    case .rich: 1
    }
  }

  /// Creates the kind with a stored number.
  package init(stored number: Int) { self = number == NoteKind.rich.number ? .rich : .plain }
}

extension RecordHasher {
  package mutating func checksum(of row: borrowing DocumentRow) -> RecordChecksum {
    begin(.document)
    add(row.number)
    add(row.id)
    add(row.title)
    add(Int(row.createdAt))
    add(Int(row.updatedAt))
    add(row.epoch)
    add(row.revision)
    add(row.length)
    add(row.chain)
    add(row.base)
    add(row.baseChain)
    add(bits: row.marks)
    // A note without a folder has the checksum that it had before the column existed.
    if !row.folder.isNone || row.kind != .plain { add(row.folder.text) }
    // The same holds for a plain note.
    if row.kind != .plain { add(row.kind.number) }
    return checksum()
  }

  /// Returns the checksum that precedes a document's first entry.
  package mutating func origin(of id: DocumentID) -> RecordChecksum {
    begin(.origin)
    add(id)
    return checksum()
  }

  package mutating func checksum(
    of deletion: Deletion, document: DocumentID, number: Int
  ) -> RecordChecksum {
    begin(.deletion)
    add(number)
    add(document)
    add(Int(deletion.time))
    add(deletion.author)
    return checksum()
  }

  package mutating func hash(
    of mark: ClientMark, client: String, document: DocumentID
  ) -> UInt64 {
    begin(.mark)
    add(document)
    add(client)
    add(mark.sequence)
    add(mark.revision)
    add(bits: mark.digest)
    return checksum().high
  }

  package mutating func checksum(of snapshot: Snapshot, document: DocumentID) -> RecordChecksum {
    begin(.snapshot)
    add(document)
    add(snapshot.revision)
    add(snapshot.chain)
    add(Int(snapshot.time))
    add(snapshot.text)
    add(snapshot.authors)
    // A text without attributes has the checksum that it had before the column existed.
    if !snapshot.format.isEmpty { add(snapshot.format) }
    return checksum()
  }

  package mutating func checksum(of version: NamedVersion, document: DocumentID) -> RecordChecksum {
    begin(.version)
    add(document)
    add(version.revision)
    add(version.name)
    add(version.author)
    add(Int(version.time))
    return checksum()
  }

  /// Begins the checksum of a log entry. The caller adds the entry's fields.
  package mutating func beginEntry(
    _ predecessor: RecordChecksum, document: DocumentID, epoch: Epoch, revision: Int
  ) {
    begin(.entry)
    add(predecessor)
    add(document)
    add(epoch)
    add(revision)
  }
}
