/// The size limits of one operation, such as a server announces.
public struct OperationLimits: Sendable, Hashable {
  /// Minimum of ``componentsMax``: a retain, one change, a retain.
  public static let componentsMin = 3
  /// Minimum of ``jsonBytesMax``: the same three components, with the longest lengths.
  public static let jsonBytesMin = 64

  /// Maximum components, at least ``componentsMin``.
  public let componentsMax: Int
  /// Maximum bytes of the JSON form, at least ``jsonBytesMin``.
  public let jsonBytesMax: Int

  /// Creates limits. Values below the minimum are raised to it.
  public init(componentsMax: Int = .max, jsonBytesMax: Int = .max) {
    self.componentsMax = max(Self.componentsMin, componentsMax)
    self.jsonBytesMax = max(Self.jsonBytesMin, jsonBytesMax)
  }
}
