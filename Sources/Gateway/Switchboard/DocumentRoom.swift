import GatewayPorts
import OTCore
import SocketMessages

/// A document and its followers.
///
/// A reference, owned by the gateway and confined to its loop.
final class DocumentRoom {
  /// Work that waits until the document, or older entries of it, have been read from the store.
  enum Waiting {
    case join(ConnectionID, messageID: String, DocumentJoining)
    case page(ConnectionID, messageID: String, HistoryPageRequest)
    case change(ConnectionID, messageID: String, LiveDocument.Submission)
    case edit(ServerEdit)
    case version(VersionNaming)
  }

  /// An edit by no follower: it came over HTTP, or its author's connection has ended.
  struct ServerEdit {
    enum Content {
      /// The whole text, made from a former one, or else from the newest.
      case text(String, base: HistoricText? = nil)
      /// A change of the text at a revision, rebased over later entries.
      case change(TextOperation, revision: Int)

      /// The revision that it was made from; `nil` for the newest.
      var revision: Int? {
        switch self {
        case .text(_, let base): base?.revision
        case .change(_, let revision): revision
        }
      }
    }

    enum Grant {
      /// The rights that the author has when the edit is made.
      case bearer(Identity)
      /// The right of the request.
      case request(StoreRight)
    }

    /// The request to be answered; `nil` without one.
    var request: RequestID?
    /// The rights by which it is made.
    var grant: Grant
    var content: Content
    var author: String
    /// The revision that the head must have; any if `nil`.
    var expected: Int?
    /// Whether it makes no revision if it changes nothing.
    var skipsIdentity = false
    /// Whether the log was read since it came, where several nodes share it.
    var isFresh = false
  }

  /// A read of a log that several nodes share.
  struct LogRead {
    var ticket: StoreTicket
    /// Work that continues with its reply.
    var asking: [Waiting]
    /// The sessions that began before it.
    var sessions: [String: Int] = [:]
  }

  /// An edit over HTTP that waits for its commit.
  struct PendingEdit {
    var request: RequestID
    /// The revision that the head must have had; any if `nil`.
    var expected: Int?
  }

  /// The steps by which a document changes its epoch.
  enum Renewal {
    /// It keeps its own.
    case none
    /// Accepted changes are committed and answered first, since every follower is sent the text
    /// afterwards.
    case settling
    /// The store is being given the epoch: nothing is appended meanwhile.
    case storing
  }

  /// The hint to other nodes that a note is in another folder.
  static let moveHint = Array("moved".utf8)

  let id: DocumentID
  /// The document; `nil` while it is being read from the store.
  var live: LiveDocument?
  /// The numbers of the document and its authors in messages.
  var numbers: DocumentNumbers
  /// The newest text, while people come.
  var sharedText: SharedText?
  /// Followers in the order in which they came.
  private(set) var subscriptions = GappedArray<Subscription?>()
  /// Followers who may no longer read, each with the revision of its own change that is being committed.
  var leaving: [(subscription: Subscription, own: Int)] = []
  /// The people who are here, as followers know them.
  var presence: DocumentPresence
  /// The people that other nodes have here; `nil` without followers at this node, or without other nodes.
  var elsewhere: PeopleElsewhere?
  /// The people who are named, with their carets, as a newcomer receives them.
  var named: EncodedParticipants?
  /// Whether followers learn with the end of the turn who has come, acted or gone.
  var isGathering = false
  /// Whether followers learn with the next tick how many are here.
  var isCounting = false
  /// Bounded by `GatewaySettings.waitingMax`.
  private(set) var waiting: [Waiting] = []
  /// The approximate bytes of waiting work.
  private(set) var waitingBytes = 0
  /// Work that needs to know the newest entries of a shared log: it waits for a read that begins later.
  var asking: [Waiting] = []
  /// The read of a shared log that is under way: nothing is handed to the store meanwhile.
  var logRead: LogRead?
  /// The newest revision of a shared log by hints; 0 without a hint since it was read.
  var heardRevision = 0
  /// Whether the outcome of the last commit is unknown, before the log is read.
  var isUnsettled = false
  /// Reads of the log that have failed since then.
  var failedReads = 0
  /// The sum in which waiting bytes count while waiting work continues in another turn; ``TurnWork`` sets
  /// it.
  private var restingSum: TurnWork.Sum?
  /// The commit that is under way.
  var commitTicket: StoreTicket?
  /// The edits over HTTP whose answers are kept in that commit, in their order there.
  var keptRequests: [RequestID] = []
  /// The read of older entries that is under way for waiting clients.
  var historyRead: StoreTicket?
  /// The document's progress towards another epoch.
  var renewal = Renewal.none
  /// The arrival times of changes that are not durable yet, in microseconds, oldest first.
  var arrivals: [Int64] = []
  /// The approximate bytes of each change that is not durable yet, oldest first.
  var weights: [Int] = []
  /// Whether its changes go to the store with the end of a turn.
  var awaitsCommit = false
  /// The pace of its commits.
  var pace = RoundPace()
  /// Whether changes of it were delivered in this turn.
  var hasDelivered = false
  /// Edits over HTTP that are answered when they are durable, by their revisions.
  var pendingEdits: [Int: PendingEdit] = [:]
  /// Uptime since which it has had no followers and was not asked for.
  private var idleSince: Int64?
  private let idleMilliseconds: Int64

