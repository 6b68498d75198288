public import ParleyGatewayPorts
public import SocketMessages

/// An operator's settings for the gateway.
public struct GatewaySettings: Sendable {
  /// Limits that are enforced and sent to clients.
  public var limits = Limits()
  /// Whether every client has all rights while there is no authenticator. Otherwise no client has
  /// any right without an authenticator.
  public var isDemo = true
  /// Whether API keys are accepted only at the address that api-listen names.
  public var acceptsKeysOnlyInternally = false
  /// Whether a URL may contain a token. Logs and histories record URLs.
  public var allowsTokenInURL = false
  /// Whether a Whaler client's `resourceConnection` creates a missing document.
  public var whalerCreatesDocuments = true
  /// Queued bytes above which a connection receives no changes until its queue has drained. It then
  /// continues from its position in the document's log.
  public var laggingBytes = 64 << 10
  /// Queued bytes above which a connection is closed with a code that says "resume". Only messages
  /// that are in no log, such as replies and room updates, can reach this limit.
  public var queuedBytesMax = 16 << 20
  /// Approximate bytes of one `changes` frame for a reader that is behind.
  public var catchUpBytes = 256 << 10
  /// Maximum revisions by which a reader may be behind and still receive changes, not the text.
  public var lagRevisionsMax = 10_000
  /// Maximum components of all changes since a change's base; beyond, the author must rebase the
  /// change.
  public var historyComponentsMax = 100_000
  /// Minimum entries of each document's log in memory; more for many followers.
  public var windowEntries = 1_000
  /// Whether other nodes use the same store, and publish and have users in the same rooms.
  public var sharesStore = false
  /// Milliseconds between reads of the heads of shared logs, while other nodes' hints arrive.
  public var headsMilliseconds: Int64 = 1_000
  /// Milliseconds between these reads while no hints can arrive.
  public var headsMillisecondsWithoutHints: Int64 = 100
  /// Milliseconds for which a document without readers stays in memory.
  public var idleDocumentMilliseconds: Int64 = 60_000
  /// Milliseconds within which a native client must send hello.
  public var helloMilliseconds: Int64 = 10_000
  /// Maximum changes that wait for one document while it is loaded.
  public var waitingMax = 1_000
  /// Maximum work on documents per turn of the loop; larger changes wait for the next turn. One
  /// unit is a byte of text; a component of a change counts as 16.
  public var turnWorkMax = 1 << 20
  /// Followers of a document for each millisecond between its commits, see ``BroadcastPacer``.
  public var followersPerMillisecond = 100
  /// Milliseconds after which a refused change may be retried.
  public var retryAfterMilliseconds = 1_000
  /// History limits of rooms that no rule matches.
  public var roomRetention: RoomRetention = .standard
  /// Rules for history limits, by the rooms' names; the first that matches applies.
  public var roomMemories: [RoomRetentionRule] = []
  /// Maximum signals of one connection per second; 0 means unlimited.
  public var signalsPerSecondMax = 60
  /// Limits of the values of a room.
  public var valueLimits = ValueLimits()
  /// Approximate bytes of one page of values.
  public var valuePageBytes = 256 << 10
  /// Maximum missed publications replayed at once to a subscriber that resumes.
  public var recoveryMax = 1_000
  /// Maximum bytes of the publications replayed at once.
  public var recoveryBytesMax = 4 << 20
  /// Approximate bytes of data in one page of a room's history.
  public var pageBytes = 1 << 20
  /// Default publications of one page.
  public var pageDefault = 20
  /// Milliseconds for which a publication's key is stored.
  public var keyMilliseconds: Int64 = 86_400_000
  /// Limits on each user's stored responses to requests with an `Idempotency-Key`.
  public var answers: AnswerRetention = .standard
  /// Milliseconds for which deleted notes can be restored; 0 removes them at once.
  public var deletedMilliseconds: Int64 = 30 * 86_400_000
  /// The bounds of the audit log.
  public var audit = AuditRule()
  /// The bounds of notices.
  public var notices = NoticeRule()
  /// Lifetime in milliseconds of tokens for users who sign in at this server.
  public var accessTokenMilliseconds: Int64 = 3_600_000
  /// Files of notes.
  public var files = FileSettings()
  /// Comments on notes.
  public var comments = CommentSettings()
  /// Names of published notes.
  public var names = NameSettings()
  /// Milliseconds for which a person stays present in a room after their connection broke.
  public var presenceGraceMilliseconds: Int64 = 5_000
  /// Maximum number of a document's people that are sent by name. In a document with more people,
  /// those who acted last are sent by name, with the total count.
  public var presenceListMax = 200
  /// Whether blocking also hides the blocker from the blocked person.
  public var blocksBothWays = false

  /// Milliseconds between updates of a connected person's last-online time.
  public var lastOnlineMilliseconds: Int64 = 30_000
  /// Whether followers are notified from the owner's outbox, see
  /// ``Gateway/notifications(of:epoch:in:then:)``. Otherwise the push handler is called at once,
  /// and a restart loses notifications.
  public var pushesFromOutbox = false

  /// Maximum requests that wait for the store, in total.
  public var storeRequestsMax = 100_000
  /// Maximum approximate bytes of the requests that wait for the store.
  public var storeBytesMax = 64 << 20
  /// Milliseconds that the oldest request may wait for the store before the server reports that it
  /// accepts no changes.
  public var storeStallMilliseconds: Int64 = 5_000

  /// Settings for the compatibility dialects.
  public var dialects = DialectSettings()

  /// The defaults.
  public init() {}

  /// Returns how many entries of a note's log stay in memory for a number of followers. Each
  /// follower has a change in flight, and with more followers its base is further back. Earlier
  /// entries are read from the store.
  func windowEntries(forFollowers count: Int) -> Int {
    max(windowEntries, windowEntries * count / Self.followersOfWindow)
  }

  /// Maximum followers for which ``windowEntries`` suffices.
  private static let followersOfWindow = 250
}
