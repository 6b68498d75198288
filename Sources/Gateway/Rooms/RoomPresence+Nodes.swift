import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// The messages between nodes about rooms and people: state that no store contains, and hints about
/// stored state.
///
/// Messages from a broker may be forged. They only cause reads of the store, or affect what is
/// shown at the moment: presence, typing, receipts, reports and events that rooms do not store.
extension RoomPresence {
  /// The topic that all nodes follow.
  static let nodesTopic = "nodes"
  /// The topic with the clients to whose connections values are bound.
  static let holdersTopic = "holders"
  /// The prefix of rooms' topics.
  private static let roomPrefix = "room/"
  /// Milliseconds between reads of the blocks, which other nodes may have changed.
  private static let blocksMilliseconds: Int64 = 30_000

  /// Returns the topic of a room's hints.
  func topic(of room: RoomName) -> String { Self.roomPrefix + room.text }

  /// Returns the room of a topic; `nil` for other topics.
  private static func room(of topic: String) -> RoomName? {
    let prefix = roomPrefix.utf8
    guard topic.utf8.starts(with: prefix) else { return nil }
    return RoomName(String(decoding: topic.utf8.dropFirst(prefix.count), as: UTF8.self))
  }

  // MARK: Sending

  /// Notifies the other nodes that have people in a room.
  ///
  /// - Returns: False if the message is too long to be sent; true without other nodes.
  @discardableResult
  func notifyNodes(_ content: NodeMessage.Content, in room: RoomName) -> Bool {
    notifyNodes(content, under: topic(of: room))
  }

  @discardableResult
  private func notifyNodes(_ content: NodeMessage.Content, under topic: String) -> Bool {
    guard let exchange else { return true }
    let message = NodeMessage(
      node: exchange.node, sent: dependencies.clock.uptime, content: content)
    let bytes = message.encoded
    // Only a long reason or a long resource name makes a message too long.
    guard bytes.count <= NodeMessage.bytesMax else { return false }
    act(.publish(topic: topic, bytes))
    return true
  }

  /// Asks other nodes to read the blocks again.
  func tellNodesOfBlocks() { notifyNodes(.blocks, under: Self.nodesTopic) }

  /// Follows the topic of all nodes.
  func followNodes() {
    follow(topic: Self.nodesTopic)
    follow(topic: Self.holdersTopic)
  }

  /// Follows the topic of a room that has just become occupied.
  func follow(_ room: RoomName) { follow(topic: topic(of: room)) }

  private func follow(topic: String) {
    guard exchange != nil else { return }
    act(.follow(topic: topic))
    exchange?.follow(topic, now: dependencies.clock.uptime)
    takeFromExchange()
  }

  /// Discards the people of a vacant room, and leaves its topic.
  func unfollow(_ room: RoomName) {
    descriptions[room] = nil
    guard exchange != nil else { return }
    act(.leave(topic: topic(of: room)))
    exchange?.leave(topic(of: room))
    takeFromExchange()
    for place in typingElsewhere[room]?.values.map(\.self) ?? [] {
      _ = people.typing?.disconnected(place)
    }
    typingElsewhere[room] = nil
  }

  /// Sends due messages to other nodes, and reads the blocks when due.
  func tickNodes(now: Int64) {
    guard exchange != nil else { return }
    exchange?.tick(now: now)
    takeFromExchange()
    if now - blocksReadAt >= Self.blocksMilliseconds { readBlocks(now: now) }
  }

  // MARK: Receiving

  /// Handles a message from the broker, of another node or forged.
  func heard(_ topic: String, _ bytes: [UInt8]) {
    let room = Self.room(of: topic)
    guard let exchange,
      room != nil || topic.isExactly(Self.nodesTopic) || topic.isExactly(Self.holdersTopic)
    else { return }
    guard let message = NodeMessage(bytes) else {
      metrics.nodeMessagesDropped += 1
      return
    }
    guard !message.node.isExactly(exchange.node) else { return }
    if let room {
      if rooms[room] != nil { hear(message, in: room, topic) }
    } else if case .blocks = message.content {
      readBlocks(now: dependencies.clock.uptime)
    } else {
      hear(topic, message)
    }
  }

  private func hear(_ topic: String, _ message: NodeMessage) {
    exchange?.hear(topic, message, now: dependencies.clock.uptime)
    takeFromExchange()
  }

  private func hear(_ message: NodeMessage, in room: RoomName, _ topic: String) {
    switch message.content {
    case .typing(let person, let isTyping): typing(person, in: room, isTyping, message)
    case .blocks: break
    case .beat, .change, .people, .ask: hear(topic, message)
    case .published, .update, .event, .signal, .receipt, .flag:
      owner?.heard(message.content, in: room)
    }
  }

  private func readBlocks(now: Int64) {
    blocksReadAt = now
    people.blocking?.changedElsewhere(store: storage) { [unowned self] blocks in
      for block in blocks {
        let isVisible = people.visibleTo(block.person, block.blocked)
        shift(block.person, sees: block.blocked, isVisible: isVisible.first)
        shift(block.blocked, sees: block.person, isVisible: isVisible.second)
      }
    }
  }

  // MARK: People at other nodes

