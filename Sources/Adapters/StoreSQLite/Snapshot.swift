import GatewayPorts
import OTCore

/// A document's text at a revision, or the empty one that its log starts from.
struct Snapshot: Sendable {
  var revision: Int
  /// The checksum of the entry at the revision.
  var chain: RecordChecksum
  /// The time at which that entry was accepted.
  var time: Timestamp
  /// UTF-8.
  var text: [UInt8]
  /// The authors of the text, encoded by `AuthorRunsCoding`.
  var authors: [UInt8]

  /// The text as a document.
  func document() throws(StoreError) -> Document {
    do throws(OperationError) {
      return try text.withUnsafeBufferPointer { text throws(OperationError) in
        try Document(utf8: text)
      }
    } catch {
      throw .damaged("the text at revision \(revision) is not UTF-8; \(damageAdvice)")
    }
  }
}

/// A text that a log is folded into.
struct Fold {
  private(set) var revision: Int
  private(set) var chain: RecordChecksum
  private(set) var time: Timestamp
  private(set) var document: Document
  private(set) var authorship: Authorship

  /// Starts from a snapshot.
  init(_ snapshot: Snapshot) throws(StoreError) {
    revision = snapshot.revision
    chain = snapshot.chain
    time = snapshot.time
    document = try snapshot.document()
    guard let authorship = AuthorRunsCoding.decode(snapshot.authors) else {
      throw .damaged("the authors at revision \(snapshot.revision) are unreadable; \(damageAdvice)")
    }
    self.authorship = authorship
  }

  /// Goes one entry further.
  mutating func apply(_ entry: borrowing StoredEntry) throws(StoreError) {
    do throws(OperationError) {
      try document.apply(entry.operation)
    } catch {
      throw .damaged(
        "the entry of revision \(entry.revision) does not apply to the text before it; "
          + damageAdvice)
    }
    authorship.apply(entry.operation, by: entry.author)
    revision = entry.revision
    chain = entry.checksum
    time = entry.time
  }

  /// The text so far, to be kept.
  var snapshot: Snapshot {
    var text: [UInt8] = []
    text.reserveCapacity(document.utf8Count)
    document.forEachChunk { text.append(contentsOf: $0) }
    return Snapshot(
      revision: revision, chain: chain, time: time, text: text,
      authors: AuthorRunsCoding.encode(authorship))
  }
}
