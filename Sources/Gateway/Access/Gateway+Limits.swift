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
    guard let usage = usage(of: head.limitedAddress) else { return nil }
    return excess(
      ofConnecting: usage, allowances.address, .addressConnectionsMax,
      .addressConnectsPerSecondMax)
  }

  /// Why somebody may not have one more connection, counting it as an attempt.
  func excess(ofConnecting identity: Identity) -> Excess? {
    guard let usage = usage(of: identity) else { return nil }
    return excess(
      ofConnecting: usage, allowances.user, .userConnectionsMax, .userConnectsPerSecondMax)
  }

  private func excess(
    ofConnecting usage: Usage, _ allowance: Allowance, _ number: RateLimit, _ rate: RateLimit
  ) -> Excess? {
    if allowance.connectionsMax > 0, usage.connections >= allowance.connectionsMax {
      return passed(Excess(limit: number, retryAfter: nil))
    }
    let wait = usage.connects.draw(1, at: allowance.connects, now: surroundings.clock.uptime)
    return wait == 0 ? nil : passed(Excess(limit: rate, retryAfter: Int(wait)))
  }

  /// What an address has taken; `nil` if it is not limited.
  func usage(of address: IPAddress?) -> Usage? {
    guard let address else { return nil }
    return addresses.usage(of: address.subscriber, now: surroundings.clock.uptime)
  }

  /// What a user has taken; `nil` for nobody, and for guests, who are many under one name.
  func usage(of identity: Identity) -> Usage? {
    guard !identity.isGuest, !identity.user.isEmpty else { return nil }
    return users.usage(of: ExactName(identity.user), now: surroundings.clock.uptime)
  }

  /// A meter for what comes from an address.
  func meter(from address: IPAddress?) -> Meter {
    var meter = Meter()
    meter.address = usage(of: address)
    return meter
  }

  /// Counts a connection towards its address.
  func count(_ id: ConnectionID, from address: IPAddress?) {
    guard let usage = usage(of: address) else { return }
    usage.connections += 1
    addressUsages[id] = usage
  }

  /// A connection of an address is gone.
  func uncount(_ id: ConnectionID) {
    guard !addressUsages.isEmpty else { return }
    addressUsages.removeValue(forKey: id)?.connections -= 1
  }

  /// From here on a connection counts towards its user.
  func count(_ connection: Connection, towards identity: Identity) {
    connection.meter.count(towards: usage(of: identity))
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
    guard let usage = usage(of: identity) else { return nil }
    let now = surroundings.clock.uptime
    let wait = usage.traffic.wait(messages: 1, bytes: bytes, allowances.user, now: now)
    guard wait.messages == 0, wait.bytes == 0 else {
      let isOfBytes = wait.bytes > wait.messages
      return passed(
        Excess(
          limit: isOfBytes ? .userBytesPerSecondMax : .userMessagesPerSecondMax,
          retryAfter: Int(max(wait.bytes, wait.messages))))
    }
    usage.traffic.take(messages: 1, bytes: bytes, allowances.user, now: now)
    return nil
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
    guard let usage = usage(of: head.limitedAddress) else { return nil }
    return refusal(of: usage, allowances.address, .addressRequestsPerSecondMax)
  }

  /// The same for the user who makes it.
  func refusal(ofRequestBy identity: Identity) -> Response? {
    guard let usage = usage(of: identity) else { return nil }
    return refusal(of: usage, allowances.user, .userRequestsPerSecondMax)
  }

  private func refusal(of usage: Usage, _ allowance: Allowance, _ limit: RateLimit) -> Response? {
    let wait = usage.requests.draw(1, at: allowance.requests, now: surroundings.clock.uptime)
    return wait == 0 ? nil : response(to: passed(Excess(limit: limit, retryAfter: Int(wait))))
  }

  /// 429, with when to try again.
  func response(to excess: Excess) -> Response {
    .tooMany(
      .problem(429, .tooFast, excess.words(settings.limits)), retryAfter: excess.retryAfter)
  }

  /// Counts a limit that was passed.
  func count(_ excess: Excess) { metrics.limited[excess.limit.rawValue, default: 0] += 1 }

  private func passed(_ excess: Excess) -> Excess {
    count(excess)
    return excess
  }

  /// Time has passed.
  func tickLimits() {
    let now = surroundings.clock.uptime
    users.ticked(now: now)
    addresses.ticked(now: now)
    if !backlog.isFull { whaler.settleOwed() }
  }
}
