import ParleyGatewayPorts
import OTCore
import SocketMessages

/// A document and its followers.
///
/// A reference, owned by the gateway and confined to its loop.
final class DocumentRoom {
  /// Something for which all work on the document waits, once it is in memory.
  enum Pause: Equatable {
    case none
    /// Older entries are being read from the store, for waiting clients.
    case reading(StoreTicket)
    /// The document gets another epoch. Accepted changes are committed and answered first, since every follower
    /// is sent the text afterwards. Next: `storingEpoch`.
    case settling
    /// The store is being given the epoch: nothing is appended meanwhile. Next: `none`.
    case storingEpoch
  }

  /// The hint to other nodes that a note is in another folder.
  static let moveHint = Array("moved".utf8)

  // MARK: What followers see

  let id: DocumentID
  /// The document; `nil` while it is being read from the store.
  var live: LiveDocument?
  /// The numbers of the document and its authors in messages.
  var numbers: DocumentNumbers
  /// The newest text, while people come.
  var sharedText: SharedText?
  /// Followers in the order in which they came.
  private(set) var subscriptions = GappedArray<Subscription?>()
  /// The people who are here, as followers know them.
  var people: RoomPeople

  // MARK: Work on it, for the documents' part alone

  /// The work that waits for the document or for a turn.
  var waiting = WaitingQueue()
  /// The reads of its log, where several nodes share it.
  var log = LogReading()
  /// The changes that are not durable yet.
  var changes = UncommittedChanges()
  /// The reason why all work on it waits.
  private(set) var pause = Pause.none
  /// Followers who may no longer read, each with the revision of its own change that is being committed.
  var leaving: [(subscription: Subscription, own: Int)] = []
  /// Whether its changes go to the store with the end of a turn; ``CommitQueue`` sets it.
  var awaitsCommit = false
  /// Whether changes of it were delivered in this turn; ``CommitQueue`` sets it.
  var hasDelivered = false
  /// Uptime since which it has had no followers and was not asked for.
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

  /// Whether newcomers have to wait, for the store or for another turn.
  var isBusy: Bool { live == nil || pause != .none || waiting.isResting }

  /// Whether every change that was taken has been written and answered.
  var isSettled: Bool {
    (live?.isSettled ?? true) && log.isIdle && (live == nil || !isBusy || !waiting.hasChanges)
  }

  /// Whether nothing prevents a commit but another one.
  var mayCommit: Bool { pause != .storingEpoch && log.read == nil && !log.isUnsettled }

  /// The number of waiting requests, bounded by `GatewaySettings.waitingMax`.
  var waitingCount: Int { waiting.all.count + log.askingCount }

  /// Has all work wait.
  ///
  /// - Precondition: the document is in memory and not paused, or the next step of its pause follows.
  func pause(for next: Pause) {
    switch (pause, next) {
    case (.none, .reading), (.none, .settling), (.settling, .storingEpoch): pause = next
    case (.none, _), (.reading, _), (.settling, _), (.storingEpoch, _):
      preconditionFailure("\(next) does not follow \(pause)")
    }
  }

  /// Ends a pause, if it is this one.
  ///
  /// - Returns: Whether it was.
  func endPause(_ ended: Pause) -> Bool {
    guard pause == ended else { return false }
    pause = .none
    return true
  }

  // MARK: Followers

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
    guard subscriptions.isEmpty, waitingCount == 0, log.read == nil, let idleSince else {
      return false
    }
    return now - idleSince >= idleMilliseconds && live?.isSettled ?? false
  }
}
