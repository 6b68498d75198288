/// The number of connections refused before a request was read, by reason.
///
/// With TLS they get no response, because a handshake would cost more than the refusal.
public struct RefusedConnections: Sendable, Equatable {
  /// The server had its maximum connections.
  public var full = 0
  /// The address had its maximum connections.
  public var fullForAddress = 0
  /// The address exceeded its connect rate.
  public var tooFast = 0
  /// A proxy's connection did not begin with a header of the PROXY protocol.
  public var withoutProxyHeader = 0

  /// Idle connections that were closed to make room for new ones, because the server was full.
  public var idle = 0

  /// Creates zero counts.
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
