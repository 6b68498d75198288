import Gateway
import GatewayPorts

/// The paths that are answered at each port, where programs have a port of their own.
///
/// The page and its users need a few paths; all other paths below `/api`, present and future, are
/// for programs, and are not shown to the network where the page is.
struct PortRule {
  /// Whether there is such a port.
  let isDivided: Bool

  private static let forOperators = ["/metrics", "/admin"]
  private static let forPeople = ["/api/notes", "/api/user", "/api/openapi.json"]

  /// Whether a request may be answered where it came in.
  ///
  /// - Parameter opening: The dialect of its path, if it is one's.
  func allows(_ head: RequestHead, _ opening: Opening?) -> Bool {
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
