#if os(Linux)
  import ParleyWebSocketClient
#elseif canImport(Darwin)
  import Foundation
#endif

/// The system's transport: `URLSession` on Apple's systems, sockets and OpenSSL on Linux.
public struct SystemTransport: ClientTransport {
  let address: String
  let certificatesFile: String?

  /// Creates a transport to a server.
  ///
  /// - Parameters:
  ///   - address: The server's address, `wss://notes.example.org` or with `https`; `ws` is appended
  ///     to its path unless the path already ends with it.
  ///   - certificatesFile: A file of certificates in PEM form that are trusted instead of the
  ///     system's. Only on Linux; elsewhere the device's trust is used.
  public init(_ address: String, trusting certificatesFile: String? = nil) {
    self.address = address
    self.certificatesFile = certificatesFile
  }

  /// Whether a text is a valid server address. With an invalid one, every attempt to connect fails.
  package static func isAddress(_ text: String) -> Bool {
    #if os(Linux)
      WebSocketURL(text) != nil
    #elseif canImport(Darwin)
      URLComponents(string: text)?.host != nil
    #endif
  }

  /// Returns the path of `parley.v1` below a server's path.
  static func socketPath(under path: String) -> String {
    path.hasSuffix("/ws") ? path : path.hasSuffix("/") ? path + "ws" : path + "/ws"
  }

  #if os(Linux)
    /// Opens a connection.
    public func open() async throws -> any ClientConnection {
      guard var url = WebSocketURL(address) else { throw WebSocketFailure.badURL }
      url.path = Self.socketPath(under: url.path)
      let options = WebSocketConnection.Options(
        subprotocol: "parley.v1", certificatesFile: certificatesFile)
      return SocketConnection(socket: try await WebSocketConnection.open(url, options))
    }
  #elseif canImport(Darwin)
    /// Opens a connection.
    public func open() async throws -> any ClientConnection {
      guard var parts = URLComponents(string: address), parts.host != nil else {
        throw URLError(.badURL)
      }
      if parts.scheme == "http" { parts.scheme = "ws" }
      if parts.scheme == "https" { parts.scheme = "wss" }
      parts.path = Self.socketPath(under: parts.path)
      guard let url = parts.url else { throw URLError(.badURL) }
      return try await URLSessionConnection.open(url)
    }
  #endif
}

#if os(Linux)
  private struct SocketConnection: ClientConnection {
    let socket: WebSocketConnection

    func send(_ message: [UInt8]) { socket.send(message) }

    func receive() async throws(ConnectionEnd) -> [UInt8] {
      do throws(WebSocketEnd) {
        return try await socket.receive()
      } catch {
        throw ConnectionEnd(code: error.code)
      }
    }

    func close() { socket.close() }
  }
#endif
