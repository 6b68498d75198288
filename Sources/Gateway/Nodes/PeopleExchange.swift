import ParleyGatewayPorts
import OTCore
import SocketMessages

/// The exchange of people between nodes, by topic: a room, a note, or all who are connected.
///
/// Each node reports its own people: each change with the versions before and after it, and every
/// two seconds the version alone. A node that lacks a version requests the list of all. People not
/// confirmed for five and a half seconds are removed, so that people who left are not shown for
/// longer, even if messages are lost. The age of a message counts from its sending, not its
/// arrival.
///
///     node A   change 6 → 7 ──▶        (lost)
///              beat 7       ──────────▶ B has 6: asks
///              people 7     ◀── ask ───
///
/// In a note, moved carets are a change like any other. The carets are read when the change is
/// sent, so many moves before that cost one message.
struct PeopleExchange {
  /// A change of other nodes' people, for this node's handlers.
  struct News: Equatable {
    var topic: String
    var node: String
    var change: PeopleChange
    /// Whether the change has just happened; otherwise it may be old.
    var isNew = false
  }

  /// Milliseconds between confirmations.
  static let beatMilliseconds: Int64 = 2_000
  /// Milliseconds without a confirmation after which a node's people are removed. With a tick of
  /// the clock and a message's delay, a person who left is shown for six seconds at most.
  static let silenceMilliseconds: Int64 = 5_500
  /// The minimum milliseconds between requests to a node under a topic, and between answers.
  static let askMilliseconds: Int64 = 500
  /// The minimum milliseconds between messages of changes under a topic.
  static let changeMilliseconds: Int64 = 100
  /// The maximum known nodes. Messages of further nodes are dropped.
  static let nodesMax = 256
  /// The maximum known people of other nodes, over all topics. Further people are dropped.
  static let peopleMax = 100_000
  /// The maximum messages in a list of all people, and the maximum stored parts of such lists.
  static let partsMax = 10_000
  /// The maximum messages of one change. Beyond it, other nodes request the list of all.
  static let changesMax = 16
  /// The maximum bytes of people in each message, approximately.
  static let partBytes = 3_000

  /// The aspects of a person that may have changed since the last message.
  private struct Touch {
    /// Whether the connection of a person who left has broken.
    var isBroken = false
    /// Whether the carets have moved.
    var hasMoved = false
  }

  /// The people that this node has under a topic.
  private struct Own {
    var people: ExactDictionary<(person: NodePerson, by: Set<ConnectionID>)> = [:]
    var announced: ExactDictionary<NodePerson> = [:]
    /// People who may differ from the last message.
    var touched: ExactDictionary<Touch> = [:]
    var version = 0
    var beatAt: Int64 = 0
    /// The earliest time of the next message of changes.
    var changeAt: Int64 = .min
    var announcedAllAt: Int64?
    /// Whether another node has requested all since `announcedAllAt`.
    var isAsked = false

    /// Whether a tick has work for the topic.
    func isDue(now: Int64) -> Bool {
      people.isEmpty || isAsked || now - beatAt >= PeopleExchange.beatMilliseconds
    }
  }

  /// The people that another node has under a topic.
  struct Other {
    var people: ExactDictionary<NodePerson> = [:]
    var version = 0
    var confirmedAt: Int64
    var askedAt: Int64?
    var parts: (version: Int, count: Int, all: [Int: PeopleChange])?
  }

  /// A recent request for other nodes' people under a topic.
  private struct Question {
    var askedAt: Int64
    /// Whether the topic was followed again since the request.
    var isPending = false
  }

  /// Identifies this run of the node.
  let node: String
  /// The source of carets; `nil` if the topics have no carets.
  private unowned let carets: (any CaretSource)?
  private var owns: ExactDictionary<Own> = [:]
  var others: ExactDictionary<ExactDictionary<Other>> = [:]
  /// The minimum offset seen from each other node's uptime to this node's.
  var offsets: ExactDictionary<Int64> = [:]
  /// Recent and pending requests to other nodes, by topic.
  private var questions: ExactDictionary<Question> = [:]
  private var nextVersion = 1
  private var touched: ExactSet = []
  private var outgoing: [(topic: String, NodeMessage)] = []
  var news: [News] = []
  /// The number of known people of other nodes.
  var peopleCount = 0
  /// The number of stored parts of incomplete lists.
  var partCount = 0
  /// Messages and people dropped since `takeDropped()`: too many, or unexpected.
  var droppedCount = 0

