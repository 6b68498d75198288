package import GatewayPorts
package import OTCore

/// Advice that ends every error about damage.
package let damageAdvice = "run parley check, then restore the newest backup"

/// A document's text at a revision, or the empty one that its log starts from.
package struct Snapshot: Sendable {
  package var revision: Int
  /// The checksum of the entry at the revision.
  package var chain: RecordChecksum
  /// The time at which that entry was accepted.
  package var time: Timestamp
  /// UTF-8.
  package var text: [UInt8]
  /// The authors of the text, encoded by `AuthorRunsCoding`.
  package var authors: [UInt8]

  /// Makes a snapshot.
  package init(
    revision: Int, chain: RecordChecksum, time: Timestamp, text: [UInt8], authors: [UInt8]
  ) {
    self.revision = revision
    self.chain = chain
    self.time = time
    self.text = text
    self.authors = authors
  }

  /// The text as a document.
  package func document() throws(StoreError) -> Document {
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
package struct Fold {
  /// The revision of the text so far.
  package private(set) var revision: Int
  /// The checksum of the entry at that revision.
  package private(set) var chain: RecordChecksum
  /// The time at which that entry was accepted.
  package private(set) var time: Timestamp
  /// The text so far.
  package private(set) var document: Document
  /// The authors of the text so far.
  package private(set) var authorship: Authorship

  /// Starts from a snapshot.
  package init(_ snapshot: Snapshot) throws(StoreError) {
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
  package mutating func apply(
    _ operation: TextOperation, by author: String, at time: Timestamp, revision: Int,
    checksum: RecordChecksum
  ) throws(StoreError) {
    do throws(OperationError) {
      try document.apply(operation)
    } catch {
      throw .damaged(
        "the entry of revision \(revision) does not apply to the text before it; "
          + damageAdvice)
    }
    authorship.apply(operation, by: author)
    self.revision = revision
    chain = checksum
    self.time = time
  }

  /// The text so far.
  package var text: HistoricText {
    HistoricText(
      revision: revision, time: time, text: document.text, authors: authorship.runs)
  }

  /// The text so far, to be kept.
  package var snapshot: Snapshot {
    var text: [UInt8] = []
    text.reserveCapacity(document.utf8Count)
    document.forEachChunk { text.append(contentsOf: $0) }
    return Snapshot(
      revision: revision, chain: chain, time: time, text: text,
      authors: AuthorRunsCoding.encode(authorship))
  }
}
