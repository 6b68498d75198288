/// Limits and pauses of an outbox.
public struct OutboxSettings: Sendable, Hashable {
  /// Maximum waiting changes, of all users.
  public var entriesMax = 10_000
  /// Maximum bytes of the waiting changes; each counts its body and 256 bytes.
  public var bytesMax = 64 << 20
  /// Maximum remembered server's ids of temporary ids, unless waiting changes use more.
  public var aliasesMax = 10_000
  /// The first pause after the server was unreachable, in milliseconds; each further pause is twice
  /// as long. Every pause is shortened at random by up to half.
  public var pauseMin: Int64 = 1_000
  /// Maximum pause in milliseconds, unless the server asks for a longer one.
  public var pauseMax: Int64 = 60_000
  /// Maximum pause that a server may ask for, in milliseconds.
  public var retryAfterMax: Int64 = 3_600_000

  /// Creates the default settings.
  public init() {}
}
