#if os(Linux)
  import ParleyWebSocketClient
#elseif canImport(Darwin)
  import Foundation
#endif

/// The system's transport: `URLSession` on Apple's systems, sockets and OpenSSL on Linux.
public struct SystemTransport: ClientTransport {
  let address: String
  let certificatesFile: String?
  private let endpoint: Endpoint

  /// The path below the server's address, and the offered subprotocol.
  package struct Endpoint: Sendable {
    let path: String
    let query: String?
    let subprotocol: String?

    /// The endpoint of Parley's own protocol.
    package static let parley = Endpoint(path: "ws", query: nil, subprotocol: "parley.v1")

    /// Creates the endpoint of another protocol. Its path ends with a slash.
    package init(path: String, query: String?, subprotocol: String? = nil) {
      self.path = path
      self.query = query
      self.subprotocol = subprotocol
    }

    /// Returns the whole path, for a server's path.
    func path(under path: String) -> String {
      if path.hasSuffix("/" + self.path) { return path }
      return path + (path.hasSuffix("/") ? "" : "/") + self.path
    }
  }

  /// Creates a transport to a server.
  ///
  /// - Parameters:
  ///   - address: The server's address, `wss://notes.example.org` or with `https`; `ws` is appended
  ///     to its path unless the path already ends with it.
  ///   - certificatesFile: A file of certificates in PEM form that are trusted instead of the
  ///     system's. Only on Linux; elsewhere the device's trust is used.
  public init(_ address: String, trusting certificatesFile: String? = nil) {
    self.init(address, trusting: certificatesFile, endpoint: .parley)
  }

  /// Creates a transport of another protocol.
  package init(_ address: String, trusting certificatesFile: String?, endpoint: Endpoint) {
    self.address = address
    self.certificatesFile = certificatesFile
    self.endpoint = endpoint
  }

  /// Whether a text is a valid server address. With an invalid one, every attempt to connect fails.
  package static func isAddress(_ text: String) -> Bool {
    #if os(Linux)
      WebSocketURL(text) != nil
    #elseif canImport(Darwin)
      URLComponents(string: text)?.host != nil
    #endif
  }

  #if os(Linux)
    /// Opens a connection.
    public func open() async throws -> any ClientConnection {
      guard var url = WebSocketURL(address) else { throw WebSocketFailure.badURL }
      url.path = endpoint.path(under: url.path)
      if let query = endpoint.query { url.path += "?" + query }
      let options = WebSocketConnection.Options(
        subprotocol: endpoint.subprotocol, certificatesFile: certificatesFile)
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
      parts.path = endpoint.path(under: parts.path)
      if let query = endpoint.query { parts.query = query }
      guard let url = parts.url else { throw URLError(.badURL) }
      return try await URLSessionConnection.open(url, subprotocol: endpoint.subprotocol)
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
