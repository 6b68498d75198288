/// The person or program that changes a group or comments, with their rights.
public struct ChangeActor: Sendable, Equatable {
  /// The person; `nil` for a guest or a program.
  public var person: PersonID?
  /// The name as shown to people; of a member of a group, the nickname there counts instead.
  public var name: String
  /// Whether the actor may do everything with a group, in it or not, or delete the comments of others.
  public var manages: Bool

  /// Makes an actor.
  public init(person: PersonID?, name: String, manages: Bool) {
    self.person = person
    self.name = name
    self.manages = manages
  }
}
