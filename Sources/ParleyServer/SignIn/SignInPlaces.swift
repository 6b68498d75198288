/// Places for sign-ins that wait for the identity provider, so many of one address: a stranger whose sign-ins never
/// end leaves places to others.
package struct SignInPlaces: Sendable {
  /// Places that one address may hold at once.
  package static let countMaxOfAddress = 8

  private let countMax: Int
  private var count = 0
  private var held: [String: Int] = [:]

  /// Makes places, all of them free.
  package init(countMax: Int) { self.countMax = countMax }

  /// Takes a place; `false` if there is none for the address.
  ///
  /// An address of this machine's own may be a proxy, behind which everybody is.
  package mutating func take(by address: String) -> Bool {
    guard count < countMax else { return false }
    if !Configuration.isLoopback(address) {
      let own = held[address, default: 0]
      guard own < Self.countMaxOfAddress else { return false }
      held[address] = own + 1
    }
    count += 1
    return true
  }

  /// Gives a place back that was taken by an address.
  package mutating func give(by address: String) {
    count -= 1
    guard let own = held[address] else { return }
    held[address] = own > 1 ? own - 1 : nil
  }
}
