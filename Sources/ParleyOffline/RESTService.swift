package import ParleyJSON
import ParleyModel
import Synchronization

/// A person's right to use a server.
public struct Credentials: Sendable, Hashable {
  /// The person, by the name that the outbox has for them.
  public let user: String
  /// The token, sent as `Authorization: Bearer`.
  public let token: String

  /// Makes credentials.
  public init(user: String, token: String) {
    self.user = user
    self.token = token
  }

  fileprivate func are(of user: String) -> Bool { ExactName(self.user) == ExactName(user) }
}

/// Returns the credentials of the user who is signed in; `nil` without one. It is called before the
/// first request, for a request of another person than the last one's, and with the credentials
/// that were refused with 401, for newer ones. If it throws, it is called again later.
public typealias CredentialsSource =
  @Sendable (_ refused: Credentials?) async throws -> Credentials?

/// A server with collections of things as JSON over HTTP.
///
/// | change | request |
/// | --- | --- |
/// | create | `POST base/contacts` |
/// | update | `PATCH base/contacts/7` with the fields that changed |
/// | delete | `DELETE base/contacts/7` |
/// | action `comments` | `POST base/contacts/7/comments` |
///
/// Each carries its `Idempotency-Key`, the device's name as `X-Sender-Id`, and `If-Match` with the
/// version that it was made on. A create's answer has the thing with its `id`, or a `Location`.
public final class RESTService: MutationSender, Sendable {
  /// The method of updates.
  public enum UpdateMethod: String, Sendable { case patch = "PATCH", post = "POST", put = "PUT" }

  private let base: String
  private let transport: any WebTransport
  /// The credentials that the source has given.
  private struct Access {
    var credentials: Credentials?
    /// Credentials that the server has refused, and in whose place none have come yet.
    var refused: Credentials?
    /// The number of sign-outs.
    var session = 0
  }

  /// The person has signed out while the source was being asked.
  private struct SignedOutMeanwhile: Error, CustomStringConvertible {
    var description: String { "the user has signed out meanwhile" }
  }

  private let updates: UpdateMethod
  private let versionField: String
  private let source: CredentialsSource?
  private let access = Mutex(Access())
  private let sender = Mutex<String?>(nil)

  /// Makes a service.
  ///
  /// - Parameters:
  ///   - base: The address that collections' names are put behind, `https://api.example.org/v1`.
  ///   - updates: The method of updates. With `put` the app saves whole things.
  ///   - versionField: The field of things that has their version, a text or a number.
  /// - credentials: Gives the token of the user who is signed in; without it none is sent, for
  ///   servers without users.
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
      // A token's server that is not there is no reason to ask the person to sign in.
      return .unreachable
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
    case (_, nil): return .refused(status: 404, reason: "the thing has no id")
    }
    guard let response = try? await transport.send(whole) else { return .unreachable }
    if response.status == 401, let used { refuse(used) }
    return answer(response, to: request)
  }

  /// Fetches credentials in place of those that a request has found refused; see
  /// ``MutationSender/renewToken(of:)``. If the source throws, the next request asks it again.
  public func renewToken(of user: String) async -> Bool {
    guard source != nil else { return false }
    do {
      return try await credentials(of: user) != nil
    } catch {
      // Nothing is known of who is signed in: the next request finds out, or waits.
      return true
    }
  }

  /// Forgets the token: another user has signed in, or the user has signed out.
  public func signOut() {
    access.withLock { $0 = Access(session: $0.session + 1) }
  }

  /// Returns a person's credentials, asking the source unless they are known; `nil` if another
  /// person is signed in, or no one.
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
        // Another request has asked meanwhile.
        return newer
      }
      return found.flatMap { $0.are(of: user) ? $0 : nil }
    }
  }

  /// Notes that the server has refused credentials.
  private func refuse(_ used: Credentials) {
    access.withLock { access in
      guard access.credentials == used else { return }
      access.credentials = nil
      access.refused = used
    }
  }

  /// Has each change carry the device's name as `X-Sender-Id`.
  public func use(senderID: String) { sender.withLock { $0 = senderID } }

  // MARK: Reading

  /// Fetches JSON.
  ///
  /// - Parameter user: The person in whose name; their token is sent, and no other's.
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
    // It is gone already, perhaps by this request, whose answer was lost.
    case 404 where request.kind == .delete, 410 where request.kind == .delete: return .done()
    case 401: return .unauthorised
    // The same request is being handled just now.
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

  /// Milliseconds; a date in `Retry-After` is not read, for the device's clock may be wrong.
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

  /// A text within a path or a query.
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
