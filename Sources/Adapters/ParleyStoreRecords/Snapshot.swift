package import ParleyGatewayPorts
package import OTCore

/// Advice that ends every error about damage.
package let damageAdvice = "run parley check, then restore the newest backup"

/// A document's text at a revision, or the empty one that its log starts from.
package struct Snapshot: Sendable, Equatable {
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

  /// The content that was stored.
  package func content() throws(StoreError) -> NoteContent {
    do throws(OperationError) {
      return try text.withUnsafeBufferPointer { text throws(OperationError) in
        NoteContent(try Document(utf8: text))
      }
    } catch {
      throw .damaged("the text at revision \(revision) is not UTF-8; \(damageAdvice)")
    }
  }
}

/// A content that a log is folded into.
package struct Fold {
  /// The revision of the text so far.
  package private(set) var revision: Int
  /// The checksum of the entry at that revision.
  package private(set) var chain: RecordChecksum
  /// The time at which that entry was accepted.
  package private(set) var time: Timestamp
  /// The content so far.
  package private(set) var content: NoteContent
  /// The authors of the text so far.
  package private(set) var authorship: Authorship

  /// Starts from a snapshot.
  package init(_ snapshot: Snapshot) throws(StoreError) {
    revision = snapshot.revision
    chain = snapshot.chain
    time = snapshot.time
    content = try snapshot.content()
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
      try content.apply(operation)
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

  /// The content so far, for readers of the past.
  package var text: HistoricText {
    HistoricText(revision: revision, time: time, content: content, authors: authorship.runs)
  }

  /// The content so far, to be kept.
  package var snapshot: Snapshot {
    Snapshot(
      revision: revision, chain: chain, time: time, text: content.utf8,
      authors: AuthorRunsCoding.encode(authorship))
  }
}
