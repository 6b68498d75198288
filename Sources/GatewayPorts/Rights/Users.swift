/// A user who may log in.
public struct User: Sendable, Hashable {
  /// The name that the user logs in with, which is also the subject of their tokens.
  public var id: String
  /// The name that others see.
  public var name: String
  /// The user's rights.
  public var grants: [Grant]
  /// The time at which the user was added or had a new password: tokens issued before it no longer
  /// count. `nil` where that is not known.
  public var since: Timestamp?

  /// Makes a user.
  public init(id: String, name: String, grants: [Grant], since: Timestamp? = nil) {
    self.id = id
    self.name = name
    self.grants = grants
    self.since = since
  }

  /// Whether a token of this user's name that was issued at this time is this user's.
  public func owns(tokenIssuedAt time: Timestamp?) -> Bool {
    guard let since else { return true }
    return time.map { $0 >= since } ?? false
  }
}

extension Identity {
  /// Takes over what a user is called and may do.
  public mutating func take(_ user: User) {
    name = user.name
    grants = user.grants
  }
}

/// A source of users: a file, or an embedder's own.
///
/// Asked from several threads.
public protocol UserSource: AnyObject, Sendable {
  /// Counts up whenever a user is another than before, or gone.
  var generation: Int { get }
  /// Looks whether there is something new. Called about once a second, on the gateway's loop.
  func refresh(now: Timestamp)
  /// The user as of now; `nil` if there is none.
  func user(_ id: String) -> User?
  /// The user, if the password is theirs. May take its time, and takes as much for a user who is not
  /// there: it is called on a thread for this alone.
  func user(_ id: String, password: String) -> User?
}
