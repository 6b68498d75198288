import ParleyGatewayPorts
import SocketMessages

/// Applying the rates of users and addresses.
extension Access {
  /// Counts a connection towards its address, until it is gone.
  func count(_ id: ConnectionID, from address: IPAddress?) { rates.count(id, from: address) }
  func uncount(_ id: ConnectionID) { rates.uncount(id) }

  /// A meter for the traffic of an address.
  func meter(from address: IPAddress?) -> Meter { rates.meter(from: address) }

  /// Forgets usages that no longer matter, from time to time.
  func ticked() { rates.ticked() }

  /// The limit that refuses an upgrade, counting it as an attempt; `nil` if it may pass.
  func excess(ofConnecting head: RequestHead) -> Excess? {
    rates.excess(ofConnectingFrom: head.limitedAddress).map(passed)
  }

  /// The limit that refuses a user one more connection; counts it as an attempt.
  func excess(ofConnecting identity: Identity) -> Excess? {
    rates.excess(ofConnecting: identity).map(passed)
  }

  /// Counts a connection towards its user from here on.
  func count(_ connection: Connection, towards identity: Identity) {
    connection.meter.count(towards: rates.usage(of: identity))
  }

  /// Counts a publication whose connection has no meter of its user, or returns the limit that it exceeds.
  func excess(ofPublishingBy identity: Identity, bytes: Int) -> Excess? {
    rates.excess(ofPublishingBy: identity, bytes: bytes).map(passed)
  }

  /// The limit that refuses a request of a user or program, counting the request; `nil` if it may proceed.
  func excess(ofRequestBy identity: Identity) -> Excess? {
    rates.excess(ofRequestBy: identity).map(passed)
  }

  /// The answer to a request from an address that exceeds its rate, counting the request; `nil` if it may
  /// proceed.
  func refusal(ofRequest head: RequestHead) -> Response? {
    rates.excess(ofRequestFrom: head.limitedAddress).map { response(to: passed($0)) }
  }

  /// 429, with when to try again.
  func response(to excess: Excess) -> Response {
    .tooMany(
      .problem(429, .tooFast, excess.words(settings.limits)), retryAfter: excess.retryAfter)
  }
}

extension Part {
  /// Counts the response to a request against the client of an identity, instead of its address.
  func count(_ request: RequestID, towards identity: Identity, from address: IPAddress?) {
    let stranger = Stranger(identity, from: address)
    if stranger != Stranger(address: address) { act(.count(request, towards: Holder(stranger))) }
  }

  /// Counts a received message, or returns the limit that it exceeds.
  func excess(
    of connection: Connection, messages: Int = 1, bytes: Int, now: Int64
  ) -> Excess? {
    connection.meter.draw(messages: messages, bytes: bytes, allowances, now: now).map(passed)
  }

  /// Counts a limit that was passed.
  func count(_ excess: Excess) { metrics.limited[excess.limit.rawValue, default: 0] += 1 }

  /// Counts a limit that was passed, and returns it.
  func passed(_ excess: Excess) -> Excess {
    count(excess)
    return excess
  }
}
