/// Opens connections to a server; the system's transport or a custom one.
public protocol ClientTransport: Sendable {
  /// Opens a connection that offers the subprotocol `parley.v1`.
  ///
  /// - Throws: Any error; its description is shown in ``Parley/problem``. The client retries.
  func open() async throws -> any ClientConnection
}

/// An open connection for text messages.
public protocol ClientConnection: Sendable {
  /// Sends a message after earlier ones, without waiting. The connection buffers it, and ends when
  /// its buffer is full.
  func send(_ message: [UInt8])

  /// Returns the next message. It is called again after each message; until then, a connection
  /// reads no more than it can buffer.
  ///
  /// - Throws: ``ConnectionEnd``, after all messages received before the end.
  func receive() async throws(ConnectionEnd) -> [UInt8]

  /// Starts to close the connection, after the messages sent before.
  func close()
}

/// The reason for the end of a connection.
public struct ConnectionEnd: Error, Sendable, Hashable {
  /// The status of the server's close frame; 1006 if unknown.
  public let code: UInt16

  /// Creates an end with a status.
  public init(code: UInt16) { self.code = code }
}

extension ConnectionEnd: CustomStringConvertible {
  /// The status in words.
  public var description: String { "the connection has ended: \(StopCause.words(ofClose: code))" }
}
