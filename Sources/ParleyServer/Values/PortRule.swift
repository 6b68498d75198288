import Gateway
import ParleyGatewayPorts

/// The paths that each port serves if programs have a separate port.
///
/// The page and its users need some paths. All other paths below `/api`, present and future, are
/// for programs, and are not accessible from the page's network. A test reads the page's modules
/// for the paths that they request.
struct PortRule {
  /// Whether programs have a separate port.
  let isDivided: Bool

  private static let forOperators = ["/metrics", "/admin"]
  private static let forPeople = [
    "/api/deleted", "/api/folders", "/api/links", "/api/names", "/api/notes", "/api/notices",
    "/api/openapi.json",
    "/api/search", "/api/sessions", "/api/tags", "/api/text", "/api/user",
  ]

  /// Whether the port that received a request serves its path.
  ///
  /// - Parameter opening: The dialect of the path; `nil` if the path belongs to no dialect.
  func allows(_ head: RequestHead, _ opening: ClientKind?) -> Bool {
    guard isDivided else { return true }
    switch head.entrance {
    case .front: return !Self.forOperators.contains(head.path) && !isForPrograms(head.path)
    case .back: return head.path != "/" && !head.path.hasPrefix("/n/") && opening == nil
    }
  }

  private func isForPrograms(_ path: String) -> Bool {
    path.hasPrefix("/apps/")
      || path.hasPrefix("/api/")
        && !Self.forPeople.contains { path == $0 || path.hasPrefix($0 + "/") }
  }
}
