package import ParleyJSON
import ParleyModel
import Synchronization

/// A user's credentials for a server.
public struct Credentials: Sendable, Hashable {
  /// The user, by the name that the outbox uses.
  public let user: String
  /// The token, sent as `Authorization: Bearer`.
  public let token: String

  /// Creates credentials.
  public init(user: String, token: String) {
    self.user = user
    self.token = token
  }

  fileprivate func are(of user: String) -> Bool { self.user.isExactly(user) }
}

/// Returns the credentials of the signed-in user; `nil` if no user is signed in. It is called
/// before the first request, for a request of another user than the last one's, and with
/// credentials that were rejected with 401, to get newer ones. If it throws, it is retried.
public typealias CredentialsSource =
  @Sendable (_ refused: Credentials?) async throws -> Credentials?

/// A server with collections of resources as JSON over HTTP.
///
/// | change | request |
/// | --- | --- |
/// | create | `POST base/contacts` |
/// | update | `PATCH base/contacts/7` with the fields that changed |
/// | delete | `DELETE base/contacts/7` |
/// | action `comments` | `POST base/contacts/7/comments` |
///
/// Each request contains an `Idempotency-Key`, the device's id as `X-Sender-Id`, and its base
/// version as `If-Match`. A create's response contains the resource with its `id`, or a `Location`.
public final class RESTService: MutationSender, Sendable {
  /// The method of updates.
  public enum UpdateMethod: String, Sendable { case patch = "PATCH", post = "POST", put = "PUT" }

  private let base: String
  private let transport: any WebTransport
  /// The credentials from the source, and their state.
  private struct Access {
    var credentials: Credentials?
    /// Rejected credentials that have not been replaced yet.
    var refused: Credentials?
    /// The number of sign-outs.
    var session = 0
  }

  /// The user signed out while the source was called.
  private struct SignedOutMeanwhile: Error, CustomStringConvertible {
    var description: String { "the user has signed out meanwhile" }
  }

  private let updates: UpdateMethod
  private let versionField: String
  private let source: CredentialsSource?
  private let access = Mutex(Access())
  private let sender = Mutex<String?>(nil)

  /// Creates a service.
  ///
  /// - Parameters:
  ///   - base: The address that precedes collections' names, `https://api.example.org/v1`.
  ///   - updates: The method of updates. With `put` the app saves whole resources.
  ///   - versionField: The field of resources that contains their version, a string or a number.
  ///   - credentials: Returns the signed-in user's token; with `nil` no token is sent, for servers
  ///     without users.
  public init(
    _ base: String, updates: UpdateMethod = .patch, versionField: String = "version",
    transport: any WebTransport = SystemWebTransport(), credentials: CredentialsSource? = nil
  ) {
    self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
    self.updates = updates
    self.versionField = versionField
    self.transport = transport
    source = credentials
  }

  /// Sends a change; see ``MutationSender/send(_:)``.
  public func send(_ request: MutationRequest) async -> MutationAnswer {
    var headers = [
      (name: "Content-Type", value: "application/json"),
      (name: "Idempotency-Key", value: request.key),
    ]
    let used: Credentials?
    do {
      used = try await credentials(of: request.user)
    } catch {
      // An unreachable token server is no reason to ask the user to sign in.
      return .notSent
    }
    if source != nil {
      guard let used else { return .noToken }
      headers.append((name: "Authorization", value: "Bearer \(used.token)"))
    }
    if let base = request.base { headers.append((name: "If-Match", value: "\"\(base)\"")) }
    if let name = sender.withLock({ $0 }) { headers.append((name: "X-Sender-Id", value: name)) }
    let path = base + "/" + request.resource
    let thing = request.id.map { path + "/" + Self.escaped($0.description) }
    let whole: WebRequest
    switch (request.kind, thing) {
    case (.create, _): whole = WebRequest("POST", path, headers: headers, body: request.body)
    case (.update, let thing?):
      whole = WebRequest(updates.rawValue, thing, headers: headers, body: request.body)
    case (.delete, let thing?): whole = WebRequest("DELETE", thing, headers: headers)
    case (.action(let name), let thing?):
      whole = WebRequest("POST", thing + "/" + name, headers: headers, body: request.body)
    case (_, nil): return .refused(status: 404, reason: "the resource has no id")
    }
    let response: WebResponse
    do {
      response = try await transport.send(whole)
    } catch is WebRequestNotSent {
      return .notSent
    } catch {
      return .unreachable
    }
    if response.status == 401, let used { refuse(used) }
    return answer(response, to: request)
  }

  /// Fetches credentials to replace rejected ones; see ``MutationSender/renewToken(of:)``. If the
  /// source throws, the next request calls it again.
  public func renewToken(of user: String) async -> Bool {
    guard source != nil else { return false }
    do {
      return try await credentials(of: user) != nil
    } catch {
      // Whether a user is signed in is unknown: the next request finds out, or is retried.
      return true
    }
  }

  /// Discards the token: the user has signed out, or another one has signed in.
  public func signOut() {
    access.withLock { $0 = Access(session: $0.session + 1) }
  }

