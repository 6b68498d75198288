import ParleyGatewayPorts
import SocketMessages

/// Checks of clients' messages about rooms.
final class RoomChecks: Part {
  let board: Switchboard

  init(_ board: Switchboard) { self.board = board }

  /// Throws if the room's name is invalid, or the connection lacks a right in the room.
  func check(
    _ verbs: Verbs, _ doing: String, in room: RoomName, _ connection: Connection
  ) throws(MessageRefusal) {
    try checkName(of: room)
    try checkRight(verbs, doing, in: room, connection)
  }

  /// Throws if the room's name is invalid.
  func checkName(of room: RoomName) throws(MessageRefusal) {
    if let problem = problem(ofRoom: room) { throw MessageRefusal(.tooLarge, problem) }
  }

  /// Returns the problem with a room's name; `nil` if the name is valid.
  func problem(ofRoom name: RoomName) -> String? {
    let bytesMax = settings.limits.roomBytesMax
    guard name.text.isEmpty || name.text.utf8.count > bytesMax else { return nil }
    return "a room's name has 1 to \(bytesMax) bytes; this one has \(name.text.utf8.count)"
  }

  /// Throws if the connection's token does not grant a right in the room.
  func checkRight(
    _ verbs: Verbs, _ doing: String, in room: RoomName, _ connection: Connection
  ) throws(MessageRefusal) {
    guard connection.verbs(on: .room(room)).isSuperset(of: verbs) else {
      throw MessageRefusal(.notAllowed, "the token does not grant \(doing) this room")
    }
  }

  func sendUnavailable(_ error: StoreError, ref: String, to connection: Connection) {
    dependencies.log.write(.error, "room request failed", [("error", error.logName)])
    sendError(
      error.isRetryable ? .unavailable : .damaged, "the store cannot do this now; try again later",
      ref: ref, to: connection)
  }

  /// Returns why data of this size is refused; `nil` if it is accepted.
  ///
  /// Dialects check this before they parse data. Publishing always checks again.
  func problem(ofData byteCount: Int) -> String? {
    let bytesMax = settings.limits.publicationBytesMax
    guard byteCount > bytesMax else { return nil }
    return "data may have \(bytesMax) bytes; this has \(byteCount)"
  }

  // MARK: Features and rate limits

  /// Returns the handler of a message's feature; throws if the feature is not offered.
  func offered<Handler>(_ handler: Handler?) throws(MessageRefusal) -> Handler {
    guard let handler else {
      throw MessageRefusal(
        .notOffered, "this server does not offer it; see the capabilities in welcome")
    }
    return handler
  }

  /// Counts a message towards `signsPerSecondMax`; throws if the limit is exceeded.
  func countSignal(_ connection: Connection) throws(MessageRefusal) {
    let wait = connection.signs.draw(1, at: allowances.signs, now: dependencies.clock.uptime)
    guard wait > 0 else { return }
    metrics.limited["signsPerSecondMax", default: 0] += 1
    throw MessageRefusal(
      .tooFast,
      "at most \(settings.limits.signsPerSecondMax) signs of life a second are allowed; "
        + "send it again after \(wait) ms", retryAfter: Int(wait))
  }
}
