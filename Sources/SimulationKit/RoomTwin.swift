import JSON
package import SocketMessages

/// A client of one room: subscribes with presence, publishes under keys until it is answered, and
/// comes back where it was.
package struct RoomTwin {
  /// A publication as this client was shown it.
  package struct Sighting: Hashable, Sendable {
    package let epoch: String
    package let offset: Int
    package let data: [UInt8]
  }

  /// What must not be.
  package enum Mistake: Error {
    case outOfOrder(expected: Int, found: Int)
    case brokenRecovery
  }

  package private(set) var clientID: String?
  /// Where it is in the room; `nil` before the first subscription.
  package private(set) var position: RoomPoint?
  package private(set) var sightings: [Sighting] = []
  /// Offsets that it was told it would not be given: after the first, through the second.
  package private(set) var gaps: [ClosedRange<Int>] = []
  /// Keys of its publications that were answered.
  package private(set) var published: Set<String> = []
  /// Who is there, as far as it was told.
  package private(set) var present: Set<String> = []
  package private(set) var isSubscribed = false

  private let name: String
  private let room: String
  private var resumeToken: String?
  private var messagesSent = 0
  /// Keys that wait for an answer.
  private var outstanding: [String] = []
  private var keysMade = 0

  package init(name: String, room: String) {
    self.name = name
    self.room = room
  }

  package var isSettled: Bool { isSubscribed && outstanding.isEmpty }

  /// A connection has opened: what to send first.
  package mutating func connected() -> [[UInt8]] {
    var claim: ClientMessage.Hello.Claim?
    if let clientID, let resumeToken { claim = .init(id: clientID, resumeToken: resumeToken) }
    var messages = [
      encode(.hello(.init(name: name, client: claim))),
      encode(.subscribe(.init(room: room, position: position, isPresent: true))),
    ]
    // A key is a person's: who has no id yet publishes when it has.
    if clientID != nil {
      for key in outstanding { messages.append(encode(publication(key))) }
    }
    return messages
  }

  /// The connection is gone.
  package mutating func disconnected() {
    isSubscribed = false
    present = []
  }

  /// Publishes, now or with the next connection.
  package mutating func publish() -> [UInt8]? {
    keysMade += 1
    let key = "\(name)-\(keysMade)"
    outstanding.append(key)
    return clientID == nil ? nil : encode(publication(key))
  }

  private func publication(_ key: String) -> ClientMessage {
    .publish(.init(room: room, data: JSONValue("\"\(key)\"".utf8) ?? .null, key: key))
  }

  /// Takes a frame, and returns what to send.
  package mutating func receive(_ bytes: UnsafeRawBufferPointer) throws -> [[UInt8]] {
    let (messageID, message) = try ServerMessage.decode(bytes)
    switch message {
    case .welcome(let welcome):
      let isNew = clientID == nil
      clientID = welcome.clientID
      resumeToken = welcome.resumeToken
      guard isNew else { return [] }
      var messages: [[UInt8]] = []
      for key in outstanding { messages.append(encode(publication(key))) }
      return messages
    case .subscribed(let subscribed): try take(subscribed)
    case .publication(let push):
      guard let position, isSubscribed else { return [] }
      guard push.publication.offset == position.offset + 1 else {
        throw Mistake.outOfOrder(
          expected: position.offset + 1, found: push.publication.offset)
      }
      see(push.publication, epoch: push.epoch)
    case .published:
      if let key = keys.removeValue(forKey: messageID) {
        published.insert(key)
        outstanding.removeAll { $0 == key }
      }
    case .error(let error):
      // Published again under the same key, or subscribed to again.
      guard error.retryable else { throw MessageFailure(code: error.code) }
      if let key = keys.removeValue(forKey: messageID) { return [encode(publication(key))] }
      return [encode(.subscribe(.init(room: room, position: position, isPresent: true)))]
    case .roomPresence(let change):
      present.formUnion(change.joined.map(\.personID))
      present.subtract(change.left)
    default: break
    }
    return []
  }

  /// An error that no retry mends.
  package struct MessageFailure: Error {
    package let code: ErrorCode
  }

  private mutating func take(_ subscribed: ServerMessage.Subscribed) throws {
    isSubscribed = true
    present = Set(subscribed.present?.map(\.personID) ?? [])
    let head = subscribed.position
    if let position {
      if subscribed.isRecovered == true {
        for publication in subscribed.publications {
          guard publication.offset == self.position.map({ $0.offset + 1 }) else {
            throw Mistake.brokenRecovery
          }
          see(publication, epoch: head.epoch)
        }
        guard self.position?.offset == head.offset else { throw Mistake.brokenRecovery }
      } else {
        guard subscribed.publications.isEmpty else { throw Mistake.brokenRecovery }
        if position.offset < head.offset { gaps.append(position.offset + 1...head.offset) }
      }
    } else if head.offset > 0 {
      gaps.append(1...head.offset)
    }
    position = head
  }

  private mutating func see(_ publication: ServerMessage.PastPublication, epoch: String) {
    sightings.append(
      Sighting(epoch: epoch, offset: publication.offset, data: publication.data.utf8))
    position = RoomPoint(epoch: epoch, offset: publication.offset)
  }

  private var keys: [String: String] = [:]

  private mutating func encode(_ message: ClientMessage) -> [UInt8] {
    messagesSent += 1
    let id = "\(name)/\(messagesSent)"
    if case .publish(let publish) = message, let key = publish.key { keys[id] = key }
    var bytes: [UInt8] = []
    message.encode(messageID: id, into: &bytes)
    return bytes
  }
}
