public import GatewayPorts

/// Somebody has begun to type in a room, or ended.
public struct TypingChange: Sendable, Equatable {
  /// The room.
  public var room: RoomName
  /// Who.
  public var person: PersonID
  /// Whether they type now.
  public var isTyping: Bool

  /// Makes a change.
  public init(room: RoomName, person: PersonID, isTyping: Bool) {
    self.room = room
    self.person = person
    self.isTyping = isTyping
  }
}

/// Knows who types where. Times are milliseconds of uptime.
public protocol TypingHandler: AnyObject {
  /// Somebody types on a connection; what that changes for others.
  func begin(_ room: RoomName, _ person: PersonID, on connection: ConnectionID, now: Int64)
    -> TypingChange?
  /// They have stopped there.
  func end(_ room: RoomName, on connection: ConnectionID) -> TypingChange?
  /// The connection is gone.
  func disconnected(_ connection: ConnectionID) -> [TypingChange]
  /// What has ended by time.
  func expire(now: Int64) -> [TypingChange]
}

/// Typing that ends by itself unless it is renewed.
public final class TimedTyping: TypingHandler {
  private struct Typist {
    let room: ExactName
    let person: PersonID
    let connection: ConnectionID
    var end: Int64
  }

  private let milliseconds: Int64
  private var typists: [Typist] = []

  /// - Parameter milliseconds: until typing ends that is not renewed.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// See ``TypingHandler``.
  public func begin(
    _ room: RoomName, _ person: PersonID, on connection: ConnectionID, now: Int64
  ) -> TypingChange? {
    let name = ExactName(room)
    let wasTyping = isTyping(name, person)
    if let index = typists.firstIndex(where: { $0.room == name && $0.connection == connection }) {
      typists[index].end = now + milliseconds
    } else {
      typists.append(
        Typist(room: name, person: person, connection: connection, end: now + milliseconds))
    }
    return wasTyping ? nil : TypingChange(room: room, person: person, isTyping: true)
  }

  /// See ``TypingHandler``.
  public func end(_ room: RoomName, on connection: ConnectionID) -> TypingChange? {
    let name = ExactName(room)
    return remove { $0.room == name && $0.connection == connection }.first
  }

  /// See ``TypingHandler``.
  public func disconnected(_ connection: ConnectionID) -> [TypingChange] {
    remove { $0.connection == connection }
  }

  /// See ``TypingHandler``.
  public func expire(now: Int64) -> [TypingChange] {
    typists.isEmpty ? [] : remove { $0.end <= now }
  }

  private func isTyping(_ room: ExactName, _ person: PersonID) -> Bool {
    typists.contains { $0.room == room && $0.person.utf8.elementsEqual(person.utf8) }
  }

  private func remove(_ isGone: (Typist) -> Bool) -> [TypingChange] {
    let gone = typists.filter(isGone)
    guard !gone.isEmpty else { return [] }
    typists.removeAll(where: isGone)
    // Whoever types on another device too goes on typing.
    var changes: [TypingChange] = []
    for typist in gone where !isTyping(typist.room, typist.person) {
      let change = TypingChange(
        room: typist.room.text, person: typist.person, isTyping: false)
      if !changes.contains(change) { changes.append(change) }
    }
    return changes
  }
}
