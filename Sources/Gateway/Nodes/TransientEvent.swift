import ParleyJSON
import SocketMessages

/// An event from a room's member to the other members; the room does not store it.
struct TransientEvent: Equatable {
  var name: String
  var data: JSONValue
  /// The id of the member's connection in its protocol.
  var sender: String
  /// The sender's person, if other members may know it.
  var person: PersonID?
}
