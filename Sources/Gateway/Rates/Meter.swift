import ParleyGatewayPorts

/// Measures the traffic of one connection, for the connection, its user and its address.
package struct Meter {
  private var traffic = Traffic()
  /// The rate of rejected messages: a client that exceeds it is disconnected.
  private var refused = TokenBucket()
  /// The usage of the signed-in user.
  package var user: Usage?
  /// The usage of the address; `nil` if the address is unknown or not limited.
  package var address: Usage?

  package init() {}

  /// Counts messages, or returns the limit that rejects them and counts nothing.
  ///
  /// Does not allocate.
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

  /// Whether one more message may be rejected without a disconnect. The rate limit of rejected
  /// messages equals that of accepted ones.
  mutating func mayReject(_ allowances: Allowances, now: Int64) -> Bool {
    refused.draw(1, at: allowances.connection.messages, now: now) == 0
  }

  /// Counts the connection towards another user from now on, or towards none.
  mutating func count(towards usage: Usage?) {
    user?.connections -= 1
    user = usage
    user?.connections += 1
  }
}
