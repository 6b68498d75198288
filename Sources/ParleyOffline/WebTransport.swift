#if os(Linux)
  import ParleyWebSocketClient
#elseif canImport(Darwin)
  import Foundation
#endif

/// An HTTP request.
public struct WebRequest: Sendable {
  /// The method, such as `GET`.
  public var method: String
  /// The URL with its query.
  public var url: String
  /// The headers.
  public var headers: [(name: String, value: String)]
  /// The body.
  public var body: [UInt8]

  /// Creates a request.
  public init(
    _ method: String, _ url: String, headers: [(name: String, value: String)] = [],
    body: [UInt8] = []
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

/// An HTTP response.
public struct WebResponse: Sendable {
  /// The status.
  public var status: Int
  /// The headers, their names in lower case.
  public var headers: [(name: String, value: String)]
  /// The body.
  public var body: [UInt8]

  /// Creates a response.
  public init(
    status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []
  ) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Returns the value of a header; of several, the last one.
  public func header(_ name: String) -> String? {
    headers.last { $0.name == name.lowercased() }?.value
  }
}

/// A request was not sent, because there was no connection.
public struct WebRequestNotSent: Error, Sendable, CustomStringConvertible {
  /// The reason.
  public let description: String

  /// Creates the error.
  public init(_ description: String) { self.description = description }
}

/// A transport for HTTP requests.
public protocol WebTransport: Sendable {
  /// Sends a request, and returns the response, whatever its status.
  ///
  /// - Throws: ``WebRequestNotSent`` if nothing was sent; another error if no response arrived, and
  ///   the
  ///   server may have received the request.
  func send(_ request: WebRequest) async throws -> WebResponse
}

/// The system's HTTP transport: `URLSession` on Apple's systems, which this repository's own builds
/// do not compile; on Linux sockets and OpenSSL, with one connection for each request.
public struct SystemWebTransport: WebTransport {
  /// Creates a transport.
  public init() {}

  #if !os(Linux) && canImport(Darwin)
    /// The failures of opening a connection.
    private static let notSent: Set<URLError.Code> = [
      .badURL, .unsupportedURL, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost,
      .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive,
      .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRequired,
      .appTransportSecurityRequiresSecureConnection,
    ]
  #endif

  /// Sends a request, and returns the response, whatever its status.
  public func send(_ request: WebRequest) async throws -> WebResponse {
    #if os(Linux)
      guard let url = WebSocketURL(request.url) else {
        throw WebRequestNotSent("\(WebSocketFailure.badURL)")
      }
      let exchange = HTTPExchange(
        method: request.method, url: url, headers: request.headers, body: request.body)
      let answer: HTTPAnswer
      do throws(HTTPExchange.Failure) {
        answer = try await exchange.run()
      } catch {
        // Until the connection is open, no byte of the request is sent.
        if case .connection(let reason) = error, reason != .timedOut {
          throw WebRequestNotSent("\(reason)")
        }
        throw error
      }
      return WebResponse(status: answer.status, headers: answer.headers, body: answer.body)
    #elseif canImport(Darwin)
      guard let url = URL(string: request.url) else { throw URLError(.badURL) }
      var whole = URLRequest(url: url)
      whole.httpMethod = request.method
      for (name, value) in request.headers { whole.setValue(value, forHTTPHeaderField: name) }
      if !request.body.isEmpty { whole.httpBody = Data(request.body) }
      let (body, response): (Data, URLResponse)
      do {
        (body, response) = try await URLSession.shared.data(for: whole)
      } catch let error as URLError where Self.notSent.contains(error.code) {
        throw WebRequestNotSent(error.localizedDescription)
      }
      guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
      let headers = response.allHeaderFields.compactMap { field -> (name: String, value: String)? in
        guard let name = field.key as? String, let value = field.value as? String else {
          return nil
        }
        return (name.lowercased(), value)
      }
      return WebResponse(status: response.statusCode, headers: headers, body: Array(body))
    #endif
  }
}
