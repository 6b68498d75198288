import ParleyJSON
import ParleyClientCore
package import SocketMessages

/// A client of one room in a simulation: the released client, ``ClientMachine``. It subscribes with
/// presence and publishes with keys. It also records the publications that it received.
package struct SimulatedRoomClient {
  /// A publication that this client has received.
  package struct Sighting: Hashable, Sendable {
    package let epoch: Epoch
    package let offset: Int
    package let data: [UInt8]
  }

  package private(set) var sightings: [Sighting] = []
  /// Ranges of offsets that were reported as lost, inclusive.
  package private(set) var gaps: [ClosedRange<Int>] = []
  /// The keys of its publications that were acknowledged.
  package private(set) var published: Set<String> = []

  private var machine: ClientMachine
  private let name: String
  private let room: String
  private var keysMade = 0
  private var hasPosition = false
  private var outgoing: [[UInt8]] = []
  private var wantsConnection = false
  private var mistake: SimulatedClientError?
  /// The time at which the machine wants to be woken.
  package private(set) var wakeAt: Int64?
  /// Whether the client has closed the connection.
  package private(set) var hasHungUp = false

  package init(name: String, room: String) {
    self.name = name
    self.room = room
    machine = ClientMachine(settings: ClientSettings(name: name), seed: 1)
    handle(.room(room, .subscribe(isPresent: true, from: nil)), now: 0)
  }

  package var clientID: String? { machine.claim?.id }
  /// The position in the room; `nil` before the first subscription.
  package var position: RoomPosition? { machine.position(inRoom: room) }
  /// The people present, according to the received notifications.
  package var present: Set<String> { Set(machine.people(inRoom: room).map(\.personID.text)) }

  package var isSettled: Bool {
    guard let status = machine.status(ofRoom: room) else { return false }
    return status.phase == .live && status.waiting == 0
  }

  /// Handles an opened connection, and returns the first messages.
  package mutating func connected(now: Int64) throws -> [[UInt8]] {
    hasHungUp = false
    switch machine.state {
    case .stopped: handle(.start, now: now)
    default: handle(.reachable, now: now)
    }
    handle(.opened, now: now)
    return try finish()
  }

  /// Handles the end of the connection.
  package mutating func disconnected(now: Int64) {
    handle(.closed(code: 1006), now: now)
    hasHungUp = false
    outgoing = []
  }

  /// Publishes now, or on the next connection.
  package mutating func publish(now: Int64) throws -> [[UInt8]] {
    keysMade += 1
    let key = "\(name)-\(keysMade)"
    let data = JSONValue("\"\(key)\"".utf8) ?? .null
    handle(
      .room(room, .publish(.init(room: room, data: data, key: key), key: key)), now: now)
    return try finish()
  }

  /// Wakes the machine at the time it has asked for.
  package mutating func wake(now: Int64) throws -> [[UInt8]] {
    wakeAt = nil
    handle(.wake, now: now)
    return try finish()
  }

  /// Handles a message, and returns the messages to be sent.
  package mutating func receive(_ bytes: UnsafeRawBufferPointer, now: Int64) throws -> [[UInt8]] {
    handle(.received(Array(bytes)), now: now)
    return try finish()
  }

  private mutating func finish() throws -> [[UInt8]] {
    if let mistake { throw mistake }
    defer { outgoing = [] }
    return outgoing
  }

  private mutating func handle(_ event: ClientEvent, now: Int64) {
    for action in machine.handle(event, now: now) {
      switch action {
      case .send(let bytes): outgoing.append(bytes)
      case .wake(let at): wakeAt = at
      case .disconnect: hasHungUp = true
      case .room(_, let action): take(action)
      case .connect, .needToken, .claim, .line, .welcome, .tokenEnds, .refreshed, .resource, .note,
        .answer:
        break
      }
    }
  }

  private mutating func take(_ action: RoomAction) {
    switch action {
    case .publication(let publication, let epoch):
      sightings.append(
        Sighting(epoch: epoch, offset: publication.offset, data: publication.data.utf8))
    case .gap(let after, let through):
      if after.offset < through.offset { gaps.append(after.offset + 1...through.offset) }
    case .position(let head):
      if !hasPosition, head.offset > 0 { gaps.append(1...head.offset) }
      hasPosition = true
    case .published(let key, _, _): published.insert(key)
    case .publishFailed(let key, let code): mistake = .error("\(key): \(code)")
    case .publishUnsure(let key): mistake = .error("\(key): unsure")
    case .status(let status):
      switch status.phase {
      case .ended(let failure): mistake = .error("\(failure)")
      case .subscribing, .live, .away, .left: break
      }
    case .outOfStep: mistake = .outOfStep
    case .people, .receipt, .receipts, .flagged: break
    }
  }
}
