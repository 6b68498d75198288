import ParleyGatewayPorts

/// Measures the traffic of one connection, for itself, for its user and for its address.
package struct Meter {
  private var traffic = Traffic()
  /// The rate of refusals: a client that does not slow down after them is closed.
  private var refused = TokenBucket()
  /// The usage of the user who is logged in.
  package var user: Usage?
  /// The usage of its address; `nil` where addresses say nothing.
  package var address: Usage?

  package init() {}

  /// Counts messages, or returns the limit that refuses them: then nothing is counted.
  ///
  /// Allocates nothing.
  package mutating func draw(
    messages count: Int, bytes byteCount: Int, _ allowances: Allowances, now: Int64
  ) -> Excess? {
    var excess: (wait: Int64, limit: RateLimit)?
    func look(
      _ traffic: Traffic, _ allowance: Allowance, _ ofMessages: RateLimit, _ ofBytes: RateLimit
    ) {
      let wait = traffic.wait(messages: count, bytes: byteCount, allowance, now: now)
      if wait.messages > excess?.wait ?? 0 { excess = (wait.messages, ofMessages) }
      if wait.bytes > excess?.wait ?? 0 { excess = (wait.bytes, ofBytes) }
    }
    look(traffic, allowances.connection, .messagesPerSecondMax, .bytesPerSecondMax)
    if let user {
      look(user.traffic, allowances.user, .userMessagesPerSecondMax, .userBytesPerSecondMax)
    }
    if let address {
      look(
        address.traffic, allowances.address, .addressMessagesPerSecondMax,
        .addressBytesPerSecondMax)
    }
    if let excess { return Excess(limit: excess.limit, retryAfter: Int(excess.wait)) }
    traffic.take(messages: count, bytes: byteCount, allowances.connection, now: now)
    user?.traffic.take(messages: count, bytes: byteCount, allowances.user, now: now)
    address?.traffic.take(messages: count, bytes: byteCount, allowances.address, now: now)
    return nil
  }

  /// Whether one more message may be answered with a refusal: as many as may be accepted.
  mutating func hasPatience(_ allowances: Allowances, now: Int64) -> Bool {
    refused.draw(1, at: allowances.connection.messages, now: now) == 0
  }

  /// From here on it counts towards a user, or towards none.
  mutating func count(towards usage: Usage?) {
    user?.connections -= 1
    user = usage
    user?.connections += 1
  }
}
