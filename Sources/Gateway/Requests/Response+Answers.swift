package import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// The forms that answers have.
extension Response {
  /// A JSON response.
  package static func json(_ status: Int, _ body: [UInt8]) -> Response {
    Response(
      status: status,
      headers: [("content-type", "application/json"), ("cache-control", "no-store")], body: body)
  }

  /// A response in words.
  package static func plain(_ status: Int, _ text: String) -> Response {
    Response(
      status: status, headers: [("content-type", "text/plain; charset=utf-8")],
      body: Array(text.utf8))
  }

  /// The same answer with another header.
  package func with(_ name: String, _ value: String) -> Response {
    var response = self
    response.headers.append((name, value))
    return response
  }

  /// A page of a list, which names the one that follows, if there is one.
  func followed(by next: String?) -> Response {
    next.map { with("link", "</api/\($0)>; rel=\"next\"") } ?? self
  }

  /// Whether the request succeeded.
  var isSuccess: Bool { (200...299).contains(status) }

  // MARK: Refusals

  /// An error for programs and people.
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

  /// The refusal of a request that the token does not grant. It is the same for a missing note.
  static var notGranted: Response {
    .problem(403, .notAllowed, "the token does not grant this")
  }

  /// The refusal of a request after a failure of the store.
  static var storeFailed: Response {
    .problem(503, .unavailable, "the store cannot do this now; try again later")
  }

  /// The refusal of an edit that expected another revision.
  static func outdated(expected: Int, head: Int) -> Response {
    problem(412, .outdated, "the note is at revision \(head), not at \(expected); read it again")
      .of(revision: head)
  }

  /// The refusal of an edit whose base is no longer kept.
  static var baseGone: Response {
    .problem(410, .historyGone, "that revision is too far back; read the note again")
  }

  /// The refusal of a folder's path.
  static func unfit(_ error: FolderPathError) -> Response {
    error.isOfSize
      ? .problem(413, .tooLarge, "\(error)") : .problem(400, .badMessage, "\(error)")
  }

  /// An error that says which methods a path takes.
  static func methodNotAllowed(_ methods: String...) -> Response { methodNotAllowed(methods) }

  /// An error that says which methods a path takes.
  package static func methodNotAllowed(_ methods: [String]) -> Response {
    let allowed = listed(methods)
    return problem(405, .badMessage, "this path takes \(allowed)").with("allow", allowed)
  }

  /// The answer to `OPTIONS`, with which some proxies check whether the server is there.
  package static func options(_ methods: String...) -> Response {
    Response(status: 204, headers: [("allow", listed(methods + ["OPTIONS"]))])
  }

  /// Methods as a header lists them. Where GET is one of them, so is HEAD.
  static func listed(_ methods: [String]) -> String {
    methods.flatMap { $0 == "GET" ? [$0, "HEAD"] : [$0] }.joined(separator: ", ")
  }

  /// The answer to a body of another type.
  static func unsupported(_ expected: BodyType) -> Response {
    problem(415, .badMessage, "expected the content-type \(expected.rawValue), or none")
      .with("accept", expected.rawValue)
  }

  /// Adds when to try again, in whole seconds, as HTTP requires.
  ///
  /// - Parameter retryAfter: Milliseconds. Where they are not known, the response gets some when it is sent.
  static func tooMany(_ response: Response, retryAfter: Int?) -> Response {
    guard let retryAfter else { return response }
    return response.with("retry-after", "\(max(1, (retryAfter + 999) / 1_000))")
  }

  /// 503, with when to try again.
  static func busy(_ message: String) -> Response {
    .tooMany(.problem(503, .busy, message), retryAfter: nil)
  }

  /// 503 for a token that cannot be verified now, with when to try again.
  static var unverified: Response {
    .tooMany(
      .problem(503, .unavailable, AuthenticationError.unverified.words), retryAfter: nil)
  }

  /// The answer to a token that is missing (401), not accepted (403), or cannot be verified now (503).
  static func refusal(_ error: AuthenticationError) -> Response {
    if error == .unverified { return .unverified }
    return problem(error == .missing ? 401 : 403, .unauthorised, error.words)
  }

  /// The answer to an API key at an entrance where keys do not count.
  static var keyElsewhere: Response {
    problem(
      401, .unauthorised, "API keys count at the address that api-listen names; ask there"
    ).challenging
  }

  /// The same answer, which names the kind of credentials that are taken.
  var challenging: Response { with("www-authenticate", "Bearer") }

  /// The answer to a WebSocket at a path that has none.
  package static var noSocketHere: Response {
    plain(404, "WebSockets are at /ws, /socket and /faye, and for apps at /app/{key}.\n")
  }

  // MARK: Revisions

  /// An edit that made a revision, or found its text there already.
  static func edited(_ revision: Int) -> Response {
    let body = JSONWriter.object { $0.field("revision", revision, &$1) }
    return json(200, body).of(revision: revision)
  }

  /// The same answer, which names the note's revision as entity tag.
  func of(revision: Int) -> Response { with("etag", "\"\(revision)\"") }

  // MARK: Repetitions

  /// The same answer, called a repetition.
  var replayed: Response {
    headers.contains { $0.name == "idempotency-replayed" }
      ? self : with("idempotency-replayed", "true")
  }

  /// The answer to a key that was used for something else.
  static var keyReused: Response {
    problem(
      422, .keyReused,
      "the Idempotency-Key was used for another request of this method and path; take a new one")
  }
}

extension FolderPath {
  /// The path that a request names.
  init(asked text: String) throws(Response) {
    do throws(FolderPathError) { try self.init(text) } catch { throw .unfit(error) }
  }
}

extension ErrorCode {
  /// The status of an answer over HTTP that refuses with this code.
  var status: Int {
    switch self {
    case .tooLarge, .tooMany: 413
    case .tooFast: 429
    case .notAllowed, .unauthorised: 403
    case .keyReused: 409
    case .unavailable, .busy, .damaged: 503
    default: 400
    }
  }
}
