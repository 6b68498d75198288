import ParleyGatewayPorts
import SocketMessages

/// Changes of rights to documents that a connection follows.
extension Documents {
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
      // The right returned before the subscription ended: send the entries withheld meanwhile.
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

  /// Ends a subscription whose connection may no longer read the document. While its own change is
  /// being committed, it is sent nothing; then it is sent the entries up to its own.
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
    for (subscription, own) in leaving where subscription.place != nil {
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
}
