import ParleyGatewayPorts

/// The content type that a request's body must have.
package enum BodyType: String, Sendable {
  case json = "application/json"
  /// A text, or a Delta.
  case text = "text/plain"
  /// Any type: the server detects it from the bytes.
  case bytes = "application/octet-stream"

  /// The content type of a Delta of a whole text.
  package static let delta = "application/vnd.parley.delta+json"

  /// Whether a request's body is a Delta.
  static func isDelta(_ head: RequestHead) -> Bool { type(of: head) == delta }

  /// The content type of a request without its parameters; empty if it has none.
  private static func type(of head: RequestHead) -> String {
    let said = (head.headers["content-type"] ?? "").split(separator: ";").first ?? ""
    return said.filter { $0 != " " }.lowercased()
  }

  /// Whether the request's content type is accepted for this type.
  ///
  /// A missing type is accepted, and so is `application/x-www-form-urlencoded`, the default of
  /// `curl -d`. This does not allow cross-site request forgery: requests from other origins are
  /// rejected.
  func includes(_ head: RequestHead) -> Bool {
    let type = Self.type(of: head)
    if type.isEmpty || type == "application/x-www-form-urlencoded" { return true }
    switch self {
    case .bytes: return true
    case .json: return type == rawValue || type.hasPrefix("application/") && type.hasSuffix("+json")
    case .text: return type.hasPrefix("text/") || type == Self.delta
    }
  }
}
