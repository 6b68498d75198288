import ParleyGatewayPorts
import SocketMessages

/// Replacing a document's epoch when a client has seen revisions that the log has lost.
extension Documents {
  /// Begins a new epoch, after the accepted changes are committed.
  func renewEpoch(of room: DocumentRoom) {
    dependencies.log.write(.error, "a client has revisions that the log has lost", [])
    room.pause(for: .settling)
    storeEpoch(of: room)
  }

  /// Stores the new epoch of a waiting document, once no other request for it is under way.
  func storeEpoch(of room: DocumentRoom) {
    guard room.pause == .settling, let live = room.live, live.isSettled, room.log.read == nil
    else { return }
    room.pause(for: .storingEpoch)
    let epoch = Epoch(dependencies.names.next())
    store(
      .renewEpoch(id: room.id, from: live.epoch, to: epoch), under: .housekeeping,
      then: .renewal(room.id, epoch: epoch))
  }

  /// Handles the result of storing an epoch.
  func renewed(_ id: DocumentID, to epoch: Epoch, _ outcome: StoreOutcome<Void>) {
    guard let room = documents[id], room.endPause(.storingEpoch) else { return }
    if case .failure(.notNext) = outcome, room.live?.isShared ?? false {
      // Another node has renewed the epoch first.
      return readAgain(room)
    }
    if case .failure(let error) = outcome {
      dependencies.log.write(.error, "epoch not renewed", [("error", error.logName)])
      for waiting in room.waiting.takeAll() {
        // A client that knows more than the log joins again. If it were sent the text under the old
        // epoch, it would discard changes that no other client has.
        if case .join(let id, let messageID, let joining) = waiting, joining.resume != nil {
          guard let connection = connections[id], connection.isReady else { continue }
          connection.dialect.turnAway(
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
    readNewEntries(of: room)
  }

  /// Refuses waiting changes of clients that know epochs: they were made in the old epoch.
  private func refuseChangesOfAnotherEpoch(waitingFor room: DocumentRoom) {
    for waiting in room.waiting.takeAll() {
      if case .change(let id, let messageID, let submission) = waiting,
        let connection = connections[id], connection.dialect.traits.knowsEpochs
      {
        refusals.refuseForItsEpoch(submission.sequence, of: room.id, ref: messageID, to: connection)
      } else {
        room.waiting.append(waiting)
      }
    }
  }
}
