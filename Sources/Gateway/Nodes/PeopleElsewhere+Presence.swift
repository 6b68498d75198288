import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Showing a note's followers the people at other nodes.
///
/// A client that is also at this node is shown from here. When another node begins to show a
/// client, the client's name is sent again, since its carets are gone.
extension RemotePeople {
  /// Applies a change of a node's people.
  ///
  /// - Parameter isHere: Whether a client is shown from this node.
  mutating func take(
    _ change: PeopleChange, of node: String, in presence: inout DocumentPresence,
    isHere: (String) -> Bool
  ) {
    for client in change.left + change.broken {
      let wasShown = shown(client)?.node.isExactly(node) ?? false
      leave(client, at: node)
      guard wasShown, !isHere(client) else { continue }
      presence.leave(client)
      show(client, in: &presence)
    }
    for person in change.joined {
      let before = shown(person.id)
      enter(person, at: node)
      guard !isHere(person.id) else { continue }
      if before != nil, before !== shown(person.id) { presence.leave(person.id) }
      show(person.id, in: &presence)
    }
  }

  /// Shows a client from another node, if the client is at one. It is not shown from this node.
  func show(_ client: String, in presence: inout DocumentPresence) {
    guard let person = shown(client)?.person else { return }
    presence.enter(
      ServerMessage.Participant(
        clientID: client, name: person.profile.name, color: person.profile.color, selections: [],
        personID: person.person?.text))
  }
}
