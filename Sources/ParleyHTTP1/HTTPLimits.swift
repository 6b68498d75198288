/// The limits of a connection: sizes, counts and times.
public struct HTTPLimits: Sendable, Hashable {
  /// Maximum bytes of the request line, its line end included.
  public var requestLineBytesMax = 8 << 10
  /// Maximum bytes of the head, request line and empty line included; also of the trailers.
  public var headBytesMax = 16 << 10
  /// Maximum header fields; also maximum trailers.
  public var fieldsMax = 100
  /// Maximum bytes of a body that is read without asking the owner.
  public var bodyBytesMax = 1 << 20
  /// Whether the owner is asked about longer bodies (`asksForBody`); otherwise they are refused.
  public var asksForLongerBodies = false
  /// Maximum bytes of all chunk extensions of a body.
  public var chunkExtensionBytesMax = 4 << 10
  /// Maximum unanswered requests of the owner. Only safe requests without a body are delivered
  /// together; any other is delivered alone.
  public var pipelinedMax = 8
  /// Maximum unsent bytes while a further request is read.
  public var unsentBytesMax = 64 << 10

  /// Maximum milliseconds for a head to arrive, from its first byte; for the first head, from the
  /// opening of the connection.
  public var headMilliseconds: Int64 = 10_000
  /// Maximum milliseconds for a body to arrive, beyond the time that its received bytes earn at
  /// `bodyBytesPerSecondMin`.
  public var bodyMilliseconds: Int64 = 10_000
  /// Minimum bytes of a body per second, on average.
  public var bodyBytesPerSecondMin = 16 << 10
  /// Maximum milliseconds between two requests.
  public var idleMilliseconds: Int64 = 30_000
  /// Maximum milliseconds for a client to read each 64 KiB of the responses, or the rest; also for
  /// the owner to answer a client that has ended its sending side.
  public var responseMilliseconds: Int64 = 30_000
  /// Milliseconds for which unread bytes are dropped at the end, so that a reset does not discard
  /// the last response. The rest of a refused body gets more time while it arrives at
  /// `bodyBytesPerSecondMin`.
  public var lingerMilliseconds: Int64 = 2_000

  /// Creates the default limits.
  public init() {}
}
