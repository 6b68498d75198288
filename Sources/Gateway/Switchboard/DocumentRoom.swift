import ParleyGatewayPorts
import OTCore
import SocketMessages

/// A document and its followers.
///
/// A reference, owned by the gateway and confined to its loop.
final class DocumentRoom {
  /// A reason for which all work on a loaded document waits.
  enum Pause: Equatable {
    case none
    /// Older entries are being read from the store, for waiting clients.
    case reading(StoreTicket)
    /// The document gets a new epoch. Accepted changes are committed and answered first, since all
    /// followers are sent the text afterwards. Next: `storingEpoch`.
    case settling
    /// The store saves the new epoch; nothing is appended meanwhile. Next: `none`.
    case storingEpoch
  }

  /// The hint to other nodes that a note has moved to another folder.
  static let moveHint = Array("moved".utf8)

  // MARK: Visible to followers

  let id: DocumentID
  /// The document; `nil` while it is being loaded from the store.
  var live: LiveDocument?
  /// The numbers for the document and its authors in messages.
  var numbers: DocumentNumbers
  /// The newest encoded texts, while clients join.
  var sharedTexts = SharedTexts()
  /// Followers in the order of joining.
  private(set) var subscriptions = GappedArray<Subscription?>()
  /// The people in the document, as shown to followers.
  var people: RoomPeople

  // MARK: Work, for `Documents` alone

  /// The work that waits for the document or for a turn.
  var waiting = WaitingQueue()
  /// The reads of the log, if several nodes share it.
  var log = LogReading()
  /// The accepted changes that are not durable yet.
  var changes = UncommittedChanges()
  /// The reason for which all work waits.
  private(set) var pause = Pause.none
  /// Followers that may no longer read, each with the revision of its pending change.
  var leaving: [(subscription: Subscription, own: Int)] = []
  /// Whether the changes go to the store at the end of a turn; ``CommitQueue`` sets it.
  var awaitsCommit = false
  /// Whether changes were delivered in this turn; ``CommitQueue`` sets it.
  var hasDelivered = false
  /// The uptime since which the document has had neither followers nor requests.
  private var idleSince: Int64?
  private let idleMilliseconds: Int64

  init(
    id: DocumentID, numbers: DocumentNumbers, presenceListMax: Int, idleMilliseconds: Int64,
    now: Int64
  ) {
    self.id = id
    self.numbers = numbers
    people = RoomPeople(limit: presenceListMax)
    idleSince = now
    self.idleMilliseconds = idleMilliseconds
  }

  // MARK: States

  /// Whether new work has to wait, for the store or for another turn.
  var isBusy: Bool { live == nil || pause != .none || waiting.isResting }

  /// Whether every accepted change is durable and answered.
  var isSettled: Bool {
    (live?.isSettled ?? true) && log.isIdle && (live == nil || !isBusy || !waiting.hasChanges)
  }

  /// Whether a commit may begin, unless another one is under way.
  var mayCommit: Bool { pause != .storingEpoch && log.read == nil && !log.isUnsettled }

  /// The number of waiting requests, bounded by `GatewaySettings.waitingMax`.
  var waitingCount: Int { waiting.all.count + log.askingCount }

  /// Pauses all work.
  ///
  /// - Precondition: The document is in memory and not paused, or `next` follows the current pause.
  func pause(for next: Pause) {
    switch (pause, next) {
    case (.none, .reading), (.none, .settling), (.settling, .storingEpoch): pause = next
    case (.none, _), (.reading, _), (.settling, _), (.storingEpoch, _):
      preconditionFailure("\(next) does not follow \(pause)")
    }
  }

  /// Ends a pause, if it is the current one.
  ///
  /// - Returns: Whether the pause was the current one.
  func endPause(_ ended: Pause) -> Bool {
    guard pause == ended else { return false }
    pause = .none
    return true
  }

  // MARK: Followers

  func add(_ subscription: Subscription) {
    subscription.followerIndex = subscriptions.append(subscription)
    idleSince = nil
  }

  /// - Complexity: Amortized O(1).
  func remove(_ subscription: Subscription, now: Int64) {
    guard let index = subscription.followerIndex else { return }
    subscription.followerIndex = nil
    if subscriptions.remove(at: index) {
      for (index, other) in subscriptions.slots.enumerated() { other?.followerIndex = index }
    }
    if subscriptions.isEmpty { idleSince = now }
  }

  /// Records a request by a client that does not follow the document.
  func use(now: Int64) {
    if subscriptions.isEmpty { idleSince = now }
  }

  /// Whether the document may be removed from memory: it is durable, unused and idle.
  func isForgettable(now: Int64) -> Bool {
    guard subscriptions.isEmpty, waitingCount == 0, log.read == nil, let idleSince else {
      return false
    }
    return now - idleSince >= idleMilliseconds && live?.isSettled ?? false
  }
}
