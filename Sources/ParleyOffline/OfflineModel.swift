/// A resource of a server, as the app's model type.
///
///     struct Contact: OfflineModel {
///       var id = ResourceID.temporary()
///       var name: String
///     }
///
/// In JSON the id is the field `id`.
public protocol OfflineModel: Codable, Sendable, Identifiable where ID == ResourceID {
  /// The server's id, or a temporary one.
  var id: ResourceID { get }
  /// The server's version of the resource. With a version, changing a resource that another user
  /// has changed since results in a conflict instead of overwriting it. The version is sent as
  /// `If-Match`, not in bodies.
  var version: String? { get }
}

extension OfflineModel {
  /// No version: the last change overwrites earlier ones.
  public var version: String? { nil }
}

/// A query for resources of a collection.
public enum DataQuery: Sendable, Hashable {
  /// All resources.
  case all
  /// The resources that match parameters, which the source interprets.
  case subset([String: String])
  /// A single resource.
  case single(ResourceID)

  /// The name under which the result is stored.
  package var name: String {
    switch self {
    case .all: ""
    case .single(let id): "#" + id.key
    case .subset(let parameters):
      "?"
        + parameters.sorted { $0.key < $1.key }
        .map { RESTService.escaped($0.key) + "=" + RESTService.escaped($0.value) }
        .joined(separator: "&")
    }
  }
}

/// Determines whether values come from the store, the server or both.
public enum FetchPolicy: Sendable, Hashable {
  /// The stored value immediately, then the server's.
  case cacheThenNetwork
  /// The stored value; the server's if none is stored.
  case cacheFirst
  /// Only the server's value.
  case networkOnly
  /// Only the stored value.
  case cacheOnly
}

/// The reason why a fetch failed.
public enum FetchError: Error, Sendable, Hashable {
  /// The server is unreachable or busy.
  case unreachable(String)
  /// There is no token for the current user.
  case signedOut
  /// The server answered with this status.
  case refused(Int)
  /// The model cannot decode the response.
  case unreadable
  /// The device's storage could not be read.
  case storage(OfflineStoreError)
}

extension FetchError: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .unreachable(let reason): "the server was not reached: \(reason)"
    case .signedOut: "no user is signed in; sign in, then fetch again"
    case .refused(let status): "the server answers with status \(status)"
    case .unreadable:
      "the model cannot decode the response; compare the model with the server's JSON"
    case .storage(let error): "\(error)"
    }
  }
}
