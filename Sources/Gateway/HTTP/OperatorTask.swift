import GatewayPorts

/// What an operator asks for, by the request's path.
enum OperatorTask {
  case revoke
  case makeToken
  case listConnections
  case listRooms
  case onConnections(Work, Chosen)

  /// What is done with connections.
  enum Work: String {
    case disconnect
    case refreshRights = "refresh-rights"
  }

  /// Which connections are meant.
  enum Chosen {
    /// The one with this id, as the list of connections has it.
    case connection(String)
    /// All of a user.
    case user(String)
  }

  /// - Parameter path: the parts behind `/api`.
  init?(_ path: ArraySlice<Substring>) {
    switch (path.first, path.count) {
    case ("revoke", 1): self = .revoke
    case ("tokens", 1): self = .makeToken
    case ("connections", 1): self = .listConnections
    case ("rooms", 1): self = .listRooms
    case ("connections", 3) where path.last == "disconnect":
      guard let id = PercentEncoding.decoded(path[path.startIndex + 1]) else { return nil }
      self = .onConnections(.disconnect, .connection(id))
    case ("users", 3...):
      // A name may have slashes, and no transport has to keep those apart from the path's own.
      let name = path.dropFirst().dropLast().joined(separator: "/")
      guard let work = path.last.map(String.init).flatMap(Work.init(rawValue:)),
        let user = PercentEncoding.decoded(Substring(name)), !user.isEmpty
      else { return nil }
      self = .onConnections(work, .user(user))
    default: return nil
    }
  }

  /// The method that it takes.
  var method: String {
    switch self {
    case .listConnections, .listRooms: "GET"
    case .revoke, .makeToken, .onConnections: "POST"
    }
  }
}
