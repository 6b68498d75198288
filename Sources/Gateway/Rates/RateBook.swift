package import GatewayPorts

/// Usages of one rate by users, of whom at most so many are remembered.
///
/// Who has used nothing up is forgotten when there is no room for others. While those who are remembered all have, a
/// newcomer is not held to the rate.
package struct RateBook {
  private var usages: [ExactName: TokenBucket] = [:]
  private let countMax: Int
  /// The time of the next look for some that can be forgotten: not with each newcomer, for it goes through all.
  private var nextLook: Int64 = .min

  private static let lookMilliseconds: Int64 = 1_000

  /// Makes an empty book.
  package init(countMax: Int) { self.countMax = countMax }

  /// The number of users that are remembered.
  package var count: Int { usages.count }

  /// Takes so much for a user if it is there.
  ///
  /// - Returns: 0 if it was; else the milliseconds to wait, and nothing was taken.
  /// - Complexity: O(1), and O(*n*) users once a second while there is no room.
  package mutating func draw(
    _ amount: Int, by user: String, at rate: Rate, now: Int64
  ) -> Int64 {
    let name = ExactName(user)
    guard usages[name] != nil || hasRoom(at: rate, now: now) else { return 0 }
    return usages[name, default: TokenBucket()].draw(amount, at: rate, now: now)
  }

  private mutating func hasRoom(at rate: Rate, now: Int64) -> Bool {
    if usages.count < countMax { return true }
    guard now >= nextLook else { return false }
    nextLook = now + Self.lookMilliseconds
    usages = usages.filter { !$0.value.isFull(at: rate, now: now) }
    return usages.count < countMax
  }
}
