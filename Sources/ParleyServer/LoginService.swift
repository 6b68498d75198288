import CryptoOpenSSL
import Gateway
import GatewayPorts
import JSON
import SocketMessages

/// Logging in with a password, and getting new tokens, as Whaler clients do.
///
///     POST /api/user/login     {"email": "…", "password": "…"}
///     POST /api/user/refresh   {"refreshToken": "…"}
///
/// Used on the loop's thread; passwords are compared on another.
final class LoginService {
  /// The codes that these clients know.
  enum Code: Int {
    case loggedIn = 1000
    case malformed = 4000
    case credentials = 4001
    case refreshToken = 4004
    case unavailable = 5001
  }

  private let tokens: SelfSignedTokens
  private let users: any UserSource
  private let thread: LoginThread
  private let names: any NameSource
  private let clock: any Clock
  private let revocations: any Revocations
  private let log: any LogSink
  private let accessMilliseconds: Int64
  private let refreshMilliseconds: Int64
  private var attempts = LoginAttempts()

  init(
    tokens: SelfSignedTokens, users: any UserSource, thread: LoginThread, names: any NameSource,
    clock: any Clock, revocations: any Revocations, log: any LogSink, accessMilliseconds: Int64,
    refreshMilliseconds: Int64
  ) {
    self.tokens = tokens
    self.users = users
    self.thread = thread
    self.names = names
    self.clock = clock
    self.revocations = revocations
    self.log = log
    self.accessMilliseconds = accessMilliseconds
    self.refreshMilliseconds = refreshMilliseconds
  }

  /// Answers a request to log in, or for new tokens; `nil` if the answer follows when a password was
  /// compared.
  func answer(
    _ request: RequestID, _ head: RequestHead, _ body: [UInt8], at resource: Resource
  ) -> Response? {
    guard resource.route(head.method) != nil else {
      var response = Self.problem(.malformed, "This path takes POST", status: 405)
      response.headers.append(("allow", "POST"))
      return response
    }
    guard let fields = Self.fields(in: body) else {
      return Self.problem(.malformed, "Expected a JSON object")
    }
    return resource.page == .login
      ? logIn(request, head.remoteAddress, fields) : refresh(fields)
  }

  // MARK: Logging in

  private func logIn(_ request: RequestID, _ address: String, _ fields: Fields) -> Response? {
    guard let user = fields.email, let password = fields.password, user.utf8.count <= 200,
      password.utf8.count <= PasswordHash.passwordBytesMax
    else {
      return Self.problem(.malformed, "Expected email and password")
    }
    let wait = attempts.wait(address: address, user: user, now: clock.uptime)
    guard wait == 0 else {
      log.write(.notice, "login refused", [("reason", "too many failures")])
      var response = Self.problem(
        .credentials, "Too many logins have failed; try again later", status: 429)
      response.headers.append(("retry-after", "\((wait + 999) / 1_000)"))
      return response
    }
    let job = LoginThread.Job(request: request, user: user, password: password, source: address)
    guard thread.submit(job) else {
      return Self.problem(.unavailable, "Too many log in; try again", status: 503)
    }
    return nil
  }

  /// A password was compared.
  func finish(_ job: LoginThread.Job, _ user: User?) -> Response {
    guard let user else {
      attempts.failed(address: job.source, user: job.user, now: clock.uptime)
      log.write(.notice, "login refused", [("reason", "credentials")])
      return Self.problem(.credentials, "Invalid login credentials. Please try again")
    }
    attempts.succeeded(address: job.source, user: job.user)
    return welcome(user)
  }

  // MARK: New tokens

  private func refresh(_ fields: Fields) -> Response {
    guard let token = fields.refreshToken else {
      return Self.problem(.malformed, "Expected refreshToken")
    }
    do throws(AuthenticationError) {
      let identity = try tokens.identity(ofRefreshToken: token, now: clock.now)
      guard !revocations.isRevoked(identity), let user = users.user(identity.user) else {
        throw .revoked
      }
      // The end stays where the login has put it.
      return welcome(user, refreshUntil: identity.expiresAt)
    } catch {
      log.write(.notice, "refresh refused", [("reason", "\(error)")])
      return Self.problem(.refreshToken, "Refresh token invalid")
    }
  }

  private func welcome(_ user: User, refreshUntil: Timestamp? = nil) -> Response {
    var now = clock.now
    // Who was just put out and logs in again within the same millisecond is in.
    if revocations.isRevoked(Identity(user: user.id, issuedAt: now, grants: [])) { now += 1 }
    let access = tokens.accessToken(
      for: user, id: names.next(), issuedAt: now, expiresAt: now + accessMilliseconds)
    let refresh = tokens.refreshToken(
      for: user, id: names.next(), issuedAt: now,
      expiresAt: refreshUntil ?? now + refreshMilliseconds)
    return Self.response(.loggedIn, "Logged in", status: 200) { data, body in
      data.key("response", &body)
      JSONWriter.object(&body) { object, body in
        object.field("id", user.id, &body)
        object.field("email", user.id, &body)
        object.field("name", user.name, &body)
      }
      data.key("tokens", &body)
      JSONWriter.object(&body) { object, body in
        object.field("accessToken", access, &body)
        object.field("refreshToken", refresh, &body)
      }
    }
  }

  // MARK: JSON

  private struct Fields {
    var email: String?
    var password: String?
    var refreshToken: String?
  }

  private static func fields(in body: [UInt8]) -> Fields? {
    JSONBody.fields(in: body, Fields()) { fields, key, reader throws(JSONError) in
      switch key {
      case "email": fields.email = try reader.string()
      case "password": fields.password = try reader.string()
      case "refreshToken": fields.refreshToken = try reader.string()
      default: try reader.skipValue()
      }
    }
  }

  /// An error as these clients know it: their own code, in most cases with status 200.
  private static func problem(_ code: Code, _ message: String, status: Int = 200) -> Response {
    response(code, message, status: status) { _, _ in }
  }

  private static func response(
    _ code: Code, _ message: String, status: Int,
    _ data: (inout JSONWriter.Object, inout [UInt8]) -> Void
  ) -> Response {
    var body: [UInt8] = []
    JSONWriter.object(&body) { object, body in
      object.field("code", code.rawValue, &body)
      object.field("message", message, &body)
      object.field("hasError", code != .loggedIn, &body)
      object.key("data", &body)
      JSONWriter.object(&body, data)
    }
    return Response(
      status: status,
      headers: [("content-type", "application/json"), ("cache-control", "no-store")], body: body)
  }
}
