import ParleyGatewayPorts
import SocketMessages

/// Giving a document another epoch, once a client knows more than the log.
extension Documents {
  /// Lets another history begin: what was taken is committed first.
  func renewEpoch(of room: DocumentRoom) {
    dependencies.log.write(.error, "a client knows more than the log: its tail was lost", [])
    room.pause(for: .settling)
    storeEpoch(of: room)
  }

  /// Gives the store the epoch that a document waits for, once nothing else is under way to it.
  func storeEpoch(of room: DocumentRoom) {
    guard room.pause == .settling, let live = room.live, live.isSettled, room.log.read == nil
    else { return }
    room.pause(for: .storingEpoch)
    let epoch = dependencies.names.next()
    store(
      .renewEpoch(id: room.id, from: live.epoch, to: epoch), under: .housekeeping,
      then: .renewal(room.id, epoch: epoch))
  }

  /// The store has given a document another epoch, or not.
  func renewed(_ id: DocumentID, to epoch: String, _ outcome: StoreOutcome<Void>) {
    guard let room = documents[id], room.endPause(.storingEpoch) else { return }
    if case .failure(.notNext) = outcome, room.live?.isShared ?? false {
      // Another node was first.
      return readAgain(room)
    }
    if case .failure(let error) = outcome {
      dependencies.log.write(.error, "epoch not renewed", [("error", error.logName)])
      for waiting in room.waiting.takeAll() {
        // A client that knows more than the log tries again: with the text and the old epoch it would
        // forget what no other client knows.
        if case .join(let id, let messageID, let joining) = waiting, joining.resume != nil {
          guard let connection = connections[id], connection.isReady else { continue }
          turnAway(
            connection, .unavailable, "the document cannot be given a new epoch now; try again",
            ref: messageID)
        } else {
          settle(waiting, in: room, without: error)
        }
      }
    } else {
      room.live?.renew(epoch: epoch)
      for subscription in room.subscriptions
      where subscription.connection.dialect.traits.knowsEpochs {
        delivery.resync(subscription, reason: .epochChanged, messageID: pushID())
      }
      people.renewCarets(in: room)
      refuseChangesOfAnotherEpoch(waitingFor: room)
      admitWaiting(room)
    }
    commit(room)
    readNews(of: room)
  }

  /// Refuses changes that native clients made for the old epoch, before they were notified of the
  /// new one.
  private func refuseChangesOfAnotherEpoch(waitingFor room: DocumentRoom) {
    for waiting in room.waiting.takeAll() {
      if case .change(let id, let messageID, let submission) = waiting,
        let connection = connections[id], connection.dialect.traits.knowsEpochs
      {
        refuseForItsEpoch(submission.sequence, of: room.id, ref: messageID, to: connection)
      } else {
        room.waiting.append(waiting)
      }
    }
  }
}
