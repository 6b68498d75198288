import ParleyGatewayPorts
import SocketMessages
import ParleyWebSocketFrames

/// The people in documents. Followers are notified of the others once per turn, with one message
/// for all.
///
/// If a crowd joins in one turn, each follower receives one message. In a large crowd, ticks report
/// the number of people and the active people.
final class DocumentPeople: Part {
  let board: Switchboard
  let documents: DocumentTable
  /// Documents with changed people, whose followers are notified at the end of the turn.
  private var gathering: [DocumentRoom] = []
  /// Documents with a changed number of people, or with names that wait for the next tick.
  private var counting: [DocumentRoom] = []
  /// The exchange of people in notes with other nodes; `nil` without other nodes.
  var exchange: PeopleExchange?

  init(_ board: Switchboard, _ documents: DocumentTable) {
    self.board = board
    self.documents = documents
    if board.settings.sharesStore {
      exchange = PeopleExchange(node: board.dependencies.names.next(), carets: self)
    }
  }

  /// Shows a follower to the others.
  func show(_ subscription: Subscription) {
    let person = person(of: subscription)
    subscription.isShownByOtherNode = false
    // The client's carets from another node are obsolete.
    if subscription.room.people.elsewhere?.shown(person.clientID) != nil {
      subscription.room.people.presence.leave(person.clientID)
    }
    subscription.room.people.presence.enter(person)
    gather(subscription.room)
    notifyNodes(of: person, subscription)
  }

  /// Shows the others the changed name and colour of a follower.
  func showProfile(of subscription: Subscription) {
    let person = person(of: subscription)
    subscription.room.people.presence.update(person)
    gather(subscription.room)
    notifyNodes(of: person, subscription)
  }

  /// Hides a follower from the others.
  func hide(_ subscription: Subscription) {
    let client = subscription.connection.client
    subscription.room.people.leaveHere(client)
    gather(subscription.room)
    tellNodesOfLeaving(subscription)
  }

  /// Records that a follower has moved a caret or changed the text; its name is announced.
  func recordAct(of subscription: Subscription) {
    guard subscription.verbs.contains(.presence) else { return }
    if subscription.isShownByOtherNode { show(subscription) }
    subscription.room.people.presence.act(subscription.connection.client)
    gather(subscription.room)
  }

  /// Returns the announced people with their carets, encoded once for all who join in a turn.
  func namedPeople(of room: DocumentRoom) -> EncodedParticipants {
    if let kept = room.people.named { return kept }
    let people = room.people.presence.announced.map { person in
      var person = person
      person.selections = selections(of: person.clientID, in: room)
      return person
    }
    let named = EncodedParticipants(people)
    room.people.named = named
    return named
  }

  /// Returns a client's subscription to a document; `nil` if it has none at this node.
  func follower(_ client: String, of room: DocumentRoom) -> Subscription? {
    connectionsByClient[client].flatMap { connections[$0]?.subscriptions[room.id] }
  }

  /// Returns the subscription if the client may be shown and no other node shows it instead.
  func shownFollower(_ client: String, of room: DocumentRoom) -> Subscription? {
    follower(client, of: room).flatMap {
      $0.verbs.contains(.presence) && !$0.isShownByOtherNode ? $0 : nil
    }
  }

  /// Sends a follower the other people in the document.
  func sendOthers(to subscription: Subscription) {
    let room = subscription.room
    let client = subscription.connection.client
    let named = namedPeople(of: room)
    let people = room.people.presence.announcedCount
    guard subscription.connection.dialect.traits.hearsOfPeople,
      people != nil || !named.isEmpty(leavingOut: client)
    else { return }
    let message = EncodedPresence(
      ServerMessage.Presence(
        documentID: room.id.text, joined: [], updated: [], left: [], people: people),
      joined: named)
    let ref = pushID()
    send(
      Frame { message.encode(messageID: ref, leavingOut: client, into: &$0) },
      to: subscription.connection)
  }

  /// Returns the follower as others see it, without carets.
  private func person(of subscription: Subscription) -> ServerMessage.Participant {
    let connection = subscription.connection
    return .init(
      clientID: connection.client, name: connection.name, color: connection.color, selections: [],
      personID: connection.user.map { shownID(of: $0, in: subscription.room.id) })
  }

  /// Returns the id that all devices of one user share in a document. It reveals nothing else:
  /// guests of a link see it, and a user's id may be an email address.
  private func shownID(of user: PersonID, in id: DocumentID) -> String {
    // The shown part of the code is no valid token. The length separates the id from the user.
    String(dependencies.tokens.token(for: "person \(id.text.utf8.count) \(id) \(user)").suffix(20))
  }

  // MARK: End of a turn

  /// Ends a turn of the loop: notifies followers and other nodes of changes in presence.
  func endTurn() {
    tellPresence()
    notifyNodes()
  }

  func gather(_ room: DocumentRoom) {
    guard !room.people.awaitsEndOfTurn,
      room.people.presence.hasUnsent || room.people.presence.hasUnsentCount
    else { return }
    room.people.awaitsEndOfTurn = true
    gathering.append(room)
  }

  /// Notifies followers of the people who came, acted and left in this turn.
  private func tellPresence() {
    guard !gathering.isEmpty else { return }
    let rooms = gathering
    gathering = []
    for room in rooms {
      room.people.awaitsEndOfTurn = false
      guard documents.holds(room) else { continue }
      let canWait = room.people.presence.canWait
      if !canWait, let turn = room.people.presence.takeTurn(tellsCount: false) {
        tell(turn, to: room)
      }
      if room.people.presence.hasUnsentCount || canWait, !room.people.isCounting {
        room.people.isCounting = true
        counting.append(room)
      }
    }
  }

  /// Sends followers the changes that wait for a tick: the number of people, and names.
  func tellCounts() {
    guard !counting.isEmpty else { return }
    let rooms = counting
    counting = []
    for room in rooms {
      room.people.isCounting = false
      guard documents.holds(room) else { continue }
      if let turn = room.people.presence.takeTurn(tellsCount: true) { tell(turn, to: room) }
    }
  }

  func tell(_ turn: DocumentPresence.Turn, to room: DocumentRoom) {
    room.people.named = nil
    let message = EncodedPresence(
      ServerMessage.Presence(
        documentID: room.id.text, joined: turn.joined, updated: turn.updated, left: turn.left,
        people: turn.people))
    for person in turn.joined + turn.updated {
      follower(person.clientID, of: room)?.isOwnPersonInMessage = true
    }
    var shared: Frame?
    for subscription in room.subscriptions {
      let connection = subscription.connection
      let isOwnPersonInMessage = subscription.isOwnPersonInMessage
      subscription.isOwnPersonInMessage = false
      guard connection.dialect.traits.hearsOfPeople, subscription.verbs.contains(.presence) else {
        continue
      }
      if isOwnPersonInMessage {
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
    // Send the carets of the people who were just announced.
    for person in turn.joined where !selections(of: person.clientID, in: room).isEmpty {
      shareSelections(of: person.clientID, in: room)
    }
  }
}
