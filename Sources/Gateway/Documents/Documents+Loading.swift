import ParleyGatewayPorts
import OTCore
import SocketMessages

/// Loading documents into memory.
extension Documents {
  /// Returns the room of a document, which is loaded from the store if it is not in memory.
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

  /// Handles the result of loading a document.
  func loaded(_ id: DocumentID, _ outcome: StoreOutcome<StoredDocument>) {
    // The reply for a removed room may reach a newer room of that name. Only the first is used.
    guard let room = documents[id], room.live == nil else { return }
    switch outcome {
    case .success(let stored):
      room.live = LiveDocument(stored)
      followTopic(of: room)
      admitWaiting(room)
    case .failure(.unknownDocument):
      guard let right = room.rightToMake(on: board) else {
        return turnAway(room, .unknownDocument, "no document has this name; create it first")
      }
      store(
        .create(
          id: id, epoch: Epoch(dependencies.names.next()), title: OneLine.made(of: id.text),
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

  /// Handles the result of creating a document that a client has joined.
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
      turnAway(room, .unavailable, "the document could not be created; try again")
    }
  }
}
