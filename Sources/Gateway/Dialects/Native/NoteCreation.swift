import ParleyGatewayPorts
import SocketMessages

/// Creating notes over the socket, with the semantics of `PUT /api/notes/{id}`: a client needs no
/// HTTP, and may repeat a request after a lost reply.
final class NoteCreation: Part {
  let board: Switchboard
  private let rooms: Rooms

  init(_ board: Switchboard, _ rooms: Rooms) {
    self.board = board
    self.rooms = rooms
  }

  /// Creates a note under an id that the client chose.
  func begin(
    _ draft: NoteDraft, under right: StoreRight, messageID: String, _ connection: Connection
  ) {
    store(
      .once(
        .create(draft, epoch: Epoch(dependencies.names.next()), restMax: settings.answers.ageMax)),
      under: right, then: .making(connection.id, messageID: messageID))
  }

  /// Answers a request to create a note.
  func finish(
    for id: ConnectionID, messageID ref: String, _ outcome: StoreOutcome<NoteMaking>
  ) {
    if case .success(.made) = outcome { rooms.publishNoteList() }
    guard let connection = connections[id], connection.isReady else { return }
    let dialect = connection.dialect
    switch outcome {
    case .success(.made(let note)): dialect.made(note, isRepeated: false, ref: ref, connection)
    case .success(.found(let note)) where mayHear(of: note, connection):
      dialect.made(note, isRepeated: true, ref: ref, connection)
    // The user's own note that was moved out of reach is reported as another user's.
    case .success(.taken), .success(.found):
      sendError(
        .idTaken,
        "another note has this id: it was made by another user, or with another title; take a "
          + "new id",
        ref: ref, to: connection)
    case .success(.deleted):
      sendError(
        .unknownDocument, "the note with this id was deleted; take a new id", ref: ref,
        to: connection)
    case .failure(let error):
      dependencies.log.write(.error, "note not made", [("error", error.logName)])
      sendError(
        .unavailable, "the store cannot do this now; try again later", ref: ref, to: connection)
    }
  }

  /// Whether a connection may see the current title and folder of a note.
  private func mayHear(of note: NoteSummary, _ connection: Connection) -> Bool {
    !connection.verbs(on: note).isDisjoint(with: [.read, .manage])
  }
}
