import OTCore

/// A document as the store returns it.
public struct StoredDocument: Sendable {
  /// Title, times and head revision.
  public var summary: NoteSummary
  /// A random string minted with the log; another one means another history.
  public var epoch: String
  /// The content at the head revision.
  public var content: NoteContent
  /// The newest entries, oldest first, ending at the head revision; at most as many as asked for.
  public var recent: [LogEntry]
  /// The last operation of each client that the log knows.
  public var marks: [String: ClientMark]
  /// The chain at the head revision; `nil` from a store with one owner.
  public var chain: LogChain?
  /// The session of clients without a session in the store; see ``LogStretch/sessionFloor``.
  public var sessionFloor: Int

  /// Makes a stored document.
  public init(
    summary: NoteSummary, epoch: String, content: NoteContent, recent: [LogEntry],
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
