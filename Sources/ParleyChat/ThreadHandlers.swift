public import ParleyClient

/// An update of a thread.
public enum ThreadUpdate: Sendable, Hashable {
  /// A message, also of this person.
  case message(ChatMessage)
  /// Messages between these positions are missing, because the server no longer stores them or the
  /// loop was too slow. ``ThreadHandler/history(_:limit:)`` returns those that are still stored.
  case gap(after: RoomPosition, through: RoomPosition)
}

/// A range of a thread's history.
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
  /// The messages, oldest first; empty only if there are none in this direction.
  public let messages: [ChatMessage]
  /// Whether there are more messages in the same direction.
  public let hasMore: Bool
  /// Whether messages right after the requested one are no longer stored.
  public let hasGap: Bool
  /// The position of the thread's newest message.
  public let head: RoomPosition

  /// Creates a page.
  public init(messages: [ChatMessage], hasMore: Bool, hasGap: Bool, head: RoomPosition) {
    self.messages = messages
    self.hasMore = hasMore
    self.hasGap = hasGap
    self.head = head
  }
}

/// Threads and their history.
@MainActor public protocol ThreadHandler: Sendable {
  /// Returns the messages of a thread from now on, in order and each once, including those sent
  /// during a lost connection. At most 1,000 are buffered; beyond it, the older half is replaced by
  /// one `gap`.
  func messages(in thread: ChatThread) -> AsyncStream<ThreadUpdate>

  /// Returns a page of a thread's history. The server determines how much of it is stored.
  ///
  /// To show a thread without a gap, start with ``messages(in:)``, then request the newest page,
  /// and skip duplicates.
  ///
  /// - Parameter limit: Maximum messages; the server may return fewer.
  /// - Throws: `otherHistory` if the given message belongs to a former history.
  func history(_ range: HistoryRange, limit: Int) async throws(RequestError) -> HistoryPage
}

extension ThreadHandler {
  /// Returns a page of 20 messages.
  public func history(_ range: HistoryRange) async throws(RequestError) -> HistoryPage {
    try await history(range, limit: 20)
  }
}

/// A search of the messages on the device.
@MainActor public protocol SearchHandler: Sendable {
  /// Returns the messages whose text contains all words of a text, ignoring case, newest first. It
  /// searches messages received since the app started: maximum 1,000 in each of 100 threads, and 16
  /// MB in total. The server is not asked.
  ///
  /// - Parameters:
  ///   - text: The words, separated by white space. Without words, nothing is found.
  ///   - thread: The thread to search; `nil` for all.
  ///   - limit: Maximum messages.
  /// - Complexity: Proportional to the size of the texts, off the main actor.
  func search(_ text: String, in thread: ChatThread?, limit: Int) async -> [ChatMessage]
}
