import ParleyGatewayPorts

/// The type that the body of a request is expected to have.
package enum BodyType: String, Sendable {
  case json = "application/json"
  case text = "text/plain"
  /// Anything: the type is found from the bytes.
  case bytes = "application/octet-stream"

  /// Whether a request's body may be of this type, by its headers.
  ///
  /// A missing type counts as this one, and so does a form: `curl -d` declares a form whatever it sends. A
  /// page of another site cannot use that, for its requests are refused by their `Origin`.
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
