import GatewayPorts
import SocketMessages

/// Making changes durable, and telling what came of it.
///
/// One commit of a document is under way at a time; what is taken meanwhile goes with the next.
extension Gateway {
  /// Hands the tentative entries to the store, unless a commit is under way.
  func commit(_ room: DocumentRoom) {
    guard room.renewal != .storing, let entries = room.live?.takeCommit(),
      let epoch = room.live?.epoch
    else { return }
    store(.append(id: room.id, epoch: epoch, entries: entries), for: .append(room.id))
  }

  /// A commit is over.
  func appended(_ id: DocumentID, _ reply: StoreReply) {
    guard let room = documents[id] else { return }
    switch reply {
    case .done:
      storeFailure = nil
      guard let entries = room.live?.commitSucceeded() else { return }
      measure(entries.count, in: room)
      deliver(entries, in: room)
      answerEdits(entries, in: room)
      room.live?.trim(keeping: settings.windowEntries)
      admitWaiting(room)
      commit(room)
      storeEpoch(of: room)
    case .failed(let error):
      surroundings.log.write(.error, "commit failed", [("error", error.logName)])
      storeFailure = error
      guard let fallen = room.live?.commitFailed() else { return }
      room.arrivals.removeAll()
      refuseFallen(fallen, error, in: room)
      admitWaiting(room)
      storeEpoch(of: room)
      if !error.isRetryable {
        // The log is not what this process thinks it is: read it again.
        documents[id] = nil
        for subscription in room.subscriptions {
          sendError(
            .unavailable, "the document is being read again; join it anew", ref: pushID(),
            to: subscription.connection)
          close(subscription.connection, .rejoin, "join again")
        }
      }
    case .note, .notes, .document, .entries, .text, .history, .versions, .room, .people:
      preconditionFailure("a store answers an append with done")
    }
  }

  /// Counts how long the oldest changes of a document took from their arrival until now.
  private func measure(_ count: Int, in room: DocumentRoom) {
    metrics.changesAccepted += count
    let now = surroundings.clock.microseconds
    for arrival in room.arrivals.prefix(count) { metrics.acknowledgement.record(now - arrival) }
    broadcasting += room.arrivals.prefix(count)
    room.arrivals.removeFirst(count)
  }

  /// Refuses the changes of a commit that failed, and those that were made on it.
  private func refuseFallen(_ fallen: [LogEntry], _ error: StoreError, in room: DocumentRoom) {
    for entry in fallen {
      if let request = room.editRequests.removeValue(forKey: entry.revision) {
        respond(
          request, .problem(503, .unavailable, "the edit could not be written; try again later"))
      }
    }
    for subscription in room.subscriptions {
      let connection = subscription.connection
      for entry in fallen where entry.client == connection.client {
        guard let messageID = subscription.messageIDs.removeValue(forKey: entry.revision) else {
          continue
        }
        switch connection.dialect {
        case .native:
          refuse(
            entry.sequence, .unavailable,
            "the change could not be written to disk and is not in the document; send it again",
            of: room.id, ref: messageID, to: connection)
        case .whaler: resyncWhaler(subscription)
        case .session: break
        }
      }
    }
  }
}
