package import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// The forms of responses.
extension Response {
  /// A JSON response.
  package static func json(_ status: Int, _ body: [UInt8]) -> Response {
    Response(
      status: status,
      headers: [("content-type", "application/json"), ("cache-control", "no-store")], body: body)
  }

  /// A response in plain text.
  package static func plain(_ status: Int, _ text: String) -> Response {
    Response(
      status: status, headers: [("content-type", "text/plain; charset=utf-8")],
      body: Array(text.utf8))
  }

  /// Returns the response with an additional header.
  package func with(_ name: String, _ value: String) -> Response {
    var response = self
    response.headers.append((name, value))
    return response
  }

  /// Returns a page of a list with a link to the next page, if there is one.
  func followed(by next: String?) -> Response {
    next.map { with("link", "</api/\($0)>; rel=\"next\"") } ?? self
  }

  /// Whether the request succeeded.
  var isSuccess: Bool { (200...299).contains(status) }

  // MARK: Errors

  /// An error with a code for programs and a message for users.
  package static func problem(_ status: Int, _ code: ErrorCode, _ message: String) -> Response {
    let body = JSONWriter.object { object, body in
      object.field("code", code.rawValue, &body)
      object.field("message", message, &body)
    }
    return json(status, body)
  }

  /// An error with the status of its code.
  static func problem(_ code: ErrorCode, _ message: String) -> Response {
    problem(code.status, code, message)
  }

  /// The error for a request that the token does not grant. A missing note gets the same error.
  static var notGranted: Response {
    .problem(403, .notAllowed, "the token does not grant this")
  }

  /// The error after a failure of the store.
  static var storeFailed: Response {
    .problem(503, .unavailable, "the store cannot do this now; try again later")
  }

  /// The error for an edit that expected another revision.
  static func outdated(expected: Int, head: Int) -> Response {
    problem(412, .outdated, "the note is at revision \(head), not at \(expected); read it again")
      .of(revision: head)
  }

  /// The error for an edit whose base revision is no longer stored.
  static var baseGone: Response {
    .problem(410, .historyGone, "that revision is too far back; read the note again")
  }

  /// The error for an invalid folder path.
  static func unfit(_ error: FolderPathError) -> Response {
    error.isOfSize
      ? .problem(413, .tooLarge, "\(error)") : .problem(400, .badMessage, "\(error)")
  }

  /// The error for a method that the path does not offer, with the offered ones.
  static func methodNotAllowed(_ methods: String...) -> Response { methodNotAllowed(methods) }

  /// The error for a method that the path does not offer, with the offered ones.
  package static func methodNotAllowed(_ methods: [String]) -> Response {
    let allowed = listed(methods)
    return problem(405, .badMessage, "this path takes \(allowed)").with("allow", allowed)
  }

  /// The response to `OPTIONS`, which some proxies use as a health check.
  package static func options(_ methods: String...) -> Response {
    Response(status: 204, headers: [("allow", listed(methods + ["OPTIONS"]))])
  }

  /// Lists methods as a header does. `HEAD` follows `GET`.
  static func listed(_ methods: [String]) -> String {
    methods.flatMap { $0 == "GET" ? [$0, "HEAD"] : [$0] }.joined(separator: ", ")
  }

  /// The error for a body of another content type.
  static func unsupported(_ expected: BodyType) -> Response {
    problem(415, .badMessage, "expected the content-type \(expected.rawValue), or none")
      .with("accept", expected.rawValue)
  }

  /// Returns the response with `Retry-After`, which HTTP measures in whole seconds.
  ///
  /// - Parameter retryAfter: Milliseconds; `nil` lets the sender add the header.
  static func tooMany(_ response: Response, retryAfter: Int?) -> Response {
    guard let retryAfter else { return response }
    return response.with("retry-after", "\(max(1, (retryAfter + 999) / 1_000))")
  }

  /// 503; `Retry-After` is added when it is sent.
  static func busy(_ message: String) -> Response {
    .tooMany(.problem(503, .busy, message), retryAfter: nil)
  }

  /// 503 for a token that cannot be verified now; `Retry-After` is added when it is sent.
  static var unverified: Response {
    .tooMany(
      .problem(503, .unavailable, AuthenticationError.unverified.words), retryAfter: nil)
  }

  /// The error for a token that is missing (401), rejected (403), or cannot be verified now (503).
  static func refusal(_ error: AuthenticationError) -> Response {
    if error == .unverified { return .unverified }
    return problem(error == .missing ? 401 : 403, .unauthorised, error.words)
  }

  /// The error for an API key at an address that does not accept keys.
  static var keyElsewhere: Response {
    problem(
      401, .unauthorised, "API keys count at the address that api-listen names; ask there"
    ).challenging
  }

  /// The response with the accepted kind of credentials.
  var challenging: Response { with("www-authenticate", "Bearer") }

  /// The error for a WebSocket at a path that offers none.
  package static var noSocketHere: Response {
    plain(404, "WebSockets are at /ws, /socket and /faye, and for apps at /app/{key}.\n")
  }

  // MARK: Revisions

  /// The response to an edit: the new revision, or the one that has its text already.
  static func edited(_ revision: Int) -> Response {
    let body = JSONWriter.object { $0.field("revision", revision, &$1) }
    return json(200, body).of(revision: revision)
  }

  /// Returns the response with the note's revision as entity tag.
  func of(revision: Int) -> Response { with("etag", "\"\(revision)\"") }

  // MARK: Repetitions

  /// The response, marked as a replay.
  var replayed: Response {
    headers.contains { $0.name == "idempotency-replayed" }
      ? self : with("idempotency-replayed", "true")
  }

  /// The error for a key that was used for another request.
  static var keyReused: Response {
    problem(
      422, .keyReused,
      "the Idempotency-Key was used for another request of this method and path; take a new one")
  }
}

extension FolderPath {
  /// Parses the path in a request.
  init(asked text: String) throws(Response) {
    do throws(FolderPathError) { try self.init(text) } catch { throw .unfit(error) }
  }
}

extension ErrorCode {
  /// The HTTP status of an error with this code.
  var status: Int {
    switch self {
    case .tooLarge, .tooMany: 413
    case .tooFast: 429
    case .notAllowed, .unauthorised: 403
    case .keyReused, .conflict: 409
    case .outdated: 412
    case .unavailable, .busy, .damaged: 503
    default: 400
    }
  }
}