  /// Adds a person's connection to a room, for this node and others.
  func enter(_ room: RoomName, _ profile: PersonProfile, by connection: ConnectionID) {
    people.presence?.enter(room, profile, by: connection)
    exchange?.enter(
      topic(of: room),
      NodePerson(profile: profile, description: descriptions[room]?[profile.personID]),
      by: connection)
  }

  /// Removes a connection from a room, for this node and others.
  func depart(
    _ room: RoomName, _ person: PersonID, by connection: ConnectionID, isBroken: Bool, now: Int64
  ) {
    people.presence?.leave(room, person, by: connection, isBroken: isBroken, now: now)
    exchange?.leave(topic(of: room), person.text, by: connection, isBroken: isBroken)
  }

  // MARK: Clients with bound values

  /// The place of this node's holders, which are no connections.
  private static let holderPlace = ConnectionID(0)

  /// Reports to other nodes that a client with bound values is connected here.
  func announceHolder(_ client: String) {
    exchange?.enter(
      Self.holdersTopic, NodePerson(profile: .init(personID: PersonID(client), name: "")),
      by: Self.holderPlace)
  }

  /// Reports to other nodes that a client with bound values is no longer connected here.
  func withdrawHolder(_ client: String) {
    exchange?.leave(Self.holdersTopic, client, by: Self.holderPlace, isBroken: false)
  }

  /// Whether another node reports a client with bound values.
  func isHolderElsewhere(_ client: String) -> Bool {
    exchange?.others[Self.holdersTopic]?.contains { $1.people[client] != nil } ?? false
  }

  private func takeFromExchange() {
    let now = dependencies.clock.uptime
    metrics.nodeMessagesDropped += exchange?.takeDropped() ?? 0
    for news in exchange?.takePeerChanges() ?? [] {
      let place = place(of: news.node)
      if news.topic.isExactly(Self.holdersTopic) {
        for client in news.change.left + news.change.broken { owner?.holderLeftElsewhere(client) }
        continue
      }
      guard let room = Self.room(of: news.topic) else {
        take(news.change, by: place)
        continue
      }
      for person in news.change.joined {
        let (isPresent, count) =
          people.presence?.standing(of: person.profile.personID, in: room) ?? (true, 0)
        guard isPresent || count < settings.limits.presentMax else { continue }
        describe(person.profile.personID, in: room, as: person.description)
        people.presence?.enter(room, person.profile, by: place)
      }
      for id in news.change.left {
        people.presence?.leave(room, PersonID(id), by: place, isBroken: false, now: now)
      }
      for id in news.change.broken {
        people.presence?.leave(room, PersonID(id), by: place, isBroken: true, now: now)
      }
    }
    for (topic, message) in exchange?.takeOutgoing() ?? [] {
      act(.publish(topic: topic, message.encoded))
    }
  }

  private func take(_ change: PeopleChange, by place: ConnectionID) {
    for person in change.joined { online[person.profile.personID, default: []].insert(place) }
    for id in (change.left + change.broken).map({ PersonID($0) }) {
      online[id]?.remove(place)
      if online[id]?.isEmpty ?? false { online[id] = nil }
    }
  }

  /// Returns the connection id that represents a node: its people are in rooms here by this id.
  private func place(of node: String) -> ConnectionID {
    if let place = nodeConnectionIDs[node] { return place }
    // Each restart of a node leaves an unused name.
    if nodeConnectionIDs.count >= 2 * PeopleExchange.nodesMax {
      let known = exchange?.nodes ?? []
      for (node, _) in nodeConnectionIDs where !known.contains(node) {
        nodeConnectionIDs[node] = nil
      }
    }
    let place = board.placeID()
    nodeConnectionIDs[node] = place
    return place
  }

  // MARK: Typing

  private func typing(
    _ person: PersonID, in room: RoomName, _ isTyping: Bool, _ message: NodeMessage
  ) {
    let now = dependencies.clock.uptime
    guard let handler = people.typing, let time = exchange?.time(of: message, now: now),
      time > now - PeopleExchange.silenceMilliseconds
    else { return }
    let known = typingElsewhere[room]?[person]
    guard isTyping else {
      guard let known else { return }
      typingElsewhere[room]?[person] = nil
      for change in handler.disconnected(known) { show(change) }
      return
    }
    guard known != nil || typingElsewhere[room]?.count ?? 0 < settings.limits.presentMax else {
      return
    }
    let place = known ?? board.placeID()
    typingElsewhere[room, default: [:]][person] = place
    if let change = handler.begin(room, person, on: place, now: now) { show(change) }
  }

  /// Shows that a person on this node types, or has stopped, and notifies other nodes.
  func tell(_ change: TypingChange) {
    show(change)
    notifyNodes(.typing(change.person, isTyping: change.isTyping), in: change.room)
  }
}

/// The receiver of other nodes' messages about rooms.
protocol RoomPresenceOwner: AnyObject {
  /// Handles a message about a publication, an update, an event, a receipt or a report.
  func heard(_ content: NodeMessage.Content, in room: RoomName)
  /// Handles that another node no longer reports a client with bound values.
  func holderLeftElsewhere(_ client: String)
}