  init(
    id: DocumentID, numbers: DocumentNumbers, presenceListMax: Int, idleMilliseconds: Int64,
    now: Int64
  ) {
    self.id = id
    self.numbers = numbers
    presence = DocumentPresence(limit: presenceListMax)
    idleSince = now
    self.idleMilliseconds = idleMilliseconds
  }

  /// Whether newcomers have to wait, for the store or for another turn.
  var isBusy: Bool { live == nil || historyRead != nil || renewal != .none || isResting }

  /// Whether every change that was taken has been written and answered.
  var isSettled: Bool {
    (live?.isSettled ?? true) && asking.isEmpty && logRead == nil
      && (live == nil || !isBusy || !hasWaitingChanges)
  }

  /// Whether nothing prevents a commit but another one.
  var mayCommit: Bool { renewal != .storing && logRead == nil && !isUnsettled }

  /// Whether waiting work continues in another turn.
  var isResting: Bool { restingSum != nil }

  /// Defers all that waits, and all that comes, to another turn.
  func rest(countedIn sum: TurnWork.Sum) {
    sum.bytes += waitingBytes
    restingSum = sum
  }

  /// Ends the deferral.
  func endRest() {
    restingSum?.bytes -= waitingBytes
    restingSum = nil
  }

  /// Has work wait behind all that waits.
  func wait(_ work: Waiting) {
    let bytes = work.byteCount
    waiting.append(work)
    waitingBytes += bytes
    restingSum?.bytes += bytes
  }

  /// Turns the waiting changes of a connection that leaves into edits, if its client cannot send them
  /// again: all of them had arrived.
  ///
  /// - Complexity: O(*n*) waiting.
  func adoptChanges(of connection: Connection) {
    for (index, work) in waiting.enumerated() {
      // It counts as many bytes as before.
      if let edit = work.edit(insteadOf: connection) { waiting[index] = .edit(edit) }
    }
  }

  /// Removes and returns all that waits.
  func takeWaiting() -> [Waiting] {
    defer {
      restingSum?.bytes -= waitingBytes
      waiting = []
      waitingBytes = 0
    }
    return waiting
  }

  func add(_ subscription: Subscription) {
    subscription.place = subscriptions.append(subscription)
    idleSince = nil
  }

  /// - Complexity: O(1) over many calls.
  func remove(_ subscription: Subscription, now: Int64) {
    guard let place = subscription.place else { return }
    subscription.place = nil
    if subscriptions.remove(at: place) {
      for (place, other) in subscriptions.slots.enumerated() { other?.place = place }
    }
    if subscriptions.isEmpty { idleSince = now }
  }

  /// Notes that a client has asked for the document that does not follow it.
  func use(now: Int64) {
    if subscriptions.isEmpty { idleSince = now }
  }

  /// Whether nothing would be lost if it were removed from memory.
  func isForgettable(now: Int64) -> Bool {
    guard subscriptions.isEmpty, waitingCount == 0, logRead == nil, let idleSince else {
      return false
    }
    return now - idleSince >= idleMilliseconds && live?.isSettled ?? false
  }
}
