import ParleyGatewayPorts

/// A node's place in the history of a room in which other nodes publish, too: its members have been sent
/// everything up to here.
struct RoomCursor {
  /// The place.
  var position: RoomPosition
  /// The time of the publication there; `nil` while it is not known.
  var time: Timestamp?
  /// The number of the read under way of what comes after the place.
  var reading: UInt64?
  /// The newest offset that was reported by others.
  var heard = 0
  /// Subscribers that were sent what they missed up to a place further on, and become members there.
  private(set) var waiting: [Waiting] = []

  /// A subscriber that waits until the members have been sent as much as it has.
  struct Waiting {
    let work: RoomSubscribing
    let recovery: RoomRecovery
  }

  /// Whether it is in the history of an epoch.
  func isIn(_ epoch: String) -> Bool { position.epoch.utf8.elementsEqual(epoch.utf8) }

  /// Queues a subscriber.
  mutating func add(_ waiting: Waiting) { self.waiting.append(waiting) }

  /// Removes and returns the subscribers that waited for this place.
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

  /// Moves on to the next publication, which has been sent.
  mutating func advance(to publication: Publication) {
    position.offset = publication.offset
    time = publication.time
  }
}
