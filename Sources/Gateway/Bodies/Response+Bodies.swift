import ParleyGatewayPorts
import SocketMessages

/// The answers about notes and rooms.
extension Response {
  /// A note that was made.
  static func created(_ note: NoteSummary) -> Response {
    json(201, NoteJSON.note(note))
      .with("location", "/api/notes/" + PercentEncoding.encoded(note.id.text))
  }

  /// The place of a publication in its room.
  static func published(_ room: RoomName, _ position: RoomPosition, isRepeated: Bool) -> Response {
    json(200, RoomJSON.result(.published(position, isRepeated: isRepeated), of: room))
  }
}
