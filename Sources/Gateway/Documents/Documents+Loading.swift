import GatewayPorts
import OTCore
import SocketMessages

/// Bringing documents into memory.
extension Documents {
  /// The room of a document, which is read from the store if it is not in memory.
  func room(of id: DocumentID) -> DocumentRoom {
    if let room = documents[id] { return room }
    roomsMade += 1
    let room = DocumentRoom(
      id: id, numbers: DocumentNumbers(document: roomsMade, time: surroundings.clock.now),
      presenceListMax: settings.presenceListMax,
      idleMilliseconds: settings.idleDocumentMilliseconds,
      now: surroundings.clock.uptime)
    documents[id] = room
    store(.load(id: id, recentMax: settings.windowEntries), for: .document(id))
    return room
  }

  /// A document has been read from the store, or not.
  func loaded(_ id: DocumentID, _ outcome: StoreOutcome<StoredDocument>) {
    // A reply for a room that is gone may reach the room that took its place: once.
    guard let room = documents[id], room.live == nil else { return }
    switch outcome {
    case .success(let stored):
      room.live = LiveDocument(stored)
      followTopic(of: room)
      admitWaiting(room)
    case .failure(.unknownDocument):
      let wantsCreation = room.waiting.contains {
        if case .join(let id, _, _) = $0, let connection = connections[id] {
          connection.dialect.traits.createsDocuments
            && connection.verbs(on: .document(room.id, in: FolderPath.none)).contains(.manage)
        } else {
          false
        }
      }
      if wantsCreation, settings.whalerCreatesDocuments {
        store(
          .create(
            id: id, epoch: surroundings.names.next(), title: OneLine.made(of: id),
            time: surroundings.clock.now),
          for: .creation(id))
      } else {
        turnAway(room, .unknownDocument, "no document has this name; create it first")
      }
    case .failure(let error):
      surroundings.log.write(.error, "document not readable", [("error", error.logName)])
      turnAway(
        room, error.isRetryable ? .unavailable : .damaged,
        error.isRetryable
          ? "the store cannot be read now; try again"
          : "the document's log is damaged; the operator has to restore it")
    }
  }

  /// A document that a client joined has been made, or not.
  func created(_ id: DocumentID, _ outcome: StoreOutcome<NoteSummary>) {
    guard let room = documents[id] else { return }
    switch outcome {
    case .success:
      owner?.noteListChanged()
      store(.load(id: id, recentMax: settings.windowEntries), for: .document(id))
    case .failure(.exists):
      store(.load(id: id, recentMax: settings.windowEntries), for: .document(id))
    case .failure(let error):
      surroundings.log.write(.error, "document not made", [("error", error.logName)])
      turnAway(room, .unavailable, "the document could not be made; try again")
    }
  }
}
