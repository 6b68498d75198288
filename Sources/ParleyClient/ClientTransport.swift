/// A way to open connections: the system's, or one of your own.
public protocol ClientTransport: Sendable {
  /// Opens a connection that offers the subprotocol `parley.v1`.
  ///
  /// - Throws: Any error; its description is shown in ``Parley/problem``. The client tries again.
  func open() async throws -> any ClientConnection
}

/// An open connection of text messages.
public protocol ClientConnection: Sendable {
  /// Sends a message after those sent before. It does not wait: what waits for the network is the
  /// connection's, which ends when that is too much.
  func send(_ message: [UInt8])

  /// Returns the next message. It is called again after each; a connection reads no more than it can
  /// hold until then.
  ///
  /// - Throws: ``ConnectionEnd``, after all messages that came before the end.
  func receive() async throws(ConnectionEnd) -> [UInt8]

  /// Begins to end the connection: messages sent before still leave.
  func close()
}

/// The end of a connection.
public struct ConnectionEnd: Error, Sendable, Hashable {
  /// The status of the server's close frame; 1006 if it is not known.
  public let code: UInt16

  /// Makes an end.
  public init(code: UInt16) { self.code = code }
}
