import GatewayPorts
import SocketMessages

/// What came of work with rooms at the store.
enum RoomOutcome {
  case done(RoomReply)
  case failed(StoreError)

  init(_ reply: StoreReply) {
    switch reply {
    case .room(let reply): self = .done(reply)
    case .failed(let error): self = .failed(error)
    case .done, .note, .notes, .document, .entries, .text, .history, .versions, .people, .once:
      preconditionFailure("a store answers work with rooms with a room's reply")
    }
  }
}

extension Gateway {
  /// Has the store work with a room, and goes on with what comes of it.
  func store(_ request: RoomRequest, then goOn: @escaping (RoomOutcome) -> Void) {
    store(.room(request), then: goOn)
  }

  /// Has the store do what it answers in a room's terms, and goes on with what comes of it.
  func store(_ work: StoreRequest, then goOn: @escaping (RoomOutcome) -> Void) {
    store(work, for: .rooms(goOn))
  }

  /// Whether a room's name can be one; answers the message if not.
  func checksOut(room name: RoomName, ref: String, _ connection: Connection) -> Bool {
    guard let problem = problem(ofRoom: name) else { return true }
    sendError(.tooLarge, problem, ref: ref, to: connection)
    return false
  }

  /// What is wrong with a room's name, if anything.
  func problem(ofRoom name: RoomName) -> String? {
    let bytesMax = settings.limits.roomBytesMax
    guard name.isEmpty || name.utf8.count > bytesMax else { return nil }
    return "a room's name has 1 to \(bytesMax) bytes; this one has \(name.utf8.count)"
  }

  /// Whether a connection may do this in a room; answers the message if not.
  func allows(
    _ verbs: Verbs, _ doing: String, in room: RoomName, ref: String, _ connection: Connection
  ) -> Bool {
    guard !self.verbs(of: connection, on: .room(room)).isSuperset(of: verbs) else { return true }
    sendError(
      .notAllowed, "the token does not grant \(doing) this room", ref: ref, to: connection)
    return false
  }

  func sendUnavailable(_ error: StoreError, ref: String, to connection: Connection) {
    surroundings.log.write(.error, "room request failed", [("error", error.logName)])
    sendError(
      error.isRetryable ? .unavailable : .damaged, "the store cannot do this now; try again later",
      ref: ref, to: connection)
  }
}
