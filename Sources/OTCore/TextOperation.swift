/// A change to a text.
public struct TextOperation: Sendable, Hashable {
  /// An operation without components.
  public init() {}
}
