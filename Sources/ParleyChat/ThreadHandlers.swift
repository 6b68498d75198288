public import ParleyClient

/// News of a thread.
public enum ThreadUpdate: Sendable, Hashable {
  /// A message, one's own among them.
  case message(ChatMessage)
  /// Messages between these places are missing, for the server keeps them no longer, or the loop was
  /// too slow. ``ThreadHandler/history(_:limit:)`` has what is still kept.
  case gap(after: RoomPosition, through: RoomPosition)
}

/// A part of a thread's history.
public enum HistoryRange: Sendable, Hashable {
  /// The newest messages.
  case newest(in: ChatThread)
  /// The messages right before one.
  case before(ChatMessage.ID)
  /// The messages right after one.
  case after(ChatMessage.ID)

  /// The thread.
  public var thread: ChatThread {
    switch self {
    case .newest(let thread): thread
    case .before(let message), .after(let message): message.thread
    }
  }
}

/// A page of a thread's history.
public struct HistoryPage: Sendable, Hashable {
  /// The messages, oldest first; empty only if there are no more in this direction.
  public let messages: [ChatMessage]
  /// Whether there are more in the same direction.
  public let hasMore: Bool
  /// Whether messages right after the one asked for are no longer kept.
  public let hasGap: Bool
  /// The place of the thread's newest message.
  public let head: RoomPosition

  /// Makes a page.
  public init(messages: [ChatMessage], hasMore: Bool, hasGap: Bool, head: RoomPosition) {
    self.messages = messages
    self.hasMore = hasMore
    self.hasGap = hasGap
    self.head = head
  }
}

/// Threads with their history.
@MainActor public protocol ThreadHandler: Sendable {
  /// Returns the messages of a thread from now on, in order, each once, also those of a time without
  /// a connection. 1,000 wait for the loop; when more come, the older half gives way to one `gap`.
  func messages(in thread: ChatThread) -> AsyncStream<ThreadUpdate>

  /// Returns a page of a thread's history. How much of it there is, is the server's to say.
  ///
  /// To show a thread without a hole, begin with ``messages(in:)``, then ask for the newest page, and
  /// leave out what comes twice.
  ///
  /// - Parameter limit: Messages, at most; the server may give fewer.
  /// - Throws: `otherHistory` where the message named is of a former one.
  func history(_ range: HistoryRange, limit: Int) async throws(RequestError) -> HistoryPage
}

extension ThreadHandler {
  /// Returns a page of 20 messages.
  public func history(_ range: HistoryRange) async throws(RequestError) -> HistoryPage {
    try await history(range, limit: 20)
  }
}

/// A search of what is on the device.
@MainActor public protocol SearchHandler: Sendable {
  /// Returns the messages whose text has all words of a text, whatever their case, newest first. Of
  /// the messages that came since the app began, the newest 1,000 of each of 100 threads and 16 MB in
  /// all are searched; the server is not asked.
  ///
  /// - Parameters:
  ///   - text: Words, parted by white space. There is nothing with no words.
  ///   - thread: The thread to look in; `nil` for all.
  ///   - limit: Messages, at most.
  /// - Complexity: In proportion to the texts, off the main actor.
  func search(_ text: String, in thread: ChatThread?, limit: Int) async -> [ChatMessage]
}
