/// A person or program that changes a group or comments, with its rights.
public struct ChangeActor: Sendable, Equatable {
  /// The person; `nil` for a guest or a program.
  public var person: PersonID?
  /// The display name. In a group, the nickname of a member replaces it.
  public var name: String
  /// Whether the actor may manage the group as a non-member, or delete other people's comments.
  public var manages: Bool

  /// Creates an actor with the rights of a request's identity.
  public init(person: PersonID?, name: String, manages: Bool) {
    self.person = person
    self.name = name
    self.manages = manages
  }
}
