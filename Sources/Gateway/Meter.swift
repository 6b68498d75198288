import GatewayPorts

/// Measures what comes over one connection, for itself, for its user and for its address.
package struct Meter {
  private var messages = TokenBucket()
  private var bytes = TokenBucket()
  /// What was refused: who does not wait even so uses up the patience there is.
  private var refused = TokenBucket()
  /// Of whoever is logged in.
  package var user: Usage?
  /// Of where it comes from; `nil` where addresses say nothing.
  package var address: Usage?

  package init() {}

  /// Counts what has come, or says what keeps it from being taken: then nothing is counted.
  ///
  /// Allocates nothing.
  package mutating func draw(
    messages count: Int, bytes byteCount: Int, _ allowances: Allowances, now: Int64
  ) -> Excess? {
    var longest: Int64 = 0
    var limit = RateLimit.messagesPerSecondMax
    func look(_ wait: Int64, _ of: RateLimit) {
      if wait > longest { (longest, limit) = (wait, of) }
    }
    let own = allowances.connection
    look(messages.wait(for: count, at: own.messages, now: now), .messagesPerSecondMax)
    look(bytes.wait(for: byteCount, at: own.bytes, now: now), .bytesPerSecondMax)
    if let user {
      let rates = allowances.user
      look(user.messages.wait(for: count, at: rates.messages, now: now), .userMessagesPerSecondMax)
      look(user.bytes.wait(for: byteCount, at: rates.bytes, now: now), .userBytesPerSecondMax)
    }
    if let address {
      let rates = allowances.address
      look(
        address.messages.wait(for: count, at: rates.messages, now: now),
        .addressMessagesPerSecondMax)
      look(
        address.bytes.wait(for: byteCount, at: rates.bytes, now: now), .addressBytesPerSecondMax)
    }
    guard longest == 0 else { return Excess(limit: limit, retryAfter: Int(longest)) }
    messages.take(count, at: own.messages, now: now)
    bytes.take(byteCount, at: own.bytes, now: now)
    if let user {
      user.messages.take(count, at: allowances.user.messages, now: now)
      user.bytes.take(byteCount, at: allowances.user.bytes, now: now)
    }
    if let address {
      address.messages.take(count, at: allowances.address.messages, now: now)
      address.bytes.take(byteCount, at: allowances.address.bytes, now: now)
    }
    return nil
  }

  /// Whether one more message may be answered with a refusal: as many as may be taken.
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