  init(node: String, carets: (any CaretSource)? = nil) {
    self.node = node
    self.carets = carets
  }

  /// The other nodes that are known.
  var nodes: ExactSet {
    var nodes: ExactSet = []
    for (_, others) in others { for (node, _) in others { nodes.insert(node) } }
    return nodes
  }

  // MARK: Own people

  /// Adds a connection of a person, or updates the person's profile.
  mutating func enter(_ topic: String, _ person: NodePerson, by connection: ConnectionID) {
    var connections = owns[topic]?.people[person.id]?.by ?? []
    connections.insert(connection)
    owns[topic, default: Own()].people[person.id] = (person, connections)
    touch(topic, person.id) { $0.hasMoved = true }
  }

  /// Removes a connection of a person. If the connection broke, the person may return.
  mutating func leave(
    _ topic: String, _ person: String, by connection: ConnectionID, isBroken: Bool
  ) {
    guard var entry = owns[topic]?.people[person], entry.by.remove(connection) != nil else {
      return
    }
    owns[topic]?.people[person] = entry.by.isEmpty ? nil : entry
    touch(topic, person) { $0.isBroken = isBroken }
  }

  /// Records that a person's carets have moved.
  mutating func move(_ topic: String, _ person: String) {
    guard owns[topic]?.people[person] != nil else { return }
    touch(topic, person) { $0.hasMoved = true }
  }

  private mutating func touch(_ topic: String, _ person: String, _ body: (inout Touch) -> Void) {
    guard owns[topic] != nil else { return }
    body(&owns[topic, default: Own()].touched[person, default: Touch()])
    touched.insert(topic)
  }

  // MARK: Topics

  /// Begins to receive under a topic, and requests the other nodes' people.
  mutating func follow(_ topic: String, now: Int64) {
    if questions[topic] != nil {
      questions[topic]?.isPending = true
    } else {
      questions[topic] = Question(askedAt: now)
      send(topic, .ask(of: nil), now: now)
    }
  }

  /// Ends receiving under a topic, and removes the other nodes' people.
  mutating func leave(_ topic: String) {
    for node in Self.sorted((others[topic] ?? [:]).map(\.0)) { forget(node, topic) }
    others[topic] = nil
    questions[topic]?.isPending = false
  }

  // MARK: Time

  /// Sends changes, confirms unchanged people, and removes unconfirmed people.
  mutating func tick(now: Int64) {
    tellChanges(now: now)
    for topic in Self.sorted(owns.lazy.filter { $0.1.isDue(now: now) }.map(\.0)) {
      guard let own = owns[topic] else { continue }
      if own.people.isEmpty {
        // Nodes that missed the change remove the people when no confirmation arrives.
        if own.touched.isEmpty { owns[topic] = nil }
        continue
      }
      if own.isAsked { sendAll(topic, now: now) }
      guard now - own.beatAt >= Self.beatMilliseconds else { continue }
      owns[topic]?.beatAt = now
      send(topic, .beat(version: own.version), now: now)
    }
    ask(now: now)
    forgetSilent(now: now)
  }

  /// Sends requests for topics that were followed again shortly after a request.
  private mutating func ask(now: Int64) {
    let due = questions.filter { now - $0.1.askedAt >= Self.askMilliseconds }
    for (topic, _) in due { questions[topic] = nil }
    for topic in Self.sorted(due.filter { $0.1.isPending }.map(\.0)) { follow(topic, now: now) }
  }

  /// Sends changed people, except under topics with a recent message of changes.
  mutating func tellChanges(now: Int64) {
    guard !touched.isEmpty else { return }
    for topic in Self.sorted(touched) where owns[topic].map({ $0.changeAt <= now }) ?? true {
      touched.remove(topic)
      tellChange(topic, now: now)
    }
  }

