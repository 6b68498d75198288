import ParleyGatewayPorts
import SocketMessages

/// News of documents as a whole.
extension Documents {
  /// A note has another title.
  func renamed(_ id: DocumentID, to title: String) {
    guard let room = documents[id] else { return }
    room.live?.title = title
    tell(room, title: title)
  }

  /// Notes are in other folders; other nodes are to read the new ones.
  func moved(_ notes: [NoteSummary]) {
    for note in notes {
      if let room = documents[note.id] { take(note.folder, in: room) }
      if settings.sharesStore {
        act(.publish(topic: documents.topic(of: note.id), DocumentRoom.moveHint))
      }
    }
  }

  /// A document is in a folder, which decides its followers' rights from now on.
  func take(_ folder: FolderPath, in room: DocumentRoom) {
    guard let live = room.live, live.folder != folder else { return }
    room.live?.folder = folder
    let followers = room.subscriptions
    for subscription in followers { applyRights(to: subscription) }
    for subscription in followers where !subscription.verbs.contains(.read) {
      owner?.lostReading(subscription.connection)
    }
  }

  /// A note was deleted.
  func deleted(_ id: DocumentID) {
    guard let room = documents[id] else { return }
    tell(room, isDeleted: true)
    for subscription in room.subscriptions { subscription.connection.subscriptions[id] = nil }
    for edit in room.changes.edits.values {
      respond(edit.request, .problem(404, .unknownDocument, "the note was deleted"))
    }
    // All of them are answered below.
    for case .join(let waiting, _, _) in room.waiting.all + room.log.allAsking {
      guard let connection = connections[waiting] else { continue }
      connection.dialect.turnAwayFromDeleted(connection)
    }
    turnAway(room, .unknownDocument, "the note was deleted")
  }

  /// Notifies the followers whose dialect has a message for it.
  private func tell(_ room: DocumentRoom, title: String? = nil, isDeleted: Bool = false) {
    let news = frame(
      .documentChanged(.init(documentID: room.id.text, title: title, deleted: isDeleted)),
      ref: pushID())
    for subscription in room.subscriptions
    where subscription.connection.dialect.traits.hearsOfPeople {
      send(news, to: subscription.connection)
    }
  }
}
