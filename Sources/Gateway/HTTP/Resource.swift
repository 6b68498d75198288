package import ParleyGatewayPorts
import SocketMessages

/// A path of the HTTP API, with the requests that it takes.
package struct Resource: Sendable {
  /// The requests, in the order of the table; empty for an unknown path.
  package let routes: [Route]
  let path: PathPattern
  let kind: Kind

  /// The subject of a path, which decides the checks before a request is answered.
  enum Kind: Sendable {
    /// The notes as a whole.
    case notes
    /// A note that the path names.
    case note
    /// A room that the path names.
    case room
    /// Rooms that the body names, or that are the caller's.
    case rooms
    /// The work of operators.
    case operators
    /// Pages that the program around the gateway answers.
    case server
  }

  /// A path that a client asks for.
  package struct Match: Sendable {
    package let resource: Resource
    /// The names in the path, decoded; `nil` for those whose encoding is broken.
    let names: [String?]

    /// The first name; empty if there is none, or its encoding is broken.
    var name: String { (names.first ?? nil) ?? "" }

    /// Whether the encoding of the first name is broken.
    var isBroken: Bool { names.first.map { $0 == nil } ?? false }
  }

  private init(_ path: PathPattern, _ kind: Kind, _ routes: [Route] = []) {
    self.path = path
    self.kind = kind
    self.routes = routes
  }

  // MARK: Its requests

  /// The request with a method; `nil` if the path takes no such.
  package func route(_ method: String) -> Route? { routes.first { $0.method == method } }

  /// The page that the program around the gateway answers here; `nil` if the gateway does.
  package var page: Route.ServerPage? {
    if case .server(let page)? = routes.first?.answer { page } else { nil }
  }

  /// Whether a note that it names is a deleted one.
  var isOfDeleted: Bool { path.description.utf8.starts(with: "/api/deleted/".utf8) }

  /// Whether it is a note itself, and nothing below it.
  var isNote: Bool { kind == .note && path.description.utf8.suffix(5).elementsEqual("/{id}".utf8) }

  /// The answer to a method that the path does not take.
  package var methodNotAllowed: Response { .methodNotAllowed(routes.map(\.method)) }

  /// The type that a request's body is expected to have.
  func bodyType(of method: String) -> BodyType {
    route(method)?.body ?? routes.lazy.compactMap(\.body).first ?? .json
  }

  /// The verbs that a request needs of the note that the path names.
  ///
  /// A method that the path does not take needs the verbs of the methods that write here, so the answer
  /// reveals nothing beyond the caller's rights.
  func verbs(for method: String) -> Verbs {
    let others = method == "GET" ? nil : routes.first { $0.method != "GET" }
    if case .note(let verbs)? = (route(method) ?? others)?.right { return verbs }
    return method == "GET" ? .read : .manage
  }

  // MARK: Finding

  /// The resource at a path; `nil` if the path is not the API's.
  ///
  /// - Complexity: O(*n*) in the path's length, for each of the table's paths at most.
  package static func find(_ path: String) -> Match? {
    if let resource = plain[path] { return Match(resource: resource, names: []) }
    guard path.utf8.starts(with: "/api/".utf8) else { return nil }
    let parts = PathPattern.split(path)
    for resource in named {
      guard let names = resource.path.names(in: parts) else { continue }
      let match = Match(resource: resource, names: names.map { PercentEncoding.decoded($0) })
      // No operator has the empty name: there is no such path.
      if resource.kind == .operators, match.name.isEmpty { return nil }
      return match
    }
    return nil
  }

  /// Resources without a name in their path.
  private static let plain = Dictionary(
    uniqueKeysWithValues: all.filter(\.path.isPlain).map { ($0.path.description, $0) })

  /// Resources with names in their paths. What is missing below a note or a room is reported as missing
  /// only to callers that may ask for it.
  private static let named =
    all.filter { !$0.path.isPlain } + [
      Resource(PathPattern("/api/notes/{id}/{rest}"), .note),
      Resource(PathPattern("/api/rooms/{room}/{other}"), .room),
    ]

  /// The table's routes by their paths.
  private static let all: [Resource] = {
    var paths: [PathPattern] = []
    for route in Route.all where !paths.contains(route.path) { paths.append(route.path) }
    return paths.map { path in
      let routes = Route.all.filter { $0.path == path }
      return Resource(path, routes[0].kind, routes)
    }
  }()
}

extension Route {
  /// The subject of a path that takes such a request.
  fileprivate var kind: Resource.Kind {
    switch right {
    case .nothing, .setting, .password, .refreshToken, .invitation, .link, .provider: .server
    case .notes, .newNote, .folders: .notes
    case .note, .chosenNote: .note
    case .room: .room
    case .rooms, .person: .rooms
    case .operatorKey: .operators
    }
  }
}
