import ParleyGatewayPorts

/// Usage of the rate limits for messages and their bytes.
package struct Traffic {
  private var messages = TokenBucket()
  private var bytes = TokenBucket()

  package init() {}

  /// Returns the milliseconds until an amount is allowed.
  func wait(
    messages count: Int, bytes byteCount: Int, _ allowance: Allowance, now: Int64
  ) -> (messages: Int64, bytes: Int64) {
    (
      messages.wait(for: count, at: allowance.messages, now: now),
      bytes.wait(for: byteCount, at: allowance.bytes, now: now)
    )
  }

  /// Counts an amount.
  package mutating func take(
    messages count: Int, bytes byteCount: Int, _ allowance: Allowance, now: Int64
  ) {
    messages.take(count, at: allowance.messages, now: now)
    bytes.take(byteCount, at: allowance.bytes, now: now)
  }

  /// Whether the usage equals that of a new client.
  func isForgettable(_ allowance: Allowance, now: Int64) -> Bool {
    messages.isFull(at: allowance.messages, now: now)
      && bytes.isFull(at: allowance.bytes, now: now)
  }
}
