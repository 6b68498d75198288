/// A user who may log in.
public struct User: Sendable, Hashable {
  /// The user's login name, which is the subject of their tokens.
  public var id: String
  /// The display name.
  public var name: String
  /// The user's rights.
  public var grants: [Grant]
  /// The time at which the user was added or got a new password; tokens issued earlier are invalid.
  /// `nil` if the time is unknown.
  public var since: Timestamp?

  /// Creates a user, by default one whose tokens are valid whatever their time of issue.
  public init(id: String, name: String, grants: [Grant], since: Timestamp? = nil) {
    self.id = id
    self.name = name
    self.grants = grants
    self.since = since
  }

  /// Whether a token with this user's id and a time of issue belongs to this user.
  public func owns(tokenIssuedAt time: Timestamp?) -> Bool {
    guard let since else { return true }
    return time.map { $0 >= since } ?? false
  }
}

extension Identity {
  /// Copies the display name and the rights of a newer state of the user.
  public mutating func take(_ user: User) {
    name = user.name
    grants = user.grants
  }
}

/// A source of users: a file, or an implementation of the embedding program.
///
/// Called from several threads.
public protocol UserSource: AnyObject, Sendable {
  /// A counter that increases whenever a user is added, changed or removed.
  var generation: Int { get }
  /// Reads changes. Called about once a second on the gateway's loop.
  func refresh(now: Timestamp)
  /// Returns the user with an id; `nil` if missing.
  func user(_ id: String) -> User?
  /// Returns the user if the password is correct. The call may be slow, and takes the same time for
  /// an unknown user, so it runs on a separate thread.
  func user(_ id: String, password: String) -> User?
}
