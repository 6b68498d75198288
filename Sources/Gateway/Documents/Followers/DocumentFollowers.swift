import ParleyGatewayPorts
import SocketMessages

/// The subscriptions to documents: how they begin and end, and the rights of their connections.
final class DocumentFollowers: Part {
  let board: Switchboard
  private let people: DocumentPeople
  private let delivery: DocumentDelivery

  init(_ board: Switchboard, _ people: DocumentPeople, _ delivery: DocumentDelivery) {
    self.board = board
    self.people = people
    self.delivery = delivery
  }

  // MARK: Joining and leaving

  /// Subscribes a connection to a document that is in memory, and answers it.
  func join(
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
        connection.dialect.turnAway(
          connection, .tooMany,
          "a connection may follow \(countMax) documents; leave one first", ref: messageID)
        return
      }
      subscription = Subscription(connection: connection, room: room)
      connection.subscriptions[room.id] = subscription
      room.add(subscription)
      people.followNodes(in: room)
    }
    subscription.session = joining.session ?? live.sessionFloor
    subscription.formats = joining.formats
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
  /// If the change was sent under a former client id, a copy may still arrive on the connection of
  /// that id. So that connection's changes are refused until it joins again.
  ///
  /// - Returns: `nil` if `unanswered` is `nil`, or if the connection belongs to another user.
  func settled(
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

  // MARK: Rights

  /// Applies the current rights of a connection to its subscription.
  func applyRights(to subscription: Subscription) {
    let connection = subscription.connection
    let room = subscription.room
    let verbs = connection.verbs(in: room)
    let before = subscription.verbs
    guard verbs != before else { return }
    guard verbs.contains(.read) else {
      if before.contains(.read) { loseReading(subscription) }
      return
    }
    if !before.contains(.read) {
      // The right was restored before the subscription ended: send the entries withheld meanwhile.
      room.leaving.removeAll { $0.subscription === subscription }
      delivery.lag(subscription)
    }
    if before.contains(.presence), !verbs.contains(.presence) {
      subscription.selections = []
      people.hide(subscription)
    }
    subscription.verbs = verbs
    if verbs.contains(.presence), !before.contains(.presence) {
      people.show(subscription)
      people.sendOthers(to: subscription)
    }
    if verbs.contains(.write) != before.contains(.write) {
      connection.dialect.changedAccess(
        to: verbs.contains(.write) ? .write : .read, of: room.id, connection)
    }
  }

  /// Ends a subscription whose connection may no longer read the document. If its own change is
  /// being committed, the subscription ends after the commit. It is sent nothing meanwhile, and at
  /// the end the entries up to its own.
  private func loseReading(_ subscription: Subscription) {
    let connection = subscription.connection
    let room = subscription.room
    let own = room.live?.pendingRevision(of: connection.client)
    if subscription.verbs.contains(.presence) { people.hide(subscription) }
    subscription.verbs = []
    guard let own, connection.dialect.traits.knowsEpochs else {
      leave(subscription)
      return connection.dialect.changedAccess(to: .none, of: room.id, connection)
    }
    subscription.selections = []
    subscription.catchUpRead = nil
    room.leaving.append((subscription, own))
  }

  /// Ends the subscriptions of clients that may no longer read and have no pending change.
  func endLeaving(_ room: DocumentRoom) {
    guard !room.leaving.isEmpty, let live = room.live else { return }
    let leaving = room.leaving
    room.leaving = []
    for (subscription, own) in leaving where subscription.followerIndex != nil {
      guard live.pendingRevision(of: subscription.connection.client) == nil else {
        room.leaving.append((subscription, own))
        continue
      }
      // After a lost race, the change comes after entries that its author may not read.
      if subscription.messageIDs[own] != nil, own <= live.durableRevision,
        subscription.revision >= live.oldestBase
      {
        delivery.send(
          live.durableEntries(after: subscription.revision).prefix { $0.revision <= own },
          to: subscription)
      }
      loseReading(subscription)
    }
  }

  // MARK: News

  /// Notifies the followers whose dialect has a message for the event.
  func tell(_ room: DocumentRoom, title: String? = nil, isDeleted: Bool = false) {
    let news = frame(
      .documentChanged(.init(documentID: room.id.text, title: title, deleted: isDeleted)),
      ref: pushID())
    for subscription in room.subscriptions
    where subscription.connection.dialect.traits.hearsOfPeople {
      send(news, to: subscription.connection)
    }
  }
}
