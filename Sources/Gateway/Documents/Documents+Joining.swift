import ParleyGatewayPorts
import OTCore
import SocketMessages
import ParleyWebSocketFrames

/// Beginning and ending to follow a document.
extension Documents {
  /// A connection wants to follow a document.
  func join(
    _ id: DocumentID, _ joining: DocumentJoining, messageID: String, _ connection: Connection
  ) {
    let room = room(of: id)
    if room.live != nil, !connection.verbs(in: room).contains(.read) {
      return connection.dialect.turnAwayUnentitled(connection, ref: messageID)
    }
    let waiting = WaitingWork.join(connection.id, messageID: messageID, joining)
    let resume = joining.resume
    // A client whose change is being committed waits for the outcome first: if it heard now that the log
    // does not hold the change, it would send it again as another one.
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
        // A client has seen what this log does not hold: its tail is lost. From here on it is another
        // history, and all followers are notified of it.
        wait(waiting, in: room, connection)
        return renewEpoch(of: room)
      }
      let first = resume.firstNeeded
      if first >= 0, first < live.oldestBase {
        if live.durableRevision - first <= settings.lagRevisionsMax {
          // What the client missed is still in the store: with it, nothing has to be merged.
          wait(waiting, in: room, connection)
          return readHistory(of: room, after: first, through: live.oldestBase)
        }
        if joining.pages, connection.verbs(in: room).contains(.read) {
          // It follows nothing until it has read what it missed. None of its changes is under way: its
          // earlier connection has ended, and messages on this one are done.
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
      // The right went while the document was being read.
      connection.dialect.turnAwayUnentitled(connection, ref: messageID)
      return
    }
    let subscription: Subscription
    if let old = connection.subscriptions[room.id] {
      // Joining again starts over: what follows is counted from this reply.
      subscription = old
      subscription.messageIDs.removeAll()
      subscription.isLagging = false
      subscription.catchUpRead = nil
      subscription.textRevision = 0
      subscription.isFenced = false
    } else {
      // Joins that were sent at once have all waited for the store.
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

  /// The last change in the log of the client under whose id a change was sent. From here on that change
  /// never becomes a revision as it was sent, unless it is one already.
  ///
  /// Under a former id of the client, a copy may still be on the way on the connection of that time.
  /// Changes on that connection are refused until it joins again, which no copy does.
  ///
  /// - Returns: `nil` if none is asked about, or where that connection is another user's.
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

  /// A connection no longer follows a document.
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
