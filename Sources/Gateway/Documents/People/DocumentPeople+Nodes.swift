import ParleyGatewayPorts
import OTCore
import SocketMessages

/// The people in a note at other nodes, and their carets.
///
/// Each node that has followers reports them to the other nodes. Messages from the broker are not
/// trusted: they only decide which people are shown and where their carets are, and a caret is
/// never shown beyond the text.
extension DocumentPeople: CaretSource {
  // MARK: Sending

  /// Requests the people at other nodes, when the first follower joins.
  func followNodes(in room: DocumentRoom) {
    guard exchange != nil, room.people.elsewhere == nil else { return }
    room.people.followNodes()
    exchange?.follow(documents.topic(of: room.id), now: dependencies.clock.uptime)
  }

  /// Ends the exchange of a document's people with other nodes, and discards theirs.
  func partFromNodes(in room: DocumentRoom) {
    guard exchange != nil, room.people.elsewhere != nil else { return }
    for subscription in room.subscriptions { tellNodesOfLeaving(subscription) }
    exchange?.leave(documents.topic(of: room.id))
    room.people.partFromNodes(limit: settings.presenceListMax)
  }

  /// Reports a follower to the other nodes, at the end of the turn.
  func notifyNodes(of person: ServerMessage.Participant, _ subscription: Subscription) {
    exchange?.enter(
      documents.topic(of: subscription.room.id),
      NodePerson(
        profile: .init(personID: PersonID(person.clientID), name: person.name, color: person.color),
        person: person.personID.map { PersonID($0) }),
      by: subscription.connection.id)
  }

  func tellNodesOfLeaving(_ subscription: Subscription) {
    exchange?.leave(
      documents.topic(of: subscription.room.id), subscription.connection.client,
      by: subscription.connection.id, isBroken: false)
  }

  func tellNodesOfCarets(of subscription: Subscription) {
    exchange?.move(documents.topic(of: subscription.room.id), subscription.connection.client)
  }

  func caretRevision(in topic: String) -> CaretRevision? {
    documents.room(under: topic)?.live.map {
      CaretRevision(epoch: $0.epoch, revision: $0.durableRevision)
    }
  }

  func carets(of client: String, in topic: String) -> [Selection] {
    documents.room(under: topic).flatMap { shownFollower(client, of: $0)?.selections } ?? []
  }

  /// Reports the changes of a turn to the other nodes.
  func notifyNodes() {
    guard exchange != nil else { return }
    exchange?.tellChanges(now: dependencies.clock.uptime)
    takeFromExchange()
  }

  /// Runs the periodic work of the exchange with other nodes.
  func tickNodes(now: Int64) {
    guard exchange != nil else { return }
    exchange?.tick(now: now)
    takeFromExchange()
  }

  // MARK: Receiving

  /// Handles a message about another node's people. The sender is not trusted.
  func hearOfPeople(_ topic: String, _ bytes: [UInt8], in room: DocumentRoom) {
    guard exchange != nil, room.people.elsewhere != nil else { return }
    guard let message = NodeMessage(bytes) else {
      metrics.nodeMessagesDropped += 1
      return
    }
    exchange?.hear(topic, message, now: dependencies.clock.uptime)
    takeFromExchange()
  }

  private func takeFromExchange() {
    for news in exchange?.takePeerChanges() ?? [] {
      guard let room = documents.room(under: news.topic), room.people.elsewhere != nil else {
        continue
      }
      take(news, in: room)
    }
    metrics.nodeMessagesDropped += exchange?.takeDropped() ?? 0
    for (topic, message) in exchange?.takeOutgoing() ?? [] {
      act(.publish(topic: topic, message.encoded))
    }
  }

  private func take(_ news: PeopleExchange.News, in room: DocumentRoom) {
    let change = news.change
    if news.isNew {
      // The client has moved to another node; its connection here has not timed out yet.
      for client in change.joined.map(\.id) + change.moved.map(\.id) {
        guard let subscription = shownFollower(client, of: room) else { continue }
        subscription.isShownByOtherNode = true
        room.people.leaveHere(client)
      }
    }
    room.people.take(change, of: news.node) { shownFollower($0, of: room) != nil }
    for client in change.left + change.broken where room.people.elsewhere?.shown(client) == nil {
      guard let subscription = follower(client, of: room), subscription.isShownByOtherNode else {
        continue
      }
      show(subscription)
    }
    room.people.named = nil
    gather(room)
    guard !change.moved.isEmpty, let live = room.live else { return }
    let moved = room.people.move(
      change, of: news.node, selectionsMax: settings.limits.selectionsMax, live)
    if moved == nil { exchange?.doubt(news.node, news.topic) }
    for client in moved ?? [] { showCarets(of: client, in: room) }
  }

  // MARK: Showing

  /// Shows the current carets of a client at another node.
  private func showCarets(of client: String, in room: DocumentRoom) {
    guard shownFollower(client, of: room) == nil else { return }
    room.people.named = nil
    room.people.presence.act(client)
    gather(room)
    // A client whose name is not announced yet is announced first, at the end of the turn.
    if room.people.presence.isAnnounced(client) { shareSelections(of: client, in: room) }
  }

  /// Moves the carets of people at other nodes over delivered entries.
  func moveCaretsElsewhere(over entries: ArraySlice<LogEntry>, in room: DocumentRoom) {
    guard room.people.elsewhere != nil, let length = room.live?.durableDocument.scalarCount else {
      return
    }
    for client in room.people.advance(over: entries, length: length) {
      showCarets(of: client, in: room)
    }
  }

  /// Announces the people at other nodes who wrote entries, before the entries are delivered.
  func nameAuthors(of entries: ArraySlice<LogEntry>, in room: DocumentRoom) {
    guard !(room.people.elsewhere?.isEmpty ?? true) else { return }
    for entry in entries where room.people.elsewhere?.shown(entry.client) != nil {
      room.people.presence.act(entry.client)
    }
    guard room.people.presence.announcedCount != nil,
      let turn = room.people.presence.takeTurn(tellsCount: false)
    else { return }
    tell(turn, to: room)
  }

  /// Renews the carets for a new epoch: discards those of people at other nodes, and sends the
  /// followers' carets to the other nodes again.
  func renewCarets(in room: DocumentRoom) {
    guard room.people.elsewhere != nil else { return }
    for client in room.people.forgetCarets() { showCarets(of: client, in: room) }
    for subscription in room.subscriptions where !subscription.selections.isEmpty {
      tellNodesOfCarets(of: subscription)
    }
  }
}
