package import ParleyJSON
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
  /// The keys of its publications that were refused because of their conditions.
  package private(set) var refused: Set<String> = []
  /// The offset that each of its conditional changes required, by key.
  package private(set) var conditions: [String: Int] = [:]
  /// The position that each of its publications on the head required, by key.
  package private(set) var heads: [String: RoomPosition] = [:]
  /// The keys of all its publications.
  package private(set) var keys: Set<String> = []
  /// The offsets of accepted changes that bind a value to its connections, not taken yet.
  private var heldOffsets: [Int] = []
  /// The values of the room as the app sees them; `nil` if it does not follow them.
  package private(set) var values: [ValueName: JSONValue]?
  /// The name whose changes are conditional.
  package static let turn: ValueName = "turn"
  /// The offset at which the client has seen the last change of ``turn``.
  private var turnOffset = 0

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

  package init(name: String, room: String, followsValues: Bool = false) {
    self.name = name
    self.room = room
    machine = ClientMachine(settings: ClientSettings(name: name), seed: 1)
    if followsValues {
      values = [:]
      handle(.room(room, .followValues), now: 0)
    }
    handle(.room(room, .subscribe(isPresent: true, from: nil)), now: 0)
  }

  package var clientID: String? { machine.claim?.id }
  /// The position in the room; `nil` before the first subscription.
  package var position: RoomPosition? { machine.position(inRoom: room) }
  /// The people present, according to the received notifications.
  package var present: Set<String> { Set(machine.people(inRoom: room).map(\.personID.text)) }

  package var isSettled: Bool {
    guard let status = machine.status(ofRoom: room) else { return false }
    return status.phase == .live && status.waiting == 0 && machine.hasAllValues(ofRoom: room)
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
    keys.insert(key)
    let data = JSONValue("\"\(key)\"".utf8) ?? .null
    var publication = ClientMessage.Publish(room: room, data: data, key: key)
    publication.values = change(keysMade)
    // Some publications only change values.
    if publication.values != nil, keysMade.isMultiple(of: 3) { publication.data = nil }
    if keysMade % 8 == 4 {
      conditions[key] = turnOffset
      publication.ifOffsets = ValueOffsets([Self.turn: turnOffset])
    }
    if keysMade % 8 == 7, let position {
      heads[key] = position
      publication.ifPosition = position
    }
    handle(.room(room, .publish(publication, key: key)), now: now)
    return try finish()
  }

  /// Returns the change of values in this client's publication of a number; `nil` for none.
  private func change(_ number: Int) -> ValueOperationList? {
    switch number % 8 {
    case 0: number % 16 == 0 ? nil : ValueOperationList([ValueOperation(bound, .delete)])
    case 1: ValueOperationList([ValueOperation("count", .add(1))])
    case 2:
      ValueOperationList([
        ValueOperation("card", .merge([name: JSONValue(number)])),
        ValueOperation(ValueName("of-\(name)"), .set(JSONValue(number))),
      ])
    case 3:
      ValueOperationList([
        ValueOperation(ValueName("of-\(name)"), .delete), ValueOperation("count", .add(1)),
      ])
    // If the condition does not hold, nothing is added either.
    case 4:
      ValueOperationList([
        ValueOperation("count", .add(1)), ValueOperation(Self.turn, .set(JSONValue(name))),
      ])
    case 5:
      ValueOperationList([
        ValueOperation(
          "lease", .set(JSONValue(name)),
          lifetime: number % 16 == 5 ? .seconds(1 + number % 3) : .unlimited)
      ])
    case 6:
      ValueOperationList([ValueOperation(bound, .set(JSONValue(number)), lifetime: .connection)])
    default: ValueOperationList([ValueOperation("head", .merge([name: JSONValue(number)]))])
    }
  }

  /// The name of the value that is bound to this client's connections.
  private var bound: ValueName { ValueName("seat-\(name)") }

  /// Removes and returns the offsets of accepted changes that bind a value to its connections.
  package mutating func takeHeld() -> [Int] {
    defer { heldOffsets = [] }
    return heldOffsets
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
      let operations = publication.values.flatMap(ValueOperation.list) ?? []
      if operations.contains(where: { $0.name == Self.turn }) { turnOffset = publication.offset }
      sightings.append(
        Sighting(epoch: epoch, offset: publication.offset, data: publication.data?.utf8 ?? []))
    case .gap(let after, let through):
      if after.offset < through.offset { gaps.append(after.offset + 1...through.offset) }
    case .position(let head):
      if !hasPosition, head.offset > 0 { gaps.append(1...head.offset) }
      hasPosition = true
    case .published(let key, let position, _):
      published.insert(key)
      if Int(key.dropFirst(name.utf8.count + 1)).map({ $0 % 8 == 6 }) ?? false {
        heldOffsets.append(position.offset)
      }
    case .publishFailed(let key, .conflict) where conditions[key] != nil: refused.insert(key)
    case .publishFailed(let key, .outdated) where heads[key] != nil: refused.insert(key)
    case .publishFailed(let key, let code): mistake = .error("\(key): \(code)")
    case .publishUnsure(let key): mistake = .error("\(key): unsure")
    case .status(let status):
      switch status.phase {
      case .ended(let failure): mistake = .error("\(failure)")
      case .subscribing, .live, .away, .left: break
      }
    case .outOfStep: mistake = .outOfStep
    case .values(let update):
      for (name, value) in update.changed { values?[name] = value }
    case .people, .receipt, .receipts, .flagged, .conflict, .signal, .keepChanges: break
    }
  }
}
