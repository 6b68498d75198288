/// A user who may log in.
public struct User: Sendable, Hashable {
  /// The name that the user logs in with, which is also the subject of their tokens.
  public var id: String
  /// The name that others see.
  public var name: String
  /// The user's rights.
  public var grants: [Grant]
  /// The time at which the user was added or got a new password: older tokens are not valid. `nil` if that
  /// is not known.
  public var since: Timestamp?

  /// Makes a user.
  public init(id: String, name: String, grants: [Grant], since: Timestamp? = nil) {
    self.id = id
    self.name = name
    self.grants = grants
    self.since = since
  }

  /// Whether a token with this user's name and this time of issue belongs to this user.
  public func owns(tokenIssuedAt time: Timestamp?) -> Bool {
    guard let since else { return true }
    return time.map { $0 >= since } ?? false
  }
}

extension Identity {
  /// Takes over the name and the rights of another state of the user.
  public mutating func take(_ user: User) {
    name = user.name
    grants = user.grants
  }
}

/// A source of users: a file, or an embedder's own.
///
/// Asked from several threads.
public protocol UserSource: AnyObject, Sendable {
  /// Counts up whenever a user is added, changed or removed.
  var generation: Int { get }
  /// Reads changes. Called about once a second, on the gateway's loop.
  func refresh(now: Timestamp)
  /// The user as of now; `nil` if there is none.
  func user(_ id: String) -> User?
  /// The user, if the password is theirs. May take long, and takes as long for an unknown user: it is
  /// called on a thread of its own.
  func user(_ id: String, password: String) -> User?
}
