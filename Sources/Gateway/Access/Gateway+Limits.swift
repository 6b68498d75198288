import GatewayPorts
import SocketMessages

/// Holding connections to their rates.
///
/// A message that is too much is read, answered with when to send it again, and not done. So nothing
/// is lost: who sent it still has it. Who does not wait, and sends as much again in refused messages,
/// is closed with a code that says to come back later.
extension Gateway {
  /// Closes a connection that goes on although it was told to wait; whether it was so.
  func closeIfFlooding(_ connection: Connection, _ excess: Excess, now: Int64) -> Bool {
    if connection.meter.hasPatience(allowances, now: now) { return false }
    let pause = max(excess.retryAfter ?? 0, settings.retryAfterMilliseconds)
    sendError(
      .tooFast, excess.words(settings.limits), ref: "", retryAfter: pause, to: connection)
    sendGoodbye(reason: "tooFast", reconnectAfter: pause...(2 * pause), to: connection)
    close(connection, .tooFast, "too much at once; wait, come back and resume")
    return true
  }

  /// Time has passed.
  func tickLimits() {
    access.rates.ticked()
    if !backlog.isFull { whaler.settleOwed() }
  }
}
