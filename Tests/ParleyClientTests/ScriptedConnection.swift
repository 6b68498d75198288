import ParleyClient
import SocketMessages

/// A connection to a server that is a test's, without a socket: what the client sends is taken in the
/// call that sends it.
final class ScriptedConnection: ClientConnection {
  private let incoming = Feed<[UInt8]>(bound: 100_000)
  private let take: @Sendable ([UInt8], ScriptedConnection) -> Void

  init(_ take: @escaping @Sendable ([UInt8], ScriptedConnection) -> Void) { self.take = take }

  func send(_ message: [UInt8]) { take(message, self) }

  func receive() async throws(ConnectionEnd) -> [UInt8] {
    guard let bytes = await incoming.next() else { throw ConnectionEnd(code: 1006) }
    return bytes
  }

  func close() { incoming.finish() }

  func push(_ message: ServerMessage, to id: String = "s") {
    var bytes: [UInt8] = []
    message.encode(messageID: id, into: &bytes)
    incoming.put(bytes) { Array($0) }
  }
}
