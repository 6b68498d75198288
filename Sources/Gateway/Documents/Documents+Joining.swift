import ParleyGatewayPorts
import OTCore
import SocketMessages
import ParleyWebSocketFrames

/// Joining and leaving documents.
extension Documents {
  /// Handles a connection's request to follow a document.
  func join(
    _ id: DocumentID, _ joining: DocumentJoining, messageID: String, _ connection: Connection
  ) {
    let room = room(of: id)
    if room.live != nil, !connection.verbs(in: room).contains(.read) {
      return connection.dialect.turnAwayUnentitled(connection, ref: messageID)
    }
    let waiting = WaitingWork.join(connection.id, messageID: messageID, joining)
    let resume = joining.resume
    // A client whose change is being committed waits for the outcome. If it learned now that the
    // log lacks the change, it would resend the change as a new one.
    guard let live = room.live, !room.isBusy, live.pendingRevision(of: connection.client) == nil,
      joining.unanswered.flatMap({ live.pendingRevision(of: $0.clientID) }) == nil
    else {
      return wait(waiting, in: room, connection)
    }
    guard !joining.needsNews(of: live, for: connection) else {
      guard room.waitingCount < settings.waitingMax else {
        return turnAway(
          connection, .busy, "too many wait for this document; try again", ref: messageID)
      }
      return ask(waiting, in: room)
    }
    if let resume, resume.epoch == live.epoch {
      if resume.revision > live.durableRevision {
        // The client has seen revisions that this log does not contain: the tail of the log is
        // lost. A new epoch begins, and all followers are notified.
        wait(waiting, in: room, connection)
        return renewEpoch(of: room)
      }
      let first = resume.firstNeeded
      if first >= 0, first < live.oldestBase {
        if live.durableRevision - first <= settings.lagRevisionsMax {
          // The store still contains the missed entries. Sending them saves the client a merge.
          wait(waiting, in: room, connection)
          return readHistory(of: room, after: first, through: live.oldestBase)
        }
        if joining.pages, connection.verbs(in: room).contains(.read) {
          // The client is not subscribed until it has read the missed pages. None of its changes is
          // under way: its earlier connection has ended, and this one's messages are handled.
          if let subscription = connection.subscriptions[id] { leave(subscription) }
          connection.dialect.behind(
            live, settled: settled(joining.unanswered, in: live, connection),
            messageID: messageID, connection)
          return
        }
      }
    }
    let work = room.textWork(of: joining, by: connection.dialect)
    guard mayBegin(work, in: room) else {
      return wait(waiting, in: room, connection)
    }
    turn.spend(work)
    finishJoin(room, joining, messageID: messageID, connection)
  }

  private func finishJoin(
    _ room: DocumentRoom, _ joining: DocumentJoining, messageID: String, _ connection: Connection
  ) {
    guard let live = room.live else { return }
    let verbs = connection.verbs(in: room)
    guard verbs.contains(.read) else {
      // The right was lost while the document was being loaded.
      connection.dialect.turnAwayUnentitled(connection, ref: messageID)
      return
    }
    let subscription: Subscription
    if let old = connection.subscriptions[room.id] {
      // Joining again resets the subscription: it continues from this reply.
      subscription = old
      subscription.messageIDs.removeAll()
      subscription.isLagging = false
      subscription.catchUpRead = nil
      subscription.textRevision = 0
      subscription.isFenced = false
    } else {
      // Check the limit again: several joins may have waited for the store at once.
      let countMax = settings.limits.documentsPerConnectionMax
      guard connection.subscriptions.count < countMax else {
        turnAway(
          connection, .tooMany,
          "a connection may follow \(countMax) documents; leave one first", ref: messageID)
        return
      }
      subscription = Subscription(connection: connection, room: room)
      connection.subscriptions[room.id] = subscription
      room.add(subscription)
      people.meetNodes(in: room)
    }
    subscription.session = joining.session ?? live.sessionFloor
    let wasShown = subscription.verbs.contains(.presence)
    subscription.verbs = verbs
    if verbs.contains(.presence) {
      people.show(subscription)
    } else if wasShown {
      people.hide(subscription)
    }
    let sees = connection.dialect.traits.hearsOfPeople && verbs.contains(.presence)
    let join = DocumentJoin(
      live: live, verbs: verbs, missed: live.entries(missedSince: joining.resume),
      settled: settled(joining.unanswered, in: live, connection),
      others: sees ? people.namedPeople(of: room) : nil)
    connection.dialect.joined(subscription, join, messageID: messageID)
  }

  /// Returns the last durable change under the client id of an unanswered change. From now on, the
  /// unanswered change is never committed as it was sent, unless it is durable already.
  ///
  /// Under a former client id, a copy may still arrive on the connection of that id. Changes on
  /// that connection are refused until it joins again; a copy arrives without a join.
  ///
  /// - Returns: `nil` if `unanswered` is `nil`, or if the connection belongs to another user.
  private func settled(
    _ unanswered: ChangeName?, in live: LiveDocument, _ connection: Connection
  ) -> ChangeName? {
    guard let unanswered else { return nil }
    let last = live.lastDurableSequence(of: unanswered.clientID)
    if last < unanswered.sequence, unanswered.clientID != connection.client,
      let former = connectionsByClient[unanswered.clientID].flatMap({ connections[$0] })
    {
      guard
        former.identity.map({ ExactName($0.user) })
          == connection.identity.map({ ExactName($0.user) })
      else { return nil }
      former.subscriptions[live.id]?.isFenced = true
    }
    return ChangeName(clientID: unanswered.clientID, sequence: last)
  }

  /// Ends a connection's subscription to a document.
  func leave(_ subscription: Subscription) {
    let connection = subscription.connection
    let room = subscription.room
    connection.subscriptions[room.id] = nil
    if subscription.hasWaited { room.adoptChanges(of: connection) }
    room.remove(subscription, now: dependencies.clock.uptime)
    if subscription.verbs.contains(.presence) { people.hide(subscription) }
    if room.subscriptions.isEmpty { people.partFromNodes(in: room) }
  }
}
