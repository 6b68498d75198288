public import ParleyGatewayPorts

/// Records who is present in which room.
///
/// Times are milliseconds of uptime.
public protocol PresenceHandler: AnyObject {
  /// Adds a person's connection to a room. A second call changes the profile.
  func enter(_ room: RoomName, _ person: PersonProfile, by connection: ConnectionID)
  /// Removes a connection from a room. If it broke, the person stays present for a grace period.
  func leave(
    _ room: RoomName, _ person: PersonID, by connection: ConnectionID, isBroken: Bool, now: Int64)
  /// Returns all people in a room, unordered.
  func present(in room: RoomName) -> [PersonProfile]
  /// Returns the presence announced so far. New subscribers start from this state, so that later
  /// diffs apply to it.
  func announced(in room: RoomName) -> [PersonProfile]
  /// Returns whether a person is present in a room, and how many people are.
  func standing(of person: PersonID, in room: RoomName) -> (isPresent: Bool, count: Int)
  /// Returns the changes since the last call.
  func takeChanges(now: Int64) -> [PresenceChange]
}

/// Counts each person's connections to a room. A person with at least one connection is present.
///
/// After the last connection breaks, the person stays present for a grace period. Entering and
/// leaving between two calls for changes is not reported, so that floods cost others nothing.
public final class CountedPresence: PresenceHandler {
  private struct Entry {
    var profile: PersonProfile
    var connections: Set<ConnectionID> = []
    /// Uptime at which a person without a connection stops being present.
    var graceEnd: Int64?
  }

  private struct Gathering {
    var people: [PersonID: Entry] = [:]
    /// The profiles announced so far.
    var announced: [PersonID: PersonProfile] = [:]
    /// People whose presence may differ from the announced one.
    var touched: Set<PersonID> = []
  }

  private let graceMilliseconds: Int64
  private var rooms: [RoomName: Gathering] = [:]
  /// Rooms with unannounced changes.
  private var changed: Set<RoomName> = []
  /// Rooms with people in their grace period.
  private var waiting: Set<RoomName> = []

  /// - Parameter graceMilliseconds: How long a person stays present after their connection broke.
  public init(graceMilliseconds: Int64) { self.graceMilliseconds = graceMilliseconds }

  /// See ``PresenceHandler``.
  public func enter(_ room: RoomName, _ person: PersonProfile, by connection: ConnectionID) {
    var entry = rooms[room]?.people[person.personID] ?? Entry(profile: person)
    entry.profile = person
    entry.connections.insert(connection)
    entry.graceEnd = nil
    rooms[room, default: Gathering()].people[person.personID] = entry
    touch(person.personID, in: room)
  }

  /// See ``PresenceHandler``.
  public func leave(
    _ room: RoomName, _ person: PersonID, by connection: ConnectionID, isBroken: Bool, now: Int64
  ) {
    guard var entry = rooms[room]?.people[person],
      entry.connections.remove(connection) != nil
    else { return }
    if entry.connections.isEmpty, isBroken, graceMilliseconds > 0 {
      entry.graceEnd = now + graceMilliseconds
      waiting.insert(room)
      rooms[room]?.people[person] = entry
    } else {
      rooms[room]?.people[person] = entry.connections.isEmpty ? nil : entry
      touch(person, in: room)
    }
  }

  private func touch(_ person: PersonID, in room: RoomName) {
    rooms[room]?.touched.insert(person)
    changed.insert(room)
  }

  /// See ``PresenceHandler``.
  public func present(in room: RoomName) -> [PersonProfile] {
    rooms[room]?.people.values.map(\.profile) ?? []
  }

  /// See ``PresenceHandler``.
  public func announced(in room: RoomName) -> [PersonProfile] {
    rooms[room].map { Array($0.announced.values) } ?? []
  }

  /// See ``PresenceHandler``.
  public func standing(
    of person: PersonID, in room: RoomName
  ) -> (isPresent: Bool, count: Int) {
    guard let gathering = rooms[room] else { return (false, 0) }
    return (gathering.people[person] != nil, gathering.people.count)
  }

  /// See ``PresenceHandler``.
  public func takeChanges(now: Int64) -> [PresenceChange] {
    endGrace(now: now)
    guard !changed.isEmpty else { return [] }
    var changes: [PresenceChange] = []
    for room in changed {
      guard var gathering = rooms[room] else { continue }
      var change = PresenceChange(room: room)
      for id in gathering.touched {
        switch (gathering.people[id]?.profile, gathering.announced[id]) {
        case (let profile?, nil): change.joined.append(profile)
        case (let profile?, let announced?) where profile != announced:
          change.updated.append(profile)
        case (nil, .some): change.left.append(id)
        case (.some, .some), (nil, nil): break
        }
        gathering.announced[id] = gathering.people[id]?.profile
      }
      gathering.touched = []
      rooms[room] = gathering.people.isEmpty ? nil : gathering
      if !change.joined.isEmpty || !change.updated.isEmpty || !change.left.isEmpty {
        changes.append(change)
      }
    }
    changed = []
    return changes
  }

  private func endGrace(now: Int64) {
    for room in waiting {
      var isWaiting = false
      for (id, entry) in rooms[room]?.people ?? [:] {
        guard let end = entry.graceEnd else { continue }
        if end <= now {
          rooms[room]?.people[id] = nil
          touch(id, in: room)
        } else {
          isWaiting = true
        }
      }
      if !isWaiting { waiting.remove(room) }
    }
  }
}
