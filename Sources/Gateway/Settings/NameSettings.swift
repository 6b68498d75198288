public import ParleyGatewayPorts

/// An operator's settings for the names of published notes.
public struct NameSettings: Sendable {
  /// Whether notes can be published under names. If not, names and readers' tokens are invalid.
  public var isOffered = false
  /// Limits on the number of names.
  public var limits = PublicName.Limits()

  /// Creates the defaults: names are not offered.
  public init() {}
}
