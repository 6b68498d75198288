import ParleyGatewayPorts
import ParleyJSON

/// A node's position in the history of a room in which other nodes publish, too. The members at
/// this node have been sent all publications up to it.
struct RoomCursor {
  /// The position.
  var position: RoomPosition
  /// The time of the publication at the position; `nil` while it is unknown.
  var time: Timestamp?
  /// The number of the read of later publications that is under way.
  var reading: UInt64?
  /// The newest offset that other nodes have reported.
  var heard = 0
  /// Subscribers with later publications than the members; they join once the members have them.
  private(set) var waiting: [Waiting] = []

  /// A subscriber that waits until the members have been sent the same publications.
  struct Waiting {
    let work: RoomSubscribing
    let recovery: RoomRecovery
  }

  /// Whether the position is in the history of an epoch.
  func isIn(_ epoch: Epoch) -> Bool { position.epoch == epoch }

  /// Queues a waiting subscriber.
  mutating func add(_ waiting: Waiting) { self.waiting.append(waiting) }

  /// Removes and returns the waiting subscribers whose position was reached.
  mutating func takeArrived() -> [Waiting] {
    guard !waiting.isEmpty else { return [] }
    let arrived = waiting.filter { $0.recovery.head.offset <= position.offset }
    waiting.removeAll { $0.recovery.head.offset <= position.offset }
    return arrived
  }

  /// Removes and returns all waiting subscribers.
  mutating func takeAll() -> [Waiting] {
    defer { waiting = [] }
    return waiting
  }

  /// Advances to the next publication, which has been sent.
  mutating func advance(to publication: Publication) {
    position.offset = publication.offset
    time = publication.time
  }
}
