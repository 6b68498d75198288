/// A method that is supported.
public enum HTTPMethod: String, Sendable, Hashable, CaseIterable {
  /// Reads.
  case get = "GET"
  /// Reads the head of what GET reads.
  case head = "HEAD"
  /// Does what the resource is for.
  case post = "POST"
  /// Replaces.
  case put = "PUT"
  /// Changes.
  case patch = "PATCH"
  /// Removes.
  case delete = "DELETE"
  /// Asks what is possible.
  case options = "OPTIONS"

  /// Whether it changes nothing, so that several may be answered at once (RFC 9110,
  /// section 9.2.1).
  public var isSafe: Bool {
    switch self {
    case .get, .head, .options: true
    case .post, .put, .patch, .delete: false
    }
  }

  static let list = allCases.map(\.rawValue).joined(separator: ", ")
}
