#if os(Linux)
  import ParleyWebSocketClient
#elseif canImport(Darwin)
  import Foundation
#endif

/// A request over HTTP to a Parley server.
public struct ServerRequest: Sendable {
  /// The method, such as `GET`.
  public var method: String
  /// The path below the server's address, with its query: `/api/notes?limit=100`.
  public var path: String
  /// The headers.
  public var headers: [(name: String, value: String)]
  /// The body.
  public var body: [UInt8]

  /// Creates a request.
  public init(
    _ method: String, _ path: String, headers: [(name: String, value: String)] = [],
    body: [UInt8] = []
  ) {
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
  }
}

/// A server's answer to a ``ServerRequest``.
public struct ServerAnswer: Sendable {
  /// The status.
  public var status: Int
  /// The body.
  public var body: [UInt8]

  /// Creates an answer.
  public init(status: Int, body: [UInt8] = []) {
    self.status = status
    self.body = body
  }
}

/// Sends a client's requests over HTTP; the system's transport or a custom one.
public protocol RequestTransport: Sendable {
  /// Sends a request, and returns the answer, whatever its status.
  ///
  /// - Throws: Any error if there was no answer. The server may have received the request.
  func send(_ request: ServerRequest) async throws -> ServerAnswer
}

extension SystemTransport: RequestTransport {
  #if os(Linux)
    /// Sends a request over a connection of its own.
    public func send(_ request: ServerRequest) async throws -> ServerAnswer {
      guard var url = WebSocketURL(address) else { throw WebSocketFailure.badURL }
      url.path = Self.basePath(of: url.path) + request.path
      var exchange = HTTPExchange(
        method: request.method, url: url, headers: request.headers, body: request.body)
      exchange.certificatesFile = certificatesFile
      let answer = try await exchange.run()
      return ServerAnswer(status: answer.status, body: answer.body)
    }
  #elseif canImport(Darwin)
    /// Sends a request by `URLSession`.
    public func send(_ request: ServerRequest) async throws -> ServerAnswer {
      guard var parts = URLComponents(string: address), parts.host != nil else {
        throw URLError(.badURL)
      }
      if parts.scheme == "ws" { parts.scheme = "http" }
      if parts.scheme == "wss" { parts.scheme = "https" }
      let path = request.path.split(separator: "?", maxSplits: 1).map(String.init)
      parts.percentEncodedPath = Self.basePath(of: parts.percentEncodedPath) + (path.first ?? "")
      parts.percentEncodedQuery = path.count > 1 ? path[1] : nil
      guard let url = parts.url else { throw URLError(.badURL) }
      var whole = URLRequest(url: url, timeoutInterval: 30)
      whole.httpMethod = request.method
      for (name, value) in request.headers { whole.setValue(value, forHTTPHeaderField: name) }
      if !request.body.isEmpty { whole.httpBody = Data(request.body) }
      let (body, response) = try await URLSession.shared.data(for: whole)
      guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
      return ServerAnswer(status: response.statusCode, body: Array(body))
    }
  #endif

  /// Returns the path under which a server has its requests.
  static func basePath(of path: String) -> String {
    let base = path.hasSuffix("/ws") ? String(path.dropLast(3)) : path
    return base.hasSuffix("/") ? String(base.dropLast()) : base
  }
}
