import OTCore

/// A document loaded from the store.
public struct StoredDocument: Sendable {
  /// The document's summary, with title, times and head revision.
  public var summary: NoteSummary
  /// A random string created with the log. Another epoch means another history.
  public var epoch: Epoch
  /// The content at the head revision.
  public var content: NoteContent
  /// The newest log entries, oldest first, up to the head revision.
  public var recent: [LogEntry]
  /// The last logged operation of each client.
  public var marks: [String: ClientMark]
  /// The chain at the head revision; `nil` from a store with one owner.
  public var chain: LogChain?
  /// The session of clients without a stored session; see ``LogRange/sessionFloor``.
  public var sessionFloor: Int

  /// Creates a document, by default of a store with one owner.
  public init(
    summary: NoteSummary, epoch: Epoch, content: NoteContent, recent: [LogEntry],
    marks: [String: ClientMark], chain: LogChain? = nil, sessionFloor: Int = 0
  ) {
    self.summary = summary
    self.epoch = epoch
    self.content = content
    self.recent = recent
    self.marks = marks
    self.chain = chain
    self.sessionFloor = sessionFloor
  }

  /// The text at the head revision.
  ///
  /// - Complexity: O(*n*).
  public var text: String { content.text.text }
}
