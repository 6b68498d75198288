import ParleyGatewayPorts
import SocketMessages

/// Rights to documents that change while they are followed.
extension Documents {
  /// Applies the present rights of a connection to its subscription.
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
      // It may read again before it has left, and lacks what it was not sent meanwhile.
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

  /// Ends a subscription whose connection may no longer read the document. If a change of its own is being
  /// committed, it is sent nothing until that is over, and then the changes up to its own.
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

  /// Ends the subscriptions of clients that may no longer read and whose changes are committed or refused
  /// by now.
  func endLeaving(_ room: DocumentRoom) {
    guard !room.leaving.isEmpty, let live = room.live else { return }
    let leaving = room.leaving
    room.leaving = []
    for (subscription, own) in leaving where subscription.place != nil {
      guard live.pendingRevision(of: subscription.connection.client) == nil else {
        room.leaving.append((subscription, own))
        continue
      }
      // A change that other nodes have overtaken has come behind what its author may not read.
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
