public import ParleyGatewayPorts
public import SocketMessages

/// An operator's settings for the gateway.
public struct GatewaySettings: Sendable {
  /// Limits that are announced to clients and enforced.
  public var limits = Limits()
  /// Whether every client may do everything as long as no token can be checked. Without it, and without an
  /// authenticator, no client may do anything.
  public var isDemo = true
  /// Whether API keys count at the back entrance alone.
  public var takesKeysAtBackAlone = false
  /// Whether a URL may contain a token, although logs and histories keep URLs.
  public var allowsTokenInURL = false
  /// Whether a Whaler client's `resourceConnection` creates a missing document.
  public var whalerCreatesDocuments = true
  /// Queued bytes beyond which a connection gets no further changes until it has drained; it then
  /// continues from its place in the document's log.
  public var laggingBytes = 64 << 10
  /// Queued bytes beyond which a connection is closed with a code that says "resume". Only messages that
  /// cannot wait in a log reach it, such as replies and room updates.
  public var queuedBytesMax = 16 << 20
  /// Approximate bytes of one `changes` frame for a reader that catches up.
  public var catchUpBytes = 256 << 10
  /// Revisions that a reader may be behind before it gets the text instead of the changes.
  public var lagRevisionsMax = 10_000
  /// Components that the changes since a change's base may have together; beyond, its author must
  /// rebase it.
  public var historyComponentsMax = 100_000
  /// Entries of each document's log kept in memory, at least; more for a crowd.
  public var windowEntries = 1_000
  /// Whether other nodes publish in the same rooms, and have people in them.
  public var sharesStore = false
  /// Milliseconds between looks at the heads of logs that several nodes share, while their hints arrive.
  public var headsMilliseconds: Int64 = 1_000
  /// The same, while no hints can arrive.
  public var headsMillisecondsWithoutHints: Int64 = 100
  /// Milliseconds that a document without readers stays in memory.
  public var idleDocumentMilliseconds: Int64 = 60_000
  /// Milliseconds within which a native client must say hello.
  public var helloMilliseconds: Int64 = 10_000
  /// Changes that may wait for a document that is being loaded, for each document.
  public var waitingMax = 1_000
  /// Work on documents that one turn of the loop may do before larger changes wait for the next: bytes of
  /// text, and for each component of a change as much as for sixteen.
  public var turnWorkMax = 1 << 20
  /// The followers of a document per millisecond between its commits, see ``BroadcastPacer``.
  public var followersPerMillisecond = 100
  /// Milliseconds after which a refused change may be tried again.
  public var retryAfterMilliseconds = 1_000
  /// The history limits of a room without a rule of its own.
  public var roomMemory: RoomMemory = .standard
  /// Rules for rooms by their names; the first that matches a room applies.
  public var roomMemories: [RoomMemoryRule] = []
  /// Maximum number of missed publications replayed at once to a subscriber that resumes.
  public var recoveryMax = 1_000
  /// Maximum bytes of such publications.
  public var recoveryBytesMax = 4 << 20
  /// Approximate bytes of data in one page of a room's history.
  public var pageBytes = 1 << 20
  /// Publications of one page unless another number is asked for.
  public var pageDefault = 20
  /// Milliseconds for which a publication's key is remembered.
  public var keyMilliseconds: Int64 = 86_400_000
  /// Answers that are kept to requests with an `Idempotency-Key`, of each user.
  public var answers: AnswerMemory = .standard
  /// Milliseconds that deleted notes are kept, and may be restored; 0 removes them at once.
  public var deletedMilliseconds: Int64 = 30 * 86_400_000
  /// Milliseconds that tokens of users who sign in with this server last.
  public var accessTokenMilliseconds: Int64 = 3_600_000
  /// Files of notes.
  public var files = FileSettings()
  /// Comments on notes.
  public var comments = CommentSettings()
  /// Names of published notes.
  public var names = NameSettings()
  /// Milliseconds for which a person is shown in a room after their connection broke.
  public var presenceGraceMilliseconds: Int64 = 5_000
  /// People of a document who are all named; of more, a count is sent, and the names of so many who acted
  /// last.
  public var presenceListMax = 200
  /// Whether the blocker is hidden from the blocked as well.
  public var blocksBothWays = false

  /// Milliseconds after which it is noted again that a person is still connected.
  public var lastOnlineMilliseconds: Int64 = 30_000
  /// Whether the owner has an outbox from which followers are notified, see
  /// ``Gateway/notifications(of:epoch:in:then:)``; otherwise the push handler is called at once, and
  /// notifications do not survive a restart.
  public var pushesFromOutbox = false

  /// Changes, publications and other requests that may wait for the store, over all.
  public var storeRequestsMax = 100_000
  /// Their approximate bytes.
  public var storeBytesMax = 64 << 20
  /// Milliseconds that the oldest request may wait for the store before the server reports that it takes no
  /// changes.
  public var storeStallMilliseconds: Int64 = 5_000

  /// Settings for the dialects of other families.
  public var dialects = DialectSettings()

  /// The defaults.
  public init() {}

  /// Returns how many entries of a note's log are kept for a number of followers: more for a crowd. Each
  /// follower has a change under way, which is based further back the more followers there are. Earlier
  /// entries are read from the store.
  func windowEntries(forFollowers count: Int) -> Int {
    max(windowEntries, windowEntries * count / Self.followersOfWindow)
  }

  /// The number of followers up to which ``windowEntries`` suffice.
  private static let followersOfWindow = 250
}
