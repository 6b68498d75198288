import ParleyGatewayPorts
import SocketMessages

/// Responses about notes and rooms.
extension Response {
  /// The response 201 for a new note.
  static func created(_ note: NoteSummary) -> Response {
    json(201, NoteJSON.note(note))
      .with("location", "/api/notes/" + PercentEncoding.encoded(note.id.text))
  }

  /// The response with a publication's position in its room.
  static func published(_ room: RoomName, _ position: RoomPosition, isRepeated: Bool) -> Response {
    json(200, RoomJSON.result(.published(position, isRepeated: isRepeated), of: room))
  }
}
