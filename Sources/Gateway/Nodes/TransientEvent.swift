import ParleyJSON
import SocketMessages

/// An event of a room's member for the other members, which the room does not store.
struct TransientEvent: Equatable {
  var name: String
  var data: JSONValue
  /// The member's connection, by the name that its protocol gives it.
  var sender: String
  /// The sender's person, where others may know it.
  var person: PersonID?
}
