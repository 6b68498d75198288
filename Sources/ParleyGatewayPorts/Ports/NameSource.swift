/// The gateway's source of unpredictable names.
public protocol NameSource {
  /// Returns a random name of letters and digits, with at least 96 bits of entropy.
  func next() -> String
}
