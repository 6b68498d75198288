import ParleyClient
import ParleyLocks
import SocketMessages

/// A connection to the server of a test, without a socket: each message is received within the
/// client's call that sends it.
final class ScriptedConnection: ClientConnection {
  private let incoming = Feed<[UInt8]>(bound: 100_000)
  private let code = Locked<UInt16>(1006)
  private let take: @Sendable ([UInt8], ScriptedConnection) -> Void

  init(_ take: @escaping @Sendable ([UInt8], ScriptedConnection) -> Void) { self.take = take }

  func send(_ message: [UInt8]) { take(message, self) }

  func receive() async throws(ConnectionEnd) -> [UInt8] {
    guard let bytes = await incoming.next() else { throw ConnectionEnd(code: code.withLock { $0 }) }
    return bytes
  }

  func close() { incoming.finish() }

  /// Ends the connection as a server does, with a close code.
  func end(_ code: UInt16) {
    self.code.withLock { $0 = code }
    incoming.finish()
  }

  func push(_ message: ServerMessage, to id: String = "s") {
    var bytes: [UInt8] = []
    message.encode(messageID: id, into: &bytes)
    incoming.put(bytes) { Array($0) }
  }
}
