public import GatewayPorts

/// A whole Parley: store, gateway and transport, wired together.
public final class Server: Sendable {
  /// Opens the store and the socket, and begins to serve.
  public init(configuration: Configuration, log: any LogSink) throws {
    throw FileError("the gateway's parts are not put together yet")
  }

  /// The port that is listened on, chosen by the system if 0 was asked for.
  public var port: Int { 0 }

  /// Tells clients to come back, writes what is accepted, ends all threads, and returns when that
  /// is done.
  public func stop(drainMilliseconds: Int) {}
}
