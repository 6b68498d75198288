import GatewayPorts
import SocketMessages

/// Rights to documents that change while they are followed.
extension Documents {
  /// Brings a subscription in line with what its connection may do now.
  func applyRights(to subscription: Subscription) {
    let connection = subscription.connection
    let room = subscription.room
    let verbs = connection.verbs(in: room)
    let before = subscription.verbs
    guard verbs != before else { return }
    guard verbs.contains(.read) else {
      leave(subscription)
      connection.dialect.lostReading(of: room.id, connection)
      return
    }
    if before.contains(.presence), !verbs.contains(.presence) {
      subscription.selections = []
      hide(subscription)
    }
    subscription.verbs = verbs
    if verbs.contains(.presence), !before.contains(.presence) {
      show(subscription)
      sendOthers(to: subscription)
    }
    if verbs.contains(.write) != before.contains(.write) {
      connection.dialect.changedAccess(
        to: verbs.contains(.write) ? .write : .read, of: room.id, connection)
    }
  }
}
