import GatewayPorts
import SocketMessages
import WebSocketFrames

/// Sending followers the other people of a document: once per turn, the same for all of them.
///
/// A crowd that joins in one turn costs each follower one message and not one for each newcomer. Ticks tell
/// how many there are, where only the number has changed, and who acts in a large crowd.
extension Documents {
  /// Shows a follower to the others.
  func show(_ subscription: Subscription) {
    let person = person(of: subscription)
    subscription.isSucceeded = false
    // As it was at another node, it had other carets.
    if subscription.room.elsewhere?.shown(person.clientID) != nil {
      subscription.room.presence.leave(person.clientID)
    }
    subscription.room.presence.enter(person)
    gather(subscription.room)
    tellNodes(of: person, subscription)
  }

  /// Shows the others the name and colour that a follower has sent again.
  func showProfile(of subscription: Subscription) {
    let person = person(of: subscription)
    subscription.room.presence.update(person)
    gather(subscription.room)
    tellNodes(of: person, subscription)
  }

  /// Shows a follower no longer.
  func hide(_ subscription: Subscription) {
    let client = subscription.connection.client
    subscription.room.presence.leave(client)
    subscription.room.elsewhere?.show(client, in: &subscription.room.presence)
    gather(subscription.room)
    tellNodesOfLeaving(subscription)
  }

  /// Notes that a follower has moved a caret or changed the text: the others know it by name then.
  func noteAct(of subscription: Subscription) {
    guard subscription.verbs.contains(.presence) else { return }
    if subscription.isSucceeded { show(subscription) }
    subscription.room.presence.act(subscription.connection.client)
    gather(subscription.room)
  }

  /// The people who are known by name, with their carets, encoded once for all who come in a turn.
  func namedPeople(of room: DocumentRoom) -> EncodedParticipants {
    if let kept = room.named { return kept }
    let people = room.presence.told.map { person in
      var person = person
      person.selections = selections(of: person.clientID, in: room)
      return person
    }
    let named = EncodedParticipants(people)
    room.named = named
    return named
  }

  /// A client's subscription to a document.
  func follower(_ client: String, of room: DocumentRoom) -> Subscription? {
    connectionsByClient[client].flatMap { connections[$0]?.subscriptions[room.id] }
  }

  /// The same, if the client may be shown and no other node shows it instead.
  func shownFollower(_ client: String, of room: DocumentRoom) -> Subscription? {
    follower(client, of: room).flatMap {
      $0.verbs.contains(.presence) && !$0.isSucceeded ? $0 : nil
    }
  }

  /// Sends a follower the others who are there.
  func sendOthers(to subscription: Subscription) {
    let room = subscription.room
    let client = subscription.connection.client
    let named = namedPeople(of: room)
    let people = room.presence.toldCount
    guard subscription.connection.dialect.traits.hearsOfPeople,
      people != nil || !named.isEmpty(leavingOut: client)
    else { return }
    let message = EncodedPresence(
      ServerMessage.Presence(
        documentID: room.id, joined: [], updated: [], left: [], people: people),
      joined: named)
    let ref = pushID()
    send(
      Frame { message.encode(messageID: ref, leavingOut: client, into: &$0) },
      to: subscription.connection)
  }

  /// The follower, as others see it, without carets.
  private func person(of subscription: Subscription) -> ServerMessage.Participant {
    let connection = subscription.connection
    return .init(
      clientID: connection.client, name: connection.name, color: connection.color, selections: [],
      personID: connection.user.map { shownID(of: $0, in: subscription.room.id) })
  }

  /// The name by which devices of one user are known as one person's in a document. It reveals nothing
  /// else: guests by a link see it, and a user's id may be an address.
  private func shownID(of user: PersonID, in id: DocumentID) -> String {
    // A part of the code, so that it proves nothing. With lengths, so that no two pairs give one text.
    String(surroundings.tokens.token(for: "person \(id.utf8.count) \(id) \(user)").suffix(20))
  }

  // MARK: The ends of turns

  func gather(_ room: DocumentRoom) {
    guard !room.isGathering, room.presence.hasNews || room.presence.hasCountNews else { return }
    room.isGathering = true
    gathering.append(room)
  }

  /// Sends followers the people who came, acted and left in this turn.
  func tellPresence() {
    guard !gathering.isEmpty else { return }
    let rooms = gathering
    gathering = []
    for room in rooms {
      room.isGathering = false
      guard documents[room.id] === room else { continue }
      let canWait = room.presence.canWait
      if !canWait, let turn = room.presence.takeTurn(tellsCount: false) { tell(turn, to: room) }
      if room.presence.hasCountNews || canWait, !room.isCounting {
        room.isCounting = true
        counting.append(room)
      }
    }
  }

  /// Sends followers the number of people here, unless another message of this turn contained it.
  func tellCounts() {
    guard !counting.isEmpty else { return }
    let rooms = counting
    counting = []
    for room in rooms {
      room.isCounting = false
      guard documents[room.id] === room else { continue }
      if let turn = room.presence.takeTurn(tellsCount: true) { tell(turn, to: room) }
    }
  }

  func tell(_ turn: DocumentPresence.Turn, to room: DocumentRoom) {
    room.named = nil
    let message = EncodedPresence(
      ServerMessage.Presence(
        documentID: room.id, joined: turn.joined, updated: turn.updated, left: turn.left,
        people: turn.people))
    for person in turn.joined + turn.updated {
      follower(person.clientID, of: room)?.isConcerned = true
    }
    var shared: Frame?
    for subscription in room.subscriptions {
      let connection = subscription.connection
      let isConcerned = subscription.isConcerned
      subscription.isConcerned = false
      guard connection.dialect.traits.hearsOfPeople, subscription.verbs.contains(.presence) else {
        continue
      }
      if isConcerned {
        if !turn.changesForm, message.isEmpty(leavingOut: connection.client) { continue }
        let ref = pushID()
        send(
          Frame { message.encode(messageID: ref, leavingOut: connection.client, into: &$0) },
          to: connection)
      } else {
        let ref = shared == nil ? pushID() : ""
        let frame = shared ?? Frame { message.encode(messageID: ref, into: &$0) }
        shared = frame
        send(frame, to: connection)
      }
    }
    // Carets whose person had no name here before.
    for person in turn.joined where !selections(of: person.clientID, in: room).isEmpty {
      shareSelections(of: person.clientID, in: room)
    }
  }
}
