/// Keys for the order of a list: a key between any two others, so that moving an item changes that item
/// alone.
///
///     card.order = OrderKey.between(above.order, below.order)
///
/// Keys are digits and letters, compared by their bytes. Two people who insert at one place get
/// different keys.
public enum OrderKey {
  /// The length from which a list is worth new keys, by ``spread(_:)``.
  public static let lengthMax = 64

  private static let digits = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  private static let base = digits.count
  private static let headCount = 6
  private static let all = (0..<headCount).reduce(1) { all, _ in all * base }
  private static let step = 4_096

  /// Returns a key between two others; `nil` for the beginning or the end of the list.
  ///
  /// The keys must be those of two items in their order.
  public static func between(_ before: String?, _ after: String?) -> String {
    var random = SystemRandomNumberGenerator()
    return between(before, after, using: &random)
  }

  /// Returns a key between two others, with a source of randomness.
  public static func between(
    _ before: String?, _ after: String?, using random: inout some RandomNumberGenerator
  ) -> String {
    switch (before.map(number), after.map(number)) {
    case (nil, nil): return text(all / 2 + Int.random(in: 0..<step, using: &random), &random)
    case (let low?, nil) where low + step < all:
      return text(low + 1 + Int.random(in: 0..<step, using: &random), &random)
    case (nil, let high?) where high > step:
      return text(high - 1 - Int.random(in: 0..<(step - 1), using: &random), &random)
    default: return middle(Array((before ?? "").utf8), after.map { Array($0.utf8) }, &random)
    }
  }

  /// Returns keys for a whole list, equally far from each other.
  public static func spread(_ count: Int) -> [String] {
    var random = SystemRandomNumberGenerator()
    return (0..<max(count, 0)).map { text(all / (count + 1) * ($0 + 1), &random) }
  }

  private static func digit(_ byte: UInt8) -> Int { digits.firstIndex(of: byte) ?? 0 }

  private static func number(_ key: String) -> Int {
    let head = key.utf8.prefix(headCount).map(digit)
    return (head + Array(repeating: 0, count: headCount - head.count)).reduce(0) { $0 * base + $1 }
  }

  private static func text(_ number: Int, _ random: inout some RandomNumberGenerator) -> String {
    var key: [UInt8] = []
    var rest = number
    for _ in 0..<headCount {
      key.insert(digits[rest % base], at: 0)
      rest /= base
    }
    // A key that ended with the lowest digit would leave no place before it.
    if key.last == digits[0] { key.append(digits[Int.random(in: 1..<base, using: &random)]) }
    return String(decoding: key, as: UTF8.self)
  }

  private static func middle(
    _ before: [UInt8], _ after: [UInt8]?, _ random: inout some RandomNumberGenerator
  ) -> String {
    var key: [UInt8] = []
    var end = after
    while true {
      let index = key.count
      let low = index < before.count ? digit(before[index]) : 0
      let high = end.flatMap { index < $0.count ? digit($0[index]) : nil } ?? base
      if high - low > 1 {
        // The middle third, so that two people seldom choose the same digit, and two more digits.
        let third = max((high - low) / 3, 1)
        let range = 0..<max(high - low - 2 * third, 1)
        key.append(digits[low + third + Int.random(in: range, using: &random)])
        key.append(digits[Int.random(in: 0..<base, using: &random)])
        key.append(digits[Int.random(in: 1..<base, using: &random)])
        return String(decoding: key, as: UTF8.self)
      }
      key.append(digits[low])
      if high != low { end = nil }
    }
  }
}
