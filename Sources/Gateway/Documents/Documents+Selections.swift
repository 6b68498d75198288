import GatewayPorts
import OTCore
import SocketMessages
import WebSocketFrames

/// The carets of people who follow a document.
extension Documents {
  /// A follower has moved its carets.
  ///
  /// - Parameter revision: whose text they are on; the entries since are in memory.
  func select(_ selections: [Selection], at revision: Int, _ subscription: Subscription) {
    guard let live = subscription.room.live else { return }
    let length = live.durableDocument.scalarCount
    subscription.selections = selections
    subscription.moveSelections(over: live.durableEntries(after: revision))
    for index in subscription.selections.indices {
      let selection = subscription.selections[index]
      subscription.selections[index] = Selection(
        anchor: min(max(selection.anchor, 0), length), head: min(max(selection.head, 0), length))
    }
    subscription.room.named = nil
    noteAct(of: subscription)
    // Whoever is not known by name is named first, with the end of the turn.
    if subscription.room.presence.isTold(subscription.connection.client) {
      shareSelections(of: subscription)
    }
  }

  func shareSelections(of subscription: Subscription) {
    guard let live = subscription.room.live else { return }
    var shared: Frame?
    for other in subscription.room.subscriptions
    where other !== subscription && other.connection.dialect.traits.hearsOfPeople
      && !other.isLagging
      && other.verbs.contains(.presence)
    {
      guard other.revision == live.durableRevision else { continue }
      let frame = shared ?? selectionsFrame(of: subscription, revision: live.durableRevision)
      shared = frame
      send(frame, to: other.connection)
    }
  }

  func sendSelections(of subscription: Subscription, to connection: Connection) {
    guard connection.dialect.traits.hearsOfPeople, let live = subscription.room.live,
      connection.subscriptions[subscription.room.id]?.verbs.contains(.presence) ?? false
    else { return }
    send(selectionsFrame(of: subscription, revision: live.durableRevision), to: connection)
  }

  private func selectionsFrame(of subscription: Subscription, revision: Int) -> Frame {
    frame(
      .selections(
        .init(
          documentID: subscription.room.id, revision: revision,
          clientID: subscription.connection.client, selections: subscription.selections)),
      ref: pushID())
  }
}