  /// Returns a user's credentials, and calls the source if they are unknown; `nil` if another user
  /// or no user is signed in.
  private func credentials(of user: String) async throws -> Credentials? {
    guard let source else { return nil }
    let before = access.withLock { $0 }
    if let known = before.credentials, known.are(of: user) { return known }
    let refused = before.refused.flatMap { $0.are(of: user) ? $0 : nil }
    let found = try await source(refused)
    return try access.withLock { access throws -> Credentials? in
      guard access.session == before.session else { throw SignedOutMeanwhile() }
      if access.credentials == before.credentials {
        access.credentials = found
        if found != nil { access.refused = nil }
      } else if let newer = access.credentials, newer.are(of: user) {
        // Another request has fetched credentials meanwhile.
        return newer
      }
      return found.flatMap { $0.are(of: user) ? $0 : nil }
    }
  }

  /// Records that the server has rejected credentials.
  private func refuse(_ used: Credentials) {
    access.withLock { access in
      guard access.credentials == used else { return }
      access.credentials = nil
      access.refused = used
    }
  }

  /// Sets the device's id that each change sends as `X-Sender-Id`.
  public func use(senderID: String) { sender.withLock { $0 = senderID } }

  // MARK: Reading

  /// Fetches JSON; `nil` if the server has no resource with the id.
  ///
  /// - Parameter user: The user on whose behalf it is fetched; only this user's token is sent.
  package func get(
    _ resource: String, id: ResourceID? = nil, parameters: [String: String] = [:],
    as user: String
  ) async throws(FetchError) -> JSONValue? {
    var url = base + "/" + resource
    if let id { url += "/" + Self.escaped(id.description) }
    if !parameters.isEmpty {
      let pairs = parameters.sorted { $0.key < $1.key }
        .map { Self.escaped($0.key) + "=" + Self.escaped($0.value) }
      url += "?" + pairs.joined(separator: "&")
    }
    for attempt in 0..<2 {
      var headers = [(name: "Accept", value: "application/json")]
      let used: Credentials?
      do { used = try await credentials(of: user) } catch { throw .unreachable("\(error)") }
      if source != nil {
        guard let used else { throw .signedOut }
        headers.append((name: "Authorization", value: "Bearer \(used.token)"))
      }
      let response: WebResponse
      do {
        response = try await transport.send(WebRequest("GET", url, headers: headers))
      } catch {
        throw .unreachable("\(error)")
      }
      switch response.status {
      case 200..<300:
        guard let json = JSONValue(response.body) else { throw .unreadable }
        return json
      case 404 where id != nil, 410 where id != nil: return nil
      case 401:
        if let used { refuse(used) }
        guard attempt == 0, source != nil else { throw .signedOut }
      case 408, 425, 429, 500...: throw .unreachable("the server answers \(response.status)")
      default: throw .refused(response.status)
      }
    }
    throw .signedOut
  }

  // MARK: Answers

  private func answer(_ response: WebResponse, to request: MutationRequest) -> MutationAnswer {
    let json = JSONValue(response.body)
    let fields = json?.fields
    let body = fields == nil ? nil : json?.utf8
    let version = fields?[versionField].flatMap(Self.plain)
    switch response.status {
    case 200..<300:
      let id = fields?["id"].flatMap { ResourceID(json: $0) } ?? Self.location(response)
      return .done(id: id, body: body, version: version)
    // The resource is deleted already, perhaps by this request, whose response was lost.
    case 404 where request.kind == .delete, 410 where request.kind == .delete: return .done()
    case 401: return .unauthorised
    // The server is still handling an earlier attempt of the same request.
    case 409 where response.header("retry-after") != nil: return .busy(retryAfter: pause(response))
    case 409, 412:
      let current = fields?["current"].flatMap { $0.fields == nil ? nil : $0 }
      let theirs = current ?? (fields?["id"] != nil ? json : nil)
      return .conflict(
        theirs: theirs?.utf8, version: theirs?.fields?[versionField].flatMap(Self.plain) ?? version)
    case 408, 425, 429, 500...: return .busy(retryAfter: pause(response))
    default:
      let reason = fields?["message"]?.string ?? fields?["error"]?.string
      return .refused(status: response.status, reason: reason.map { String($0.prefix(300)) })
    }
  }

  /// Returns the pause in milliseconds. Ignores a date, because the device's clock may be wrong.
  private func pause(_ response: WebResponse) -> Int64? {
    response.header("retry-after").flatMap { Int64($0) }
      .map { max(0, min($0, 1_000_000)) * 1_000 }
  }

  private static func plain(_ json: JSONValue) -> String? {
    json.string ?? json.integer.map { String($0) }
  }

  private static func location(_ response: WebResponse) -> ResourceID? {
    guard let last = response.header("location")?.split(separator: "/").last else { return nil }
    return ResourceID(String(last))
  }

  /// Returns a text percent-encoded for a path or a query.
  package static func escaped(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e:
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        escaped += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return escaped
  }
}
