import ParleyGatewayPorts
import SocketMessages

/// Events that concern a whole document.
extension Documents {
  /// Updates the title of a note, and notifies its followers.
  func renamed(_ id: DocumentID, to title: String) {
    guard let room = documents[id] else { return }
    room.live?.title = title
    followers.tell(room, title: title)
  }

  /// Applies the new folders of notes, and notifies other nodes.
  func moved(_ notes: [NoteSummary]) {
    for note in notes {
      if let room = documents[note.id] { take(note.folder, in: room) }
      if settings.sharesStore {
        act(.publish(topic: documents.topic(of: note.id), DocumentRoom.moveHint))
      }
    }
  }

  /// Applies a document's folder, which decides its followers' rights.
  func take(_ folder: FolderPath, in room: DocumentRoom) {
    guard let live = room.live, live.folder != folder else { return }
    room.live?.folder = folder
    let subscriptions = room.subscriptions
    for subscription in subscriptions { followers.applyRights(to: subscription) }
    for subscription in subscriptions where !subscription.verbs.contains(.read) {
      owner?.lostReading(subscription.connection)
    }
  }

  /// Handles the deletion of a note: notifies its followers, and answers pending requests.
  func deleted(_ id: DocumentID) {
    guard let room = documents[id] else { return }
    followers.tell(room, isDeleted: true)
    for subscription in room.subscriptions { subscription.connection.subscriptions[id] = nil }
    for edit in room.changes.edits.values {
      respond(edit.request, .problem(404, .unknownDocument, "the note was deleted"))
    }
    // `turnAway` answers these joins below.
    for case .join(let waiting, _, _) in room.waiting.all + room.log.allAsking {
      guard let connection = connections[waiting] else { continue }
      connection.dialect.turnAwayFromDeleted(connection)
    }
    turnAway(room, .unknownDocument, "the note was deleted")
  }
}
