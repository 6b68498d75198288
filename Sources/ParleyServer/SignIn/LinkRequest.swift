import ParleyGatewayPorts
import ParleyHTTPClientCurl
import ParleyJSON

/// Requests links to a note from a running server, and publishes the note under a name.
package struct LinkRequest {
  /// The reason why a request failed.
  package enum Failure: Error, Equatable, CustomStringConvertible {
    /// The server's address begins with none of `http://`, `https://`, `ws://`, `wss://`.
    case address
    /// The server could not be reached, for this reason.
    case unreachable(String)
    /// The server rejected the request, with this status and message.
    case refused(status: Int, String)
    /// The response is not one of a Parley server.
    case foreign(status: Int)

    /// A message for people, which includes the remedy where one is known.
    package var description: String {
      switch self {
      case .address:
        "expected the server's address to begin with http://, https://, ws:// or wss://"
      case .unreachable(let reason): "the server does not answer: \(reason)"
      case .refused(401, let words): "\(words); name a token's file by --token-file"
      case .refused(_, let words): words
      case .foreign(let status): "status \(status), but not from Parley; check --server"
      }
    }
  }

  /// A link to a note, or the address of a published note.
  package struct Link {
    /// The address for browsers; a link's token follows the `#`.
    package let address: String
    /// The server's JSON response, with the `address` added.
    package let json: String
  }

  /// The server's address without a slash at its end, such as `https://notes.example.org`.
  private let base: String
  private let token: String?
  private let trust: String?

  /// Prepares requests to a server.
  ///
  /// - Parameters:
  ///   - server: The server's address, with the scheme of a page or of WebSockets.
  ///   - token: A token with the right to manage the note, or an API key; `nil` for none.
  ///   - trust: A file of PEM certificates that are trusted instead of the system's.
  /// - Throws: ``Failure/address``.
  package init(server: String, token: String?, trust: String?) throws(Failure) {
    let schemes = [
      "ws://": "http://", "wss://": "https://", "http://": "http://", "https://": "https://",
    ]
    let found = schemes.first { server.utf8.starts(with: $0.key.utf8) }
    guard let (scheme, plain) = found else { throw .address }
    var rest = server.utf8.dropFirst(scheme.utf8.count)
    while rest.last == UInt8(ascii: "/") { rest.removeLast() }
    guard !rest.isEmpty else { throw .address }
    base = plain + String(decoding: rest, as: UTF8.self)
    self.token = token
    self.trust = trust
  }

  /// Creates a link.
  ///
  /// - Parameters:
  ///   - note: The note's id.
  ///   - access: The rights that the link gives: `read`, `comment` or `write`.
  ///   - seconds: The lifetime of the link; `nil` for the server's default.
  package func link(
    to note: String, access: String, seconds: Int?
  ) throws(Failure) -> Link {
    let body = JSONWriter.object {
      $0.field("access", access, &$1)
      if let seconds { $0.field("expiresIn", seconds, &$1) }
    }
    let (status, answer) = try ask(note, "POST", "share", body: body)
    guard status == 201, var fields = answer?.fields, let path = fields["path"]?.string else {
      throw .foreign(status: status)
    }
    fields.append(JSONFields.Field("address", JSONValue(base + path)))
    return Link(
      address: base + path, json: String(decoding: JSONValue(fields).utf8, as: UTF8.self))
  }

  /// Ends all existing links of a note.
  package func endAll(to note: String) throws(Failure) {
    let (status, _) = try ask(note, "DELETE", "share", body: nil)
    guard status == 204 else { throw .foreign(status: status) }
  }

  /// Publishes a note under a name.
  package func publish(_ note: String, as name: String) throws(Failure) -> Link {
    let body = JSONWriter.object { $0.field("name", name, &$1) }
    let (status, answer) = try ask(note, "PUT", "name", body: body)
    guard status == 200, var fields = answer?.fields, let path = fields["path"]?.string else {
      throw .foreign(status: status)
    }
    fields.append(JSONFields.Field("address", JSONValue(base + path)))
    return Link(
      address: base + path, json: String(decoding: JSONValue(fields).utf8, as: UTF8.self))
  }

  /// Withdraws the name of a published note.
  package func withdrawName(of note: String) throws(Failure) {
    let (status, _) = try ask(note, "DELETE", "name", body: nil)
    guard status == 204 else { throw .foreign(status: status) }
  }

  /// Sends a request about the links or the name of a note, and blocks until the response.
  private func ask(
    _ note: String, _ method: String, _ resource: String, body: [UInt8]?
  ) throws(Failure) -> (status: Int, answer: JSONValue?) {
    var headers = ["content-type: application/json"]
    if let token { headers.append("authorization: Bearer \(token)") }
    var request = CurlClient.Request(
      url: "\(base)/api/notes/\(PercentEncoding.encoded(note))/\(resource)", headers: headers,
      body: body, timeoutMilliseconds: 10_000)
    request.method = method
    request.trustedCertificates = trust
    request.keptBytesMax = 64 << 10
    let client = CurlClient(waker: CurlClient.Waker())
    client.start(request, key: 0)
    while true {
      switch client.wait(atMostMilliseconds: 10_000).first?.outcome {
      case .answered(let status, _):
        let answer = client.body(of: 0).flatMap { JSONValue($0) }
        if status >= 400, let words = answer?.fields?["message"]?.string {
          throw .refused(status: status, words)
        }
        return (status, answer)
      case .failed(let reason): throw .unreachable(reason)
      // `wait` may return early without an outcome. The client enforces the request's time limit.
      case nil: continue
      }
    }
  }
}
