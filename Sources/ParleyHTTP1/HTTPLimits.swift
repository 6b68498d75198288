/// The limits of one connection: sizes, counts and times, all in one place.
public struct HTTPLimits: Sendable, Hashable {
  /// The longest request line, its line end included.
  public var requestLineBytesMax = 8 << 10
  /// The longest head, request line and empty line included; also the longest trailer.
  public var headBytesMax = 16 << 10
  /// The most header fields, and the most trailers.
  public var fieldsMax = 100
  /// The longest body that is read without asking the owner.
  public var bodyBytesMax = 1 << 20
  /// Whether the owner is asked about a longer body (`asksForBody`); otherwise it is refused.
  public var asksForLongerBodies = false
  /// The most bytes that all extensions of a body's chunks may have.
  public var chunkExtensionBytesMax = 4 << 10
  /// The largest number of requests that the owner has at once. Only requests that change nothing and
  /// have no body are delivered together; any other is delivered alone.
  public var pipelinedMax = 8
  /// While more bytes than these wait to be sent, no further request is read.
  public var unsentBytesMax = 64 << 10

  /// Milliseconds for a head to arrive, from its first byte, or from the opening of the connection
  /// for the first one.
  public var headMilliseconds: Int64 = 10_000
  /// Milliseconds for a body to arrive, beyond those for the bytes that have.
  public var bodyMilliseconds: Int64 = 10_000
  /// Bytes of a body that must arrive in a second, on average.
  public var bodyBytesPerSecondMin = 16 << 10
  /// Milliseconds for which a connection may stay open between two requests.
  public var idleMilliseconds: Int64 = 30_000
  /// Milliseconds for a client to read each 64 KiB of the responses, or the rest; also for the owner to answer a client
  /// that has ended its sending side.
  public var responseMilliseconds: Int64 = 30_000
  /// Milliseconds for which unread bytes are dropped at the end, so that the last answer is not
  /// lost to a reset. The rest of a refused body gets more, as long as it comes at `bodyBytesPerSecondMin`.
  public var lingerMilliseconds: Int64 = 2_000

  /// Makes limits at their defaults.
  public init() {}
}
