/// Sizes that one operation may have, such as a server announces.
public struct OperationLimits: Sendable, Hashable {
  /// The fewest components that can be asked for: what is before, one change, what is behind.
  public static let componentsMin = 3
  /// The fewest bytes that can be asked for: the same three, of the longest text.
  public static let jsonBytesMin = 64

  /// Components, at least ``componentsMin``.
  public let componentsMax: Int
  /// Bytes of the JSON form, at least ``jsonBytesMin``.
  public let jsonBytesMax: Int

  /// Makes limits; what is below the least counts as the least.
  public init(componentsMax: Int = .max, jsonBytesMax: Int = .max) {
    self.componentsMax = max(Self.componentsMin, componentsMax)
    self.jsonBytesMax = max(Self.jsonBytesMin, jsonBytesMax)
  }
}
