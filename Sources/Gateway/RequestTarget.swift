/// The target of a request: what its path names.
///
/// One table has the paths of the HTTP API and of other apps' protocols. The server searches it
/// once per request, and once for the decision on a long body.
package enum RequestTarget: Sendable {
  /// A path of the HTTP API.
  case resource(Resource.Match)
  /// A path of another app's protocol, with the names in it.
  case app(AppRequest, names: [Substring])
  /// A path of Pusher's HTTP API, with the names in it.
  case pusher(PusherRequest, names: [Substring])

  private enum Entry {
    case resource(Resource)
    case app(AppRequest)
    case pusher(PusherRequest)
  }

  private static let table = PathTable<Entry>(
    Resource.all.map { ($0.path, Entry.resource($0)) }
      + AppRequest.allCases.map { (PathPattern($0.rawValue), Entry.app($0)) }
      + PusherRequest.allCases.map { (PathPattern($0.rawValue), Entry.pusher($0)) })

  /// Finds the target of a path; `nil` if the path is in no table.
  package init?(_ path: String) {
    guard let (entry, names) = Self.table.find(path) else { return nil }
    switch entry {
    case .resource(let resource):
      guard let match = resource.match(names) else { return nil }
      self = .resource(match)
    case .app(let request): self = .app(request, names: names)
    case .pusher(let request): self = .pusher(request, names: names)
    }
  }

  /// The resource of the HTTP API; `nil` for another protocol's path.
  package var match: Resource.Match? { if case .resource(let match) = self { match } else { nil } }
}
