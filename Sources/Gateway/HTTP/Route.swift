package import ParleyGatewayPorts

/// A route of the HTTP API: method and path, the required right and body, and the handler.
package struct Route: Sendable {
  /// The method in capitals. A `GET` route handles `HEAD` too.
  package let method: String
  package let path: PathPattern
  package let right: Right
  /// The required content type of the body; `nil` for no body.
  package let body: BodyType?
  /// Whether the handler evaluates `If-Match`.
  package let evaluatesIfMatch: Bool
  let answer: Answer

  /// The right that a request requires.
  package enum Right: Sendable, Hashable {
    /// No right, as for the server's health.
    case nothing
    /// A setting decides who has access.
    case setting
    /// The password of a user of this server.
    case password
    /// A refresh token issued by this server.
    case refreshToken
    /// An invitation to become a user of this server.
    case invitation
    /// The token of a link for a new password.
    case reset
    /// The key of a link.
    case link
    /// A sign-in at the identity provider, completed in the browser that started it.
    case provider
    /// Verbs on the note that the path names.
    case note(Verbs)
    /// Verbs on each affected note: all other notes are left out.
    case notes(Verbs)
    /// Verbs on the note that the request creates, under an id that the server chooses.
    case newNote(Verbs)
    /// Verbs on the note that the request creates, under the id that the path names.
    case chosenNote(Verbs)
    /// Verbs on all notes of the folders that the body names.
    case folders(Verbs)
    /// Verbs on the room that the path names.
    case room(Verbs)
    /// Verbs on each room that the body names.
    case rooms(Verbs)
    /// A person as the caller: the response contains only the person's own data.
    case person
    /// An operator's API key.
    case operatorKey
  }

  /// The handler of a request.
  enum Answer: Sendable {
    /// A handler of the gateway. It refuses a request by throwing a ``Response``.
    case gateway(@Sendable (HTTP, Call) throws -> Void)
    case server(ServerPage)
  }

  /// Pages that the server program handles, not the gateway.
  package enum ServerPage: Sendable, Hashable {
    /// Whether the process responds.
    case health
    /// Whether the server accepts changes.
    case readiness
    /// Metrics for Prometheus.
    case metrics
    /// The description of the HTTP API.
    case description
    /// The program's version and its capabilities, for clients.
    case version
    /// Statistics for operators.
    case statistics
    /// Exchanging a password for tokens.
    case login
    /// Exchanging a refresh token for tokens.
    case refresh
    /// Ending a session with its refresh token.
    case logout
    /// Exchanging a link's key for a token.
    case link
    /// Exchanging a published note's name for a token.
    case publicName
    /// Becoming a user with an invitation.
    case join
    /// Changing the password, and getting tokens.
    case password
    /// Requesting a link for a new password.
    case forgot
    /// Choosing a new password by a link, and getting tokens.
    case reset
    /// Changing the display name, and getting tokens.
    case name
    /// The available methods of signing in.
    case ways
    /// Signing in at the identity provider, and getting tokens afterwards.
    case provider
    /// The redirect back from the identity provider.
    case providerReturn
  }

  /// All methods of the API, as a header lists them.
  package static let methods: String = {
    var methods: [String] = []
    for route in all where !methods.contains(route.method) { methods.append(route.method) }
    return Response.listed(methods)
  }()

  /// Creates a route that the gateway handles.
  init(
    _ method: String, _ path: String, _ right: Right, _ body: BodyType? = nil,
    evaluatesIfMatch: Bool = false, _ answer: @escaping @Sendable (HTTP, Call) throws -> Void
  ) {
    self.method = method
    self.path = PathPattern(path)
    self.right = right
    self.body = body
    self.evaluatesIfMatch = evaluatesIfMatch
    self.answer = .gateway(answer)
  }

  /// Creates a route that the server program handles.
  init(
    _ method: String, _ path: String, _ right: Right, _ body: BodyType? = nil, page: ServerPage
  ) {
    self.method = method
    self.path = PathPattern(path)
    self.right = right
    self.body = body
    evaluatesIfMatch = false
    answer = .server(page)
  }
}

extension Call {
  /// Creates the call of a request whose path matches a resource.
  init(
    _ request: RequestID, _ head: RequestHead, at match: Resource.Match, _ body: [UInt8],
    by identity: Identity
  ) {
    self.init(
      request: request, head: head, body: body, identity: identity, name: match.name,
      item: match.names.count > 1 ? match.names[1] : nil)
  }
}
