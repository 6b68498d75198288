import ParleyGatewayPorts
import OTCore
import SocketMessages

/// Bringing documents into memory.
extension Documents {
  /// The room of a document, which is read from the store if it is not in memory.
  func room(of id: DocumentID) -> DocumentRoom {
    if let room = documents[id] { return room }
    let room = documents.enter(id) { number in
      DocumentRoom(
        id: id, numbers: DocumentNumbers(document: number, time: dependencies.clock.now),
        presenceListMax: settings.presenceListMax,
        idleMilliseconds: settings.idleDocumentMilliseconds,
        now: dependencies.clock.uptime)
    }
    load(id)
    return room
  }

  private func load(_ id: DocumentID) {
    store(
      .load(id: id, recentMax: settings.windowEntries), under: .housekeeping,
      then: .document(id))
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
      guard settings.whalerCreatesDocuments, let right = room.rightToMake(on: board) else {
        return turnAway(room, .unknownDocument, "no document has this name; create it first")
      }
      store(
        .create(
          id: id, epoch: dependencies.names.next(), title: OneLine.made(of: id.text),
          time: dependencies.clock.now),
        under: right, then: .creation(id))
    case .failure(let error):
      dependencies.log.write(.error, "document not readable", [("error", error.logName)])
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
      load(id)
    case .failure(.exists):
      load(id)
    case .failure(let error):
      dependencies.log.write(.error, "document not made", [("error", error.logName)])
      turnAway(room, .unavailable, "the document could not be made; try again")
    }
  }
}
