/// Bounds and pauses of an outbox.
public struct OutboxSettings: Sendable, Hashable {
  /// The most changes that wait, of all users.
  public var entriesMax = 10_000
  /// The most bytes that wait; each change counts its body and 256.
  public var bytesMax = 64 << 20
  /// The most server's ids that are remembered for temporary ones after their changes are sent.
  public var aliasesMax = 10_000
  /// The first pause after the server was not there, in milliseconds; each further one is twice as
  /// long. Every pause is shortened at random by up to half.
  public var pauseMin: Int64 = 1_000
  /// The longest pause, in milliseconds, unless the server asks for a longer one.
  public var pauseMax: Int64 = 60_000
  /// The longest pause that a server may ask for, in milliseconds.
  public var retryAfterMax: Int64 = 3_600_000

  /// The settings as they are described.
  public init() {}
}
