/// The gateway's source of unpredictable names.
public protocol NameSource {
  /// A random name of at least 96 bits, in letters and digits.
  func next() -> String
}
