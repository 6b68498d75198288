/// A capacity that many strangers share: bytes in reception, sessions, slots.
///
/// One stranger may hold at most as much as remains free for all others. So a single stranger reaches half of the
/// capacity, *k* strangers that take all they can reach 1/(*k* + 1) each, and the same amount remains free for the
/// next one. No share has to be configured, and none is reserved for strangers that are not here. (Dynamic queue
/// thresholds with a factor of 1: A. Choudhury and E. Hahne, IEEE/ACM Transactions on Networking 6(2), 1998.)
///
/// Invariant: `held` is the sum over all holders, those without a key included, and is at most `capacity`.
package struct FairShares<Key: Hashable & Sendable>: Sendable {
  /// A refused request.
  package enum Refusal: Hashable, Sendable {
    /// The capacity is used up.
    case full
    /// The stranger holds as much as remains for all others.
    case overShare
  }

  /// The amount that all holders may hold together; 0 disables the limit.
  package let capacity: Int
  /// The amount that all holders hold now.
  package private(set) var held = 0
  private var holders: [Key: Int] = [:]

  /// Creates an unused capacity.
  package init(capacity: Int) { self.capacity = max(0, capacity) }

  /// The number of strangers that hold something.
  package var holderCount: Int { holders.count }

  /// Returns the amount that a stranger holds.
  package func amount(of key: Key) -> Int { holders[key] ?? 0 }

  /// Returns why an amount would be refused; `nil` if `take` would succeed.
  ///
  /// - Parameter key: The stranger; `nil` for a holder that only the capacity limits.
  /// - Complexity: O(1).
  package func refusal(of amount: Int, for key: Key?) -> Refusal? {
    guard capacity > 0 else { return nil }
    guard amount <= capacity - held else { return .full }
    guard let key else { return nil }
    let isWithin = Self.isWithinShare(
      self.amount(of: key) + amount, leaving: capacity - held - amount)
    return isWithin ? nil : .overShare
  }

  /// Returns whether one stranger may hold an amount that leaves so much to all others.
  package static func isWithinShare(_ amount: Int, leaving free: Int) -> Bool {
    amount <= max(1, free)
  }

  /// Takes an amount for a stranger, or nothing.
  ///
  /// - Returns: Why nothing was taken; `nil` if the stranger now holds the amount until `give`.
  /// - Complexity: O(1).
  package mutating func take(_ amount: Int, for key: Key?) -> Refusal? {
    if let refusal = refusal(of: amount, for: key) { return refusal }
    held += amount
    if let key, amount != 0 { holders[key, default: 0] += amount }
    return nil
  }

  /// Releases an amount that was taken under the same key.
  ///
  /// - Precondition: The stranger holds that much.
  /// - Complexity: O(1).
  package mutating func give(_ amount: Int, for key: Key?) {
    held -= amount
    precondition(held >= 0, "released more than was taken")
    guard let key, amount != 0 else { return }
    let rest = self.amount(of: key) - amount
    precondition(rest >= 0, "released more than the stranger holds")
    holders[key] = rest == 0 ? nil : rest
  }
}
