public import GatewayPorts
import SocketMessages

/// Holding connections, users and addresses to their rates.
///
/// A message that is too much is read, answered with when to send it again, and not done. So nothing
/// is lost: who sent it still has it. Who does not wait, and sends as much again in refused messages,
/// is closed with a code that says to come back later.
extension Gateway {
  // MARK: Connecting

  /// Why an upgrade is turned away, counting it as an attempt; `nil` if it may pass.
  func excess(ofConnecting head: RequestHead) -> Excess? {
    access.rates.excess(ofConnectingFrom: head.limitedAddress).map(passed)
  }

  /// Why somebody may not have one more connection, counting it as an attempt.
  func excess(ofConnecting identity: Identity) -> Excess? {
    access.rates.excess(ofConnecting: identity).map(passed)
  }

  /// Counts a connection towards its user from here on.
  func count(_ connection: Connection, towards identity: Identity) {
    connection.meter.count(towards: access.rates.usage(of: identity))
  }

  // MARK: Messages

  /// Counts a message that has come, or says why it is not to be done.
  func excess(
    of connection: Connection, messages: Int = 1, bytes: Int, now: Int64
  ) -> Excess? {
    connection.meter.draw(messages: messages, bytes: bytes, allowances, now: now).map(passed)
  }

  /// Counts a publication whose connection says nothing of its user, or says what is too much.
  func excess(ofPublishingBy identity: Identity, bytes: Int) -> Excess? {
    access.rates.excess(ofPublishingBy: identity, bytes: bytes).map(passed)
  }

  /// Closes a connection that goes on although it was told to wait; whether it was so.
  func closeIfFlooding(_ connection: Connection, _ excess: Excess, now: Int64) -> Bool {
    if connection.meter.hasPatience(allowances, now: now) { return false }
    if endFloodingSession(at: connection.id) { return true }
    let pause = max(excess.retryAfter ?? 0, settings.retryAfterMilliseconds)
    sendError(
      .tooFast, excess.words(settings.limits), ref: "", retryAfter: pause, to: connection)
    sendGoodbye(reason: "tooFast", reconnectAfter: pause...(2 * pause), to: connection)
    close(connection, .tooFast, "too much at once; wait, come back and resume")
    return true
  }

  /// Refuses a native message, to be sent again later.
  func refuse(_ message: ClientMessage, _ excess: Excess, ref: String, _ connection: Connection) {
    let words = excess.words(settings.limits)
    if case .change(let change) = message {
      documents.refuse(
        change.sequence, .tooFast, words, of: change.documentID, ref: ref,
        retryAfter: excess.retryAfter, to: connection)
    } else {
      sendError(.tooFast, words, ref: ref, retryAfter: excess.retryAfter, to: connection)
    }
  }

  // MARK: Requests

  /// The answer to a request from an address that has made too many, counting it; `nil` if it may
  /// go on.
  public func refusal(ofRequest head: RequestHead) -> Response? {
    access.rates.excess(ofRequestFrom: head.limitedAddress).map { response(to: passed($0)) }
  }

  /// 429, with when to try again.
  func response(to excess: Excess) -> Response {
    .tooMany(
      .problem(429, .tooFast, excess.words(settings.limits)), retryAfter: excess.retryAfter)
  }

  /// Counts a limit that was passed.
  func count(_ excess: Excess) { metrics.limited[excess.limit.rawValue, default: 0] += 1 }

  /// Counts a limit that was passed, and returns it.
  func passed(_ excess: Excess) -> Excess {
    count(excess)
    return excess
  }

  /// Time has passed.
  func tickLimits() {
    access.rates.ticked()
    if !backlog.isFull { whaler.settleOwed() }
  }
}