  private mutating func tellChange(_ topic: String, now: Int64) {
    guard var own = owns.removeValue(forKey: topic) else { return }
    defer { owns[topic] = own }
    let caretRevision = carets?.caretRevision(in: topic)
    var changes: [PeopleChange] = []
    var bytes = 0
    for id in Self.sorted(own.touched.map(\.0)) {
      guard let touch = own.touched[id] else { continue }
      var change = PeopleChange()
      switch (own.people[id]?.person, own.announced[id]) {
      case (let person?, let announced):
        if person != announced { change.joined = [person] }
        if touch.hasMoved, caretRevision != nil {
          let moved = moved(id, topic)
          if announced != nil || !moved.selections.isEmpty { change.moved = [moved] }
        }
      case (nil, .some): if touch.isBroken { change.broken = [id] } else { change.left = [id] }
      case (nil, nil): break
      }
      own.announced[id] = own.people[id]?.person
      guard let size = Self.cut(&change) else { continue }
      if changes.isEmpty || bytes + size > Self.partBytes {
        changes.append(PeopleChange(caretRevision: caretRevision))
        bytes = 0
      }
      bytes += size
      changes[changes.count - 1].append(change)
    }
    own.touched = [:]
    guard !changes.isEmpty else { return }
    own.beatAt = now
    own.changeAt =
      now + Self.changeMilliseconds * Int64(min(changes.count, Self.changesMax))
    for change in changes {
      let former = own.version
      own.version = nextVersion
      nextVersion += 1
      guard changes.count <= Self.changesMax else { continue }
      send(topic, .change(change, from: former, version: own.version), now: now)
    }
    if changes.count > Self.changesMax { send(topic, .beat(version: own.version), now: now) }
  }

  private func moved(_ id: String, _ topic: String) -> NodeCarets {
    NodeCarets(id: id, selections: carets?.carets(of: id, in: topic) ?? [])
  }

  /// Removes carets from a person's change that exceeds a message. Returns the approximate bytes;
  /// `nil` if the change is empty, or still too large.
  private static func cut(_ change: inout PeopleChange) -> Int? {
    guard !change.isEmpty else { return nil }
    let size = change.size
    guard size > partBytes else { return size }
    change.moved = change.moved.map { NodeCarets(id: $0.id, selections: []) }
    let rest = change.size
    return rest > partBytes ? nil : rest
  }

  // MARK: Answers

  /// Sends another node the list of all people. If the list was sent just before, it is sent again
  /// later.
  mutating func answer(_ topic: String, now: Int64) {
    guard owns[topic] != nil else { return }
    owns[topic]?.isAsked = true
    sendAll(topic, now: now)
  }

  private mutating func sendAll(_ topic: String, now: Int64) {
    guard let own = owns[topic], own.version > 0 else { return }
    if let announcedAllAt = own.announcedAllAt, now - announcedAllAt < Self.askMilliseconds {
      return
    }
    owns[topic]?.announcedAllAt = now
    owns[topic]?.isAsked = false
    let caretRevision = carets?.caretRevision(in: topic)
    var parts = [PeopleChange(caretRevision: caretRevision)]
    var bytes = 0
    for id in Self.sorted(own.announced.map(\.0)) {
      guard let person = own.announced[id] else { continue }
      var part = PeopleChange(joined: [person])
      let moved = moved(id, topic)
      if !moved.selections.isEmpty { part.moved = [moved] }
      guard let size = Self.cut(&part) else { continue }
      if bytes + size > Self.partBytes, parts.count < Self.partsMax {
        parts.append(PeopleChange(caretRevision: caretRevision))
        bytes = 0
      }
      bytes += size
      parts[parts.count - 1].append(part)
    }
    for (number, people) in parts.enumerated() {
      send(
        topic, .people(people, part: number, parts: parts.count, version: own.version), now: now)
    }
  }

  // MARK: Results

  mutating func send(_ topic: String, _ content: NodeMessage.Content, now: Int64) {
    outgoing.append((topic, NodeMessage(node: node, sent: now, content: content)))
  }

  /// Removes and returns the messages for the other nodes.
  mutating func takeOutgoing() -> [(topic: String, NodeMessage)] {
    defer { outgoing = [] }
    return outgoing
  }

  /// Removes and returns the changes of other nodes' people.
  mutating func takePeerChanges() -> [News] {
    defer { news = [] }
    return news
  }

  /// Removes and returns the number of messages and people that were dropped.
  mutating func takeDropped() -> Int {
    defer { droppedCount = 0 }
    return droppedCount
  }

  /// Sorts names, so that each run has the same order.
  static func sorted(_ names: some Sequence<String>) -> [String] {
    names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}

/// The carets of clients in notes, which the exchange reads when it sends a message.
protocol CaretSource: AnyObject {
  /// Returns the revision of the carets under a topic; `nil` without carets.
  func caretRevision(in topic: String) -> CaretRevision?
  /// Returns a client's carets at the revision that ``caretRevision(in:)`` returns.
  func carets(of client: String, in topic: String) -> [Selection]
}
