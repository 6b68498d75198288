import ParleyGatewayPorts
import ParleyJSON
import ParleyRustpad

/// A connection of a Rustpad client, for one note.
///
/// A reference, owned by the dialect and confined to its loop.
final class RustpadLink {
  let connection: Connection
  let note: DocumentID
  /// The number by which clients know the connection.
  let number: Int
  /// The beginning of the client ids of all connections of the same person.
  let person: String
  /// The revision of an entry that the client has sent on a former connection, and again on this
  /// one.
  var repeated: Int?
  /// Whether the client is sent the log. Before that, it may send an edit again.
  var isSettled = false
  /// The uptime from which the client may still send an edit again, in milliseconds: that of its first
  /// message, or a while after the connection has begun.
  var beganAt: Int64
  /// Whether the client has sent a message.
  var hasBegun = false
  /// An edit that came before the note was loaded.
  var waiting: RustpadMessage?
  var user: RustpadUser?
  var cursors: JSONValue?

  init(_ connection: Connection, note: DocumentID, number: Int, person: String, beganAt: Int64) {
    self.connection = connection
    self.note = note
    self.number = number
    self.person = person
    self.beganAt = beganAt
  }
}
