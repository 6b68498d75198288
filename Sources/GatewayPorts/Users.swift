/// Somebody who may log in.
public struct User: Sendable, Hashable {
  /// What their tokens are issued to: the name they log in with.
  public var id: String
  /// The name that others see.
  public var name: String
  /// What they may do.
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

/// Where users come from: a file, or what an embedder puts in its place.
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
