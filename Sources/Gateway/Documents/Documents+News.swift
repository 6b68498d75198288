import GatewayPorts
import SocketMessages
import WebSocketFrames

/// News of documents as a whole.
extension Documents {
  /// A note has another title.
  func renamed(_ id: DocumentID, to title: String) {
    guard let room = documents[id] else { return }
    room.live?.title = title
    tell(room, .renamed(title))
  }

  /// A note is no more.
  func deleted(_ id: DocumentID) {
    guard let room = documents[id] else { return }
    tell(room, .deleted)
    for subscription in room.subscriptions { subscription.connection.subscriptions[id] = nil }
    for edit in room.pendingEdits.values {
      respond(edit.request, .problem(404, .unknownDocument, "the note was deleted"))
    }
    for case .join(let waiting, _, _) in room.waiting {
      guard let connection = connections[waiting] else { continue }
      connection.dialect.turnAwayFromDeleted(connection)
    }
    turnAway(room, .unknownDocument, "the note was deleted")
  }

  private enum DocumentNews {
    case renamed(String)
    case deleted
  }

  private func tell(_ room: DocumentRoom, _ news: DocumentNews) {
    let message: ServerMessage
    switch news {
    case .renamed(let title):
      message = .documentChanged(.init(documentID: room.id, title: title, deleted: false))
    case .deleted:
      message = .documentChanged(.init(documentID: room.id, title: nil, deleted: true))
    }
    let ref = pushID()
    let frame = Frame { message.encode(messageID: ref, into: &$0) }
    for subscription in room.subscriptions
    where subscription.connection.dialect.traits.hearsOfPeople {
      send(frame, to: subscription.connection)
    }
  }
}
