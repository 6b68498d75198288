public import ParleyGatewayPorts

/// A typing change: a person has begun to type in a room, or has stopped.
public struct TypingChange: Sendable, Equatable {
  /// The room.
  public var room: RoomName
  /// The person's id.
  public var person: PersonID
  /// Whether the person is typing now.
  public var isTyping: Bool

  /// Creates a change.
  public init(room: RoomName, person: PersonID, isTyping: Bool) {
    self.room = room
    self.person = person
    self.isTyping = isTyping
  }
}

/// A registry of the people who type in rooms. Times are milliseconds of uptime.
public protocol TypingHandler: AnyObject {
  /// Records that a person types on a connection; returns the change, `nil` if missing.
  func begin(_ room: RoomName, _ person: PersonID, on connection: ConnectionID, now: Int64)
    -> TypingChange?
  /// Records that the person on a connection has stopped; returns the change.
  func end(_ room: RoomName, on connection: ConnectionID) -> TypingChange?
  /// Ends all typing on a closed connection, and returns the changes.
  func disconnected(_ connection: ConnectionID) -> [TypingChange]
  /// Ends typing that has expired, and returns the changes.
  func expire(now: Int64) -> [TypingChange]
}

/// A registry in which typing expires unless it is renewed.
///
/// The time to begin and to end does not depend on the number of people who type.
public final class TimedTyping: TypingHandler {
  /// A connection and a room, for which there is at most one typist.
  private struct Key: Hashable {
    let room: RoomName
    let connection: ConnectionID
  }

  /// A person who types in a room, on any number of connections.
  private struct Presence: Hashable {
    let room: RoomName
    let person: PersonID
  }

  private struct Typist {
    let presence: Presence
    /// The position in the order of beginning, in which changes are returned.
    let number: Int
    var end: Int64
  }

  private let milliseconds: Int64
  private var typists: [Key: Typist] = [:]
  private var rooms: [ConnectionID: Set<RoomName>] = [:]
  private var connectionCounts: [Presence: Int] = [:]
  private var nextNumber = 0

  /// - Parameter milliseconds: The time after which typing ends unless it is renewed.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// See ``TypingHandler``.
  public func begin(
    _ room: RoomName, _ person: PersonID, on connection: ConnectionID, now: Int64
  ) -> TypingChange? {
    let key = Key(room: room, connection: connection)
    let presence = Presence(room: key.room, person: person)
    let wasTyping = connectionCounts[presence] != nil
    if typists[key] != nil {
      typists[key]?.end = now + milliseconds
    } else {
      typists[key] = Typist(presence: presence, number: nextNumber, end: now + milliseconds)
      nextNumber += 1
      rooms[connection, default: []].insert(key.room)
      connectionCounts[presence, default: 0] += 1
    }
    return wasTyping ? nil : TypingChange(room: room, person: person, isTyping: true)
  }

  /// See ``TypingHandler``.
  public func end(_ room: RoomName, on connection: ConnectionID) -> TypingChange? {
    remove([Key(room: room, connection: connection)]).first
  }

  /// See ``TypingHandler``.
  public func disconnected(_ connection: ConnectionID) -> [TypingChange] {
    remove((rooms[connection] ?? []).map { Key(room: $0, connection: connection) })
  }

  /// See ``TypingHandler``.
  ///
  /// - Complexity: O(*n*) connections on which people type.
  public func expire(now: Int64) -> [TypingChange] {
    typists.isEmpty ? [] : remove(typists.filter { $0.value.end <= now }.map(\.key))
  }

  private func remove(_ keys: [Key]) -> [TypingChange] {
    var gone: [Typist] = []
    for key in keys {
      guard let typist = typists.removeValue(forKey: key) else { continue }
      gone.append(typist)
      rooms[key.connection]?.remove(key.room)
      if rooms[key.connection]?.isEmpty ?? false { rooms[key.connection] = nil }
      connectionCounts[typist.presence, default: 0] -= 1
    }
    gone.sort { $0.number < $1.number }
    // A person who also types on another connection is still typing.
    var changes: [TypingChange] = []
    for typist in gone where connectionCounts[typist.presence] == 0 {
      connectionCounts[typist.presence] = nil
      changes.append(
        TypingChange(
          room: typist.presence.room, person: typist.presence.person, isTyping: false))
    }
    return changes
  }
}
