public import ParleyGatewayPorts

/// An operator's settings for the names of published notes.
public struct NameSettings: Sendable {
  /// Whether notes are published under names. Otherwise no name opens a note, and readers' tokens are not valid.
  public var isOffered = false
  /// Limits on their number.
  public var limits = PublicName.Limits()

  /// Names are not offered.
  public init() {}
}
