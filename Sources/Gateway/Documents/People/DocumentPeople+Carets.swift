import ParleyGatewayPorts
import OTCore
import SocketMessages
import ParleyWebSocketFrames

/// The carets of people who follow a document.
extension DocumentPeople {
  /// Handles new carets of a follower.
  ///
  /// - Parameter revision: The revision that the carets refer to. Later entries are in memory.
  func select(_ selections: [Selection], at revision: Int, _ subscription: Subscription) {
    guard let live = subscription.room.live else { return }
    let length = live.durableDocument.scalarCount
    subscription.selections = selections
    subscription.moveSelections(over: live.durableEntries(after: revision))
    Carets.clamp(&subscription.selections, to: length)
    subscription.room.people.named = nil
    recordAct(of: subscription)
    tellNodesOfCarets(of: subscription)
    // A client whose name is not announced yet is announced first, at the end of the turn.
    let client = subscription.connection.client
    if subscription.room.people.presence.isAnnounced(client) {
      shareSelections(of: client, in: subscription.room)
    }
  }

  /// Returns the carets of a client that follows the document here or at another node.
  func selections(of client: String, in room: DocumentRoom) -> [Selection] {
    if let subscription = shownFollower(client, of: room) { return subscription.selections }
    return room.people.elsewhere?.shown(client)?.selections ?? []
  }

  func shareSelections(of client: String, in room: DocumentRoom) {
    guard let live = room.live else { return }
    let own = follower(client, of: room)
    var shared: Frame?
    for other in room.subscriptions
    where other !== own && other.connection.dialect.traits.hearsOfPeople && !other.isLagging
      && other.verbs.contains(.presence)
    {
      guard other.revision == live.durableRevision else { continue }
      let frame = shared ?? selectionsFrame(of: client, in: room, revision: live.durableRevision)
      shared = frame
      send(frame, to: other.connection)
    }
  }

  func sendSelections(of client: String, to subscription: Subscription) {
    guard subscription.connection.dialect.traits.hearsOfPeople, let live = subscription.room.live,
      subscription.verbs.contains(.presence)
    else { return }
    send(
      selectionsFrame(of: client, in: subscription.room, revision: live.durableRevision),
      to: subscription.connection)
  }

  private func selectionsFrame(
    of client: String, in room: DocumentRoom, revision: Int
  ) -> Frame {
    frame(
      .selections(
        .init(
          documentID: room.id.text, revision: revision, clientID: client,
          selections: selections(of: client, in: room))),
      ref: pushID())
  }
}
