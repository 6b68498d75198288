/// Counts of connections that were refused before a request was read, by reason.
///
/// With TLS they get no answer, for a handshake would cost more than the refusal.
public struct RefusedConnections: Sendable, Equatable {
  /// The server had as many connections as it may have.
  public var full = 0
  /// The address had.
  public var fullForAddress = 0
  /// The address opened connections faster than it may.
  public var tooFast = 0
  /// A proxy's connection did not begin with a header of the PROXY protocol.
  public var unannounced = 0

  /// Connections without a request that were closed for newcomers, since the server was full.
  public var idle = 0

  /// Counts nothing yet.
  public init() {}

  mutating func count(_ verdict: ConnectionCounts.Verdict) {
    switch verdict {
    case .welcome: break
    case .full: full += 1
    case .fullForAddress: fullForAddress += 1
    case .tooFast: tooFast += 1
    }
  }
}
