import ParleyGatewayPorts

/// The content type that a request's body must have.
package enum BodyType: String, Sendable {
  case json = "application/json"
  case text = "text/plain"
  /// Any type: the server detects it from the bytes.
  case bytes = "application/octet-stream"

  /// Whether the request's content type is accepted for this type.
  ///
  /// A missing type is accepted, and so is `application/x-www-form-urlencoded`, the default of
  /// `curl -d`. This does not allow cross-site request forgery: requests from other origins are
  /// rejected.
  func includes(_ head: RequestHead) -> Bool {
    let said = (head.headers["content-type"] ?? "").split(separator: ";").first ?? ""
    let type = said.filter { $0 != " " }.lowercased()
    if type.isEmpty || type == "application/x-www-form-urlencoded" { return true }
    switch self {
    case .bytes: return true
    case .json: return type == rawValue || type.hasPrefix("application/") && type.hasSuffix("+json")
    case .text: return type.hasPrefix("text/")
    }
  }
}
