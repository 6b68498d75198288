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
  /// The newest offset that the store has confirmed to this node. A later read that ends before it
  /// shows that the store has lost publications, whether or not the members had them.
  private(set) var confirmed = 0
  /// Subscribers and readers with later state than the members; they are answered once the members
  /// have been sent the same publications.
  private(set) var waiting: [Waiting] = []

  /// State that was read at a later position than the members'.
  enum Waiting {
    case subscriber(RoomSubscribing, RoomRecovery)
    case reader(ValueReading, RoomValuesPage)

    /// The position at which the state was read.
    var head: RoomPosition {
      switch self {
      case .subscriber(_, let recovery): recovery.head
      case .reader(_, let page): page.head
      }
    }

    /// Whether it is a page for a connection.
    func isReader(_ id: ConnectionID) -> Bool {
      guard case .reader(let work, _) = self else { return false }
      return work.connection == id
    }
  }

  /// Whether the position is in the history of an epoch.
  func isIn(_ epoch: Epoch) -> Bool { position.epoch == epoch }

  /// Notes that the store has a publication at an offset of this epoch.
  mutating func confirm(_ offset: Int) { confirmed = max(confirmed, offset) }

  /// Whether the members have what was just read up to a position, and the store has nothing else.
  func isAt(_ head: RoomPosition) -> Bool {
    position.offset == head.offset && confirmed <= head.offset
  }

  /// Queues a waiting subscriber or reader.
  mutating func add(_ waiting: Waiting) {
    confirm(waiting.head.offset)
    self.waiting.append(waiting)
  }

  /// Whether a page of values waits for a connection.
  func hasReader(_ id: ConnectionID) -> Bool { waiting.contains { $0.isReader(id) } }

  /// Removes and returns what waits for the page of a connection that has left the room.
  mutating func takeReader(_ id: ConnectionID) -> Waiting? {
    waiting.firstIndex { $0.isReader(id) }.map { waiting.remove(at: $0) }
  }

  /// Removes and returns the waiting subscribers and readers whose position was reached.
  mutating func takeArrived() -> [Waiting] {
    guard !waiting.isEmpty else { return [] }
    let arrived = waiting.filter { $0.head.offset <= position.offset }
    waiting.removeAll { $0.head.offset <= position.offset }
    return arrived
  }

  /// Removes and returns all waiting subscribers and readers.
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
