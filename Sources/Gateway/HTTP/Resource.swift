package import ParleyGatewayPorts
import SocketMessages

/// A path of the HTTP API, with its routes.
package struct Resource: Sendable {
  /// The routes, in the order of the table; empty for an unknown path.
  package let routes: [Route]
  let path: PathPattern
  let kind: Kind

  /// The subject of a path, which decides the checks before a request is answered.
  enum Kind: Sendable {
    /// The collection of notes.
    case notes
    /// A note that the path names.
    case note
    /// A room that the path names.
    case room
    /// Rooms that the body names, or the caller's own.
    case rooms
    /// Operators' requests.
    case operators
    /// Pages that the server program handles, not the gateway.
    case server
  }

  /// The resource at the path of a request.
  package struct Match: Sendable {
    package let resource: Resource
    /// The names in the path, decoded; `nil` for a name with invalid encoding.
    let names: [String?]

    /// The first name; empty if missing, or its encoding is invalid.
    var name: String { (names.first ?? nil) ?? "" }

    /// Whether the encoding of the first name is invalid.
    var isBroken: Bool { names.first.map { $0 == nil } ?? false }
  }

  private init(_ path: PathPattern, _ kind: Kind, _ routes: [Route] = []) {
    self.path = path
    self.kind = kind
    self.routes = routes
  }

  // MARK: Routes

  /// Returns the route for a method; `nil` if the path does not offer the method.
  package func route(_ method: String) -> Route? { routes.first { $0.method == method } }

  /// The page that the server program handles at this path; `nil` if the gateway handles the path.
  package var page: Route.ServerPage? {
    if case .server(let page)? = routes.first?.answer { page } else { nil }
  }

  /// Whether the path names a deleted note.
  var isOfDeleted: Bool { path.description.utf8.starts(with: "/api/deleted/".utf8) }

  /// Whether the path is a note's own, and not one below it.
  var isNote: Bool { kind == .note && path.description.utf8.suffix(5).elementsEqual("/{id}".utf8) }

  /// The response to a method that the path does not offer.
  package var methodNotAllowed: Response { .methodNotAllowed(routes.map(\.method)) }

  /// Returns the content type that a request's body must have.
  func bodyType(of method: String) -> BodyType {
    route(method)?.body ?? routes.lazy.compactMap(\.body).first ?? .json
  }

  /// Returns the verbs that a request needs on the note that the path names.
  ///
  /// A method that the path does not offer needs the verbs of the path's writing methods, so the
  /// response reveals nothing beyond the caller's rights.
  func verbs(for method: String) -> Verbs {
    let others = method == "GET" ? nil : routes.first { $0.method != "GET" }
    if case .note(let verbs)? = (route(method) ?? others)?.right { return verbs }
    return method == "GET" ? .read : .manage
  }

  // MARK: Finding

  /// Returns the match of a path with these names, still percent-encoded; `nil` if the path does
  /// not exist.
  func match(_ names: [Substring]) -> Match? {
    let match = Match(resource: self, names: names.map { PercentEncoding.decoded($0) })
    // A connection or a user never has an empty name.
    return kind == .operators && !path.isPlain && match.name.isEmpty ? nil : match
  }

  /// All resources. The last two match unknown paths below a note or a room, so that rights are
  /// checked before 404 is sent.
  static let all: [Resource] =
    ofRoutes + [
      Resource(PathPattern("/api/notes/{id}/{rest}"), .note),
      Resource(PathPattern("/api/rooms/{room}/{other}"), .room),
    ]

  /// The table's routes, grouped by path.
  private static let ofRoutes: [Resource] = {
    var paths: [PathPattern] = []
    for route in Route.all where !paths.contains(route.path) { paths.append(route.path) }
    return paths.map { path in
      let routes = Route.all.filter { $0.path == path }
      return Resource(path, routes[0].kind, routes)
    }
  }()
}

extension Route {
  /// The subject of the route's path.
  fileprivate var kind: Resource.Kind {
    switch right {
    case .nothing, .setting, .password, .refreshToken, .invitation, .reset, .link, .provider:
      .server
    case .notes, .newNote, .folders: .notes
    case .note, .chosenNote: .note
    case .room: .room
    case .rooms, .person: .rooms
    case .operatorKey: .operators
    }
  }
}
