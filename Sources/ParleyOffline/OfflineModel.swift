/// A thing that a server keeps, in the form of an app.
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
  /// The version that the server has given it. With one, a change of something that another user
  /// has changed meanwhile becomes a conflict, and does not overwrite it. It is sent as `If-Match`,
  /// not in bodies.
  var version: String? { get }
}

extension OfflineModel {
  /// No version: the last change wins.
  public var version: String? { nil }
}

/// A question to a collection.
public enum DataQuery: Sendable, Hashable {
  /// Everything.
  case all
  /// The things that fit parameters, whose meaning is the source's.
  case subset([String: String])
  /// A single thing.
  case single(ResourceID)

  /// The name under which the answer is kept.
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

/// The origin of values.
public enum FetchPolicy: Sendable, Hashable {
  /// The kept value at once, then the server's.
  case cacheThenNetwork
  /// The kept value; the server's if none is kept.
  case cacheFirst
  /// The server's alone.
  case networkOnly
  /// The kept value alone.
  case cacheOnly
}

/// Why something was not fetched.
public enum FetchError: Error, Sendable, Hashable {
  /// The server is not there, or busy.
  case unreachable(String)
  /// There is no token of the person who uses the app.
  case signedOut
  /// The server answers with this status.
  case refused(Int)
  /// The answer is not what the model reads.
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
      "the answer is not what the model reads; compare the model with the server's JSON"
    case .storage(let error): "\(error)"
    }
  }
}
