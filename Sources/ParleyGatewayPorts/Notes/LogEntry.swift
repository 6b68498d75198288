public import OTCore

/// An operation in a document's log.
public struct LogEntry: Sendable, Equatable {
  /// The revision that this entry brings the document to; the first entry's is 1.
  public var revision: Int
  /// The sender's client id, minted by the server.
  public var client: String
  /// The client's own number for it, counting up from 1 for each client and document; 0 if the client
  /// numbers nothing and never sends a change again, which leaves no mark then.
  public var sequence: Int
  /// A digest of the change as sent, to tell a repetition from a second use of a sequence.
  public var digest: UInt64
  /// The operation after rebasing, applying to revision - 1.
  public var operation: TextOperation
  /// The author's name as shown to people.
  public var author: String
  /// The time at which the server accepted it.
  public var time: Timestamp

  /// Makes an entry.
  public init(
    revision: Int, client: String, sequence: Int, digest: UInt64, operation: TextOperation,
    author: String, time: Timestamp
  ) {
    self.revision = revision
    self.client = client
    self.sequence = sequence
    self.digest = digest
    self.operation = operation
    self.author = author
    self.time = time
  }
}

/// The last operation of one client that a document's log holds.
public struct ClientMark: Sendable, Equatable {
  /// The client's number for it.
  public var sequence: Int
  /// The revision it became.
  public var revision: Int
  /// The digest of what was sent.
  public var digest: UInt64

  /// Makes a mark.
  public init(sequence: Int, revision: Int, digest: UInt64) {
    self.sequence = sequence
    self.revision = revision
    self.digest = digest
  }
}
