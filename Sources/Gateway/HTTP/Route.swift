package import ParleyGatewayPorts

/// A request of the HTTP API: its method and path, the right and the body that it needs, and its handler.
package struct Route: Sendable {
  /// The method in capitals. `HEAD` is taken wherever `GET` is.
  package let method: String
  package let path: PathPattern
  package let right: Right
  /// The body that is expected; `nil` for none.
  package let body: BodyType?
  /// Whether `If-Match` is honoured.
  package let looksAtIfMatch: Bool
  let answer: Answer

  /// The right that a request needs to be answered.
  package enum Right: Sendable, Hashable {
    /// No right, as for questions about the server's health.
    case nothing
    /// The setting that decides who may see it.
    case setting
    /// A password of the server's own.
    case password
    /// A refresh token of the server's own.
    case refreshToken
    /// An invitation to become a user of the server's own.
    case invitation
    /// The key of a link.
    case link
    /// A sign-in at the identity provider, in the browser that began it.
    case provider
    /// Verbs on the note that the path names.
    case note(Verbs)
    /// Verbs on each note that it is about: only such notes are shown.
    case notes(Verbs)
    /// Verbs on the note that it makes, under an id that is not known before.
    case newNote(Verbs)
    /// Verbs on the note that it makes, under the id that the path names.
    case chosenNote(Verbs)
    /// Verbs on all notes of the folders that the body names.
    case folders(Verbs)
    /// Verbs on the room that the path names.
    case room(Verbs)
    /// Verbs on each room that the body names.
    case rooms(Verbs)
    /// A person: only what is theirs is shown.
    case person
    /// An operator's API key.
    case operatorKey
  }

  /// The handler of a request.
  enum Answer: Sendable {
    /// A handler of the gateway's, which throws the ``Response`` with which it refuses.
    case gateway(@Sendable (HTTP, Call) throws -> Void)
    case server(ServerPage)
  }

  /// Pages that the program around the gateway answers.
  package enum ServerPage: Sendable, Hashable {
    /// Whether the process answers.
    case health
    /// Whether changes are taken.
    case readiness
    /// Metrics for Prometheus.
    case metrics
    /// The description of the HTTP API.
    case description
    /// The program's version and its capabilities, for clients.
    case version
    /// Statistics for operators.
    case statistics
    /// Getting tokens for a password.
    case login
    /// Getting tokens for a refresh token.
    case refresh
    /// Ending a session by its refresh token.
    case logout
    /// Getting a link's token for its key.
    case link
    /// Getting a token for a published note's name.
    case publicName
    /// Becoming a user by an invitation.
    case join
    /// Getting another password, and tokens.
    case password
    /// Getting another name, and tokens.
    case name
    /// The ways in which people sign in.
    case ways
    /// Signing in at the identity provider, and getting tokens afterwards.
    case provider
    /// The return from the identity provider.
    case providerReturn
  }

  /// The methods that there are, as a header lists them.
  package static let methods: String = {
    var methods: [String] = []
    for route in all where !methods.contains(route.method) { methods.append(route.method) }
    return Response.listed(methods)
  }()

  /// A request that the gateway answers.
  init(
    _ method: String, _ path: String, _ right: Right, _ body: BodyType? = nil,
    looksAtIfMatch: Bool = false, _ answer: @escaping @Sendable (HTTP, Call) throws -> Void
  ) {
    self.method = method
    self.path = PathPattern(path)
    self.right = right
    self.body = body
    self.looksAtIfMatch = looksAtIfMatch
    self.answer = .gateway(answer)
  }

  /// A request that the program around the gateway answers.
  init(
    _ method: String, _ path: String, _ right: Right, _ body: BodyType? = nil, page: ServerPage
  ) {
    self.method = method
    self.path = PathPattern(path)
    self.right = right
    self.body = body
    looksAtIfMatch = false
    answer = .server(page)
  }
}

extension Call {
  /// A request of the path that it matches.
  init(
    _ request: RequestID, _ head: RequestHead, at match: Resource.Match, _ body: [UInt8],
    by identity: Identity
  ) {
    self.init(
      request: request, head: head, body: body, identity: identity, name: match.name,
      item: match.names.count > 1 ? match.names[1] : nil)
  }
}
