package import ParleyGatewayPorts
package import OTCore

/// The advice at the end of every error about damage.
package let damageAdvice = "run parley check, then restore the newest backup"

/// A document's content at a revision, or the empty text at the start of its log.
package struct Snapshot: Sendable, Equatable {
  package var revision: Int
  /// The checksum of the entry at the revision.
  package var chain: RecordChecksum
  /// The time at which the entry at the revision was accepted.
  package var time: Timestamp
  /// The text in UTF-8.
  package var text: [UInt8]
  /// The authors of the text, encoded by `AuthorRunsCoding`.
  package var authors: [UInt8]
  /// The JSON form of the text's attributes; empty if there are none.
  package var format: [UInt8]

  /// Creates a snapshot from stored columns or from a fold.
  package init(
    revision: Int, chain: RecordChecksum, time: Timestamp, text: [UInt8], authors: [UInt8],
    format: [UInt8]
  ) {
    self.revision = revision
    self.chain = chain
    self.time = time
    self.text = text
    self.authors = authors
    self.format = format
  }

  /// The stored size, in bytes.
  package var byteCount: Int { text.count + authors.count + format.count }

  /// Returns the content; throws `damaged` if it is unreadable.
  package func content() throws(StoreError) -> NoteContent {
    do throws(OperationError) {
      return try text.withUnsafeBufferPointer { text throws(OperationError) in
        let text = try Document(utf8: text)
        return format.isEmpty
          ? NoteContent(text) : NoteContent(try RichDocument(text, formatJSON: format))
      }
    } catch {
      throw .damaged("the text at revision \(revision) is unreadable; \(damageAdvice)")
    }
  }
}

/// A text that is rebuilt by applying the entries of a log in order.
package struct Fold {
  /// The revision of the last applied entry.
  package private(set) var revision: Int
  /// The checksum of the last applied entry.
  package private(set) var chain: RecordChecksum
  /// The time at which the last applied entry was accepted.
  package private(set) var time: Timestamp
  /// The content at `revision`.
  package private(set) var content: NoteContent
  /// The authors of the text at `revision`.
  package private(set) var authorship: Authorship

  /// Starts a fold from a snapshot.
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

  /// Applies the next entry.
  package mutating func apply(
    _ operation: TextOperation, _ format: ChangeFormat?, by author: String, at time: Timestamp,
    revision: Int, checksum: RecordChecksum
  ) throws(StoreError) {
    do throws(OperationError) {
      try content.apply(operation, format)
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

  /// The content at `revision`, for a history request.
  package var text: HistoricText {
    HistoricText(revision: revision, time: time, content: content, authors: authorship.runs)
  }

  /// The content at `revision`, as a snapshot to be stored.
  package var snapshot: Snapshot {
    Snapshot(
      revision: revision, chain: chain, time: time, text: content.utf8,
      authors: AuthorRunsCoding.encode(authorship), format: content.formatJSON)
  }
}
