/// A capacity that many strangers share: bytes in reception, sessions, slots.
///
/// Each stranger may hold at most as much as remains free. So a single stranger can hold half of the
/// capacity, and *k* strangers can hold 1/(*k* + 1) each, with the same amount free for the next
/// one. No share has to be configured or reserved for absent strangers. (Dynamic queue thresholds
/// with a factor of 1: A. Choudhury and E. Hahne, IEEE/ACM Transactions on Networking 6(2), 1998.)
///
/// Invariant: `held` is the sum of all holders' amounts, including holders without a key, and
/// `held` ≤ `capacity` unless the capacity is 0.
package struct FairShares<Key: Hashable & Sendable>: Sendable {
  /// The reason to refuse an amount.
  package enum Refusal: Hashable, Sendable {
    /// The capacity is used up.
    case full
    /// The stranger would hold more than remains free for all others.
    case overShare
  }

  /// The maximum amount of all holders together; 0 disables the limit.
  package let capacity: Int
  /// The current amount of all holders together.
  package private(set) var held = 0
  private var holders: [Key: Int] = [:]

  /// Creates a capacity of which nothing is held.
  package init(capacity: Int) { self.capacity = max(0, capacity) }

  /// The number of strangers that hold an amount.
  package var holderCount: Int { holders.count }

  /// Returns the amount that a stranger holds.
  package func amount(of key: Key) -> Int { holders[key] ?? 0 }

  /// Returns the reason why `take` would refuse an amount; `nil` if it would succeed.
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

  /// Returns whether one stranger may hold an amount when `free` remains for all others.
  package static func isWithinShare(_ amount: Int, leaving free: Int) -> Bool {
    amount <= max(1, free)
  }

  /// Takes the whole amount for a stranger, or nothing.
  ///
  /// - Returns: The reason for refusal; `nil` if the stranger now holds the amount until `give`.
  /// - Complexity: O(1).
  package mutating func take(_ amount: Int, for key: Key?) -> Refusal? {
    if let refusal = refusal(of: amount, for: key) { return refusal }
    held += amount
    if let key, amount != 0 { holders[key, default: 0] += amount }
    return nil
  }

  /// Releases an amount that was taken under the same key.
  ///
  /// - Precondition: The stranger holds at least the amount.
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
