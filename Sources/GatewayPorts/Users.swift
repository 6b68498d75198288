/// A user who may log in.
public struct User: Sendable, Hashable {
  /// The name that the user logs in with, which is also the subject of their tokens.
  public var id: String
  /// The name that others see.
  public var name: String
  /// The user's rights.
  public var grants: [Grant]

  /// Makes a user.
  public init(id: String, name: String, grants: [Grant]) {
    self.id = id
    self.name = name
    self.grants = grants
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
