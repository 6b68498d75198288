import ParleyGatewayPorts
import SocketMessages

/// Applying the rate limits of users and addresses.
extension Access {
  /// Counts a connection against its address until ``uncount(_:)``.
  func count(_ id: ConnectionID, from address: IPAddress?) { rates.count(id, from: address) }
  func uncount(_ id: ConnectionID) { rates.uncount(id) }

  /// Returns a meter for the traffic of an address.
  func meter(from address: IPAddress?) -> Meter { rates.meter(from: address) }

  /// Periodically discards usage records that no longer limit anything.
  func ticked() { rates.ticked() }

  /// Counts an upgrade as an attempt, and returns the limit that it exceeds; `nil` if none.
  func excess(ofConnecting head: RequestHead) -> Excess? {
    rates.excess(ofConnectingFrom: head.limitedAddress).map(passed)
  }

  /// Counts a further connection of a user as an attempt, and returns the limit that it exceeds.
  func excess(ofConnecting identity: Identity) -> Excess? {
    rates.excess(ofConnecting: identity).map(passed)
  }

  /// Counts a connection's further traffic against its user.
  func count(_ connection: Connection, towards identity: Identity) {
    connection.meter.count(towards: rates.usage(of: identity))
  }

  /// Counts a publication of a connection without a user meter, or returns the limit it exceeds.
  func excess(ofPublishingBy identity: Identity, bytes: Int) -> Excess? {
    rates.excess(ofPublishingBy: identity, bytes: bytes).map(passed)
  }

  /// Counts a request of a user or program, and returns the limit that it exceeds; `nil` if none.
  func excess(ofRequestBy identity: Identity) -> Excess? {
    rates.excess(ofRequestBy: identity).map(passed)
  }

  /// Counts a request against its address, and returns the response that rejects it if the address
  /// exceeds its rate; `nil` if the request may proceed.
  func refusal(ofRequest head: RequestHead) -> Response? {
    rates.excess(ofRequestFrom: head.limitedAddress).map { response(to: passed($0)) }
  }

  /// The response 429 with the time after which to retry.
  func response(to excess: Excess) -> Response {
    .tooMany(
      .problem(429, .tooFast, excess.words(settings.limits)), retryAfter: excess.retryAfter)
  }
}

extension Part {
  /// Counts the response to a request against the client's identity instead of its address.
  func count(_ request: RequestID, towards identity: Identity, from address: IPAddress?) {
    let limitedClient = LimitedClient(identity, from: address)
    if limitedClient != LimitedClient(address: address) {
      act(.count(request, towards: Holder(limitedClient)))
    }
  }

  /// Counts a received message, or returns the limit that it exceeds.
  func excess(
    of connection: Connection, messages: Int = 1, bytes: Int, now: Int64
  ) -> Excess? {
    connection.meter.draw(messages: messages, bytes: bytes, allowances, now: now).map(passed)
  }

  /// Counts an exceeded limit in the metrics.
  func count(_ excess: Excess) { metrics.limited[excess.limit.rawValue, default: 0] += 1 }

  /// Counts an exceeded limit in the metrics, and returns it.
  func passed(_ excess: Excess) -> Excess {
    count(excess)
    return excess
  }
}
