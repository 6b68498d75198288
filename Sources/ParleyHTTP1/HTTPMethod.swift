/// A supported method.
public enum HTTPMethod: String, Sendable, Hashable, CaseIterable {
  /// Reads a resource.
  case get = "GET"
  /// Reads the head of the response to GET.
  case head = "HEAD"
  /// Lets the resource process the body.
  case post = "POST"
  /// Replaces a resource.
  case put = "PUT"
  /// Changes a resource.
  case patch = "PATCH"
  /// Deletes a resource.
  case delete = "DELETE"
  /// Requests the supported methods.
  case options = "OPTIONS"

  /// Whether the method changes nothing, so that several requests may be answered concurrently (RFC
  /// 9110, section 9.2.1).
  public var isSafe: Bool {
    switch self {
    case .get, .head, .options: true
    case .post, .put, .patch, .delete: false
    }
  }

  static let list = allCases.map(\.rawValue).joined(separator: ", ")
}
