import ParleyGatewayPorts
import SocketMessages

/// Showing a note's followers the people that other nodes have there.
///
/// A client that is here, too, is shown as it is here. Where it is shown by another node than before, its
/// name is sent again, for its carets are gone.
extension PeopleElsewhere {
  /// Takes a change of a node's people.
  ///
  /// - Parameter isHere: Whether a client is shown as it is at this node.
  mutating func take(
    _ change: PeopleChange, of node: String, in presence: inout DocumentPresence,
    isHere: (String) -> Bool
  ) {
    for client in change.left + change.broken {
      let wasShown = shown(client)?.node.utf8.elementsEqual(node.utf8) ?? false
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

  /// Shows a client that is not here as it is at another node, if it is at one.
  func show(_ client: String, in presence: inout DocumentPresence) {
    guard let person = shown(client)?.person else { return }
    presence.enter(
      ServerMessage.Participant(
        clientID: client, name: person.profile.name, color: person.profile.color, selections: [],
        personID: person.person))
  }
}
