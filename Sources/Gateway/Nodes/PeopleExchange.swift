import ParleyGatewayPorts
import OTCore
import SocketMessages

/// The people that nodes have under a topic (a room, a note, or all who are connected), as they tell each
/// other.
///
/// Each node reports its own: what has changed, with the version before and after, and every two seconds
/// the version alone. A node that lacks something asks, and receives all. What was not confirmed for five
/// and a half seconds is forgotten: so people who are gone are not shown for longer, whatever was lost on
/// the way. Messages count from when they were sent, not from when they came.
///
///     node A   change 6 → 7 ──▶        (lost)
///              beat 7       ──────────▶ B has 6: asks
///              people 7     ◀── ask ───
///
/// In a note, carets that move are a change as others are. They are read when the change is sent, so
/// however often they move in between, that is one message.
struct PeopleExchange {
  /// A change of other nodes' people, for the node's own handlers.
  struct News: Equatable {
    var topic: String
    var node: String
    var change: PeopleChange
    /// Whether it has happened just now; if not, it may be old.
    var isNew = false
  }

  /// Milliseconds between confirmations.
  static let beatMilliseconds: Int64 = 2_000
  /// Milliseconds without any after which a node's people are gone: with a tick of the clock and the way of
  /// a message, a person who is gone is not shown for longer than six seconds.
  static let silenceMilliseconds: Int64 = 5_500
  /// Milliseconds between questions to the same node under a topic, and between answers.
  static let askMilliseconds: Int64 = 500
  /// Milliseconds between messages of changes under a topic, at least.
  static let changeMilliseconds: Int64 = 100
  /// Other nodes that are known, at most: messages of further ones are dropped.
  static let nodesMax = 256
  /// Other nodes' people who are known, at most, over all topics: further ones are dropped.
  static let peopleMax = 100_000
  /// Messages that list all of a node's people, at most; and those that are kept until the rest has come.
  static let partsMax = 10_000
  /// Messages of one change, at most: if it takes more, others ask for all.
  static let changesMax = 16
  /// Approximate bytes of people in each.
  static let partBytes = 3_000

  /// The aspects of a person that may have changed since they were sent.
  private struct Touch {
    /// Whether the connection broke, of a person who has left.
    var isBroken = false
    /// Whether the carets have moved.
    var hasMoved = false
  }

  /// The people that this node has under a topic.
  private struct Own {
    var people: ExactDictionary<(person: NodePerson, by: Set<ConnectionID>)> = [:]
    var announced: ExactDictionary<NodePerson> = [:]
    /// The people who may differ from what was sent.
    var touched: ExactDictionary<Touch> = [:]
    var version = 0
    var beatAt: Int64 = 0
    /// The time from which the next change is sent.
    var changeAt: Int64 = .min
    var announcedAllAt: Int64?
    /// Whether another node has asked for all since then.
    var isAsked = false

    /// Whether there is something to do with a tick.
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

  /// A topic that was followed a moment ago.
  private struct Question {
    var askedAt: Int64
    /// Whether it was followed again since then.
    var isPending = false
  }

  /// The name of this node's run.
  let node: String
  /// The source of carets; `nil` where there are none.
  private unowned let carets: (any CaretSource)?
  private var owns: ExactDictionary<Own> = [:]
  var others: ExactDictionary<ExactDictionary<Other>> = [:]
  /// The offsets to be added to other nodes' uptimes: the least that were seen.
  var offsets: ExactDictionary<Int64> = [:]
  /// The topics under which others were asked just now, or will be.
  private var questions: ExactDictionary<Question> = [:]
  private var nextVersion = 1
  private var touched: ExactSet = []
  private var outgoing: [(topic: String, NodeMessage)] = []
  var news: [News] = []
  /// The number of other nodes' people.
  var peopleCount = 0
  /// The number of parts that wait for the rest.
  var partCount = 0
  /// The number of messages and people that were dropped, for they were too many or out of place.
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

  /// A person's connection is here; again to change the profile.
  mutating func enter(_ topic: String, _ person: NodePerson, by connection: ConnectionID) {
    var connections = owns[topic]?.people[person.id]?.by ?? []
    connections.insert(connection)
    owns[topic, default: Own()].people[person.id] = (person, connections)
    touch(topic, person.id) { $0.hasMoved = true }
  }

  /// It is here no longer. If its connection broke, the person may return for a while.
  mutating func leave(
    _ topic: String, _ person: String, by connection: ConnectionID, isBroken: Bool
  ) {
    guard var entry = owns[topic]?.people[person], entry.by.remove(connection) != nil else {
      return
    }
    owns[topic]?.people[person] = entry.by.isEmpty ? nil : entry
    touch(topic, person) { $0.isBroken = isBroken }
  }

  /// Notes that a person's carets have moved.
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

  /// From here on messages of a topic arrive: the others are asked who is there.
  mutating func follow(_ topic: String, now: Int64) {
    if questions[topic] != nil {
      questions[topic]?.isPending = true
    } else {
      questions[topic] = Question(askedAt: now)
      send(topic, .ask(of: nil), now: now)
    }
  }

  /// They arrive no longer: all that is known under the topic is forgotten.
  mutating func leave(_ topic: String) {
    for node in Self.sorted((others[topic] ?? [:]).map(\.0)) { forget(node, topic) }
    others[topic] = nil
    questions[topic]?.isPending = false
  }

  // MARK: Time

  /// Sends what has changed, confirms what has not, and forgets what is not confirmed.
  mutating func tick(now: Int64) {
    tellChanges(now: now)
    for topic in Self.sorted(owns.lazy.filter { $0.1.isDue(now: now) }.map(\.0)) {
      guard let own = owns[topic] else { continue }
      if own.people.isEmpty {
        // Nodes that have not heard of it forget the people by themselves.
        if own.touched.isEmpty { owns[topic] = nil }
        continue
      }
      if own.isAsked { tellAll(topic, now: now) }
      guard now - own.beatAt >= Self.beatMilliseconds else { continue }
      owns[topic]?.beatAt = now
      send(topic, .beat(version: own.version), now: now)
    }
    ask(now: now)
    forgetSilent(now: now)
  }

  /// Asks under topics that were followed again so soon that they had to wait.
  private mutating func ask(now: Int64) {
    let due = questions.filter { now - $0.1.askedAt >= Self.askMilliseconds }
    for (topic, _) in due { questions[topic] = nil }
    for topic in Self.sorted(due.filter { $0.1.isPending }.map(\.0)) { follow(topic, now: now) }
  }

  /// Sends what has changed, except what was sent just now.
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
    let place = carets?.caretPlace(in: topic)
    var changes: [PeopleChange] = []
    var bytes = 0
    for id in Self.sorted(own.touched.map(\.0)) {
      guard let touch = own.touched[id] else { continue }
      var change = PeopleChange()
      switch (own.people[id]?.person, own.announced[id]) {
      case (let person?, let announced):
        if person != announced { change.joined = [person] }
        if touch.hasMoved, place != nil {
          let moved = moved(id, topic)
          if announced != nil || !moved.selections.isEmpty { change.moved = [moved] }
        }
      case (nil, .some): if touch.isBroken { change.broken = [id] } else { change.left = [id] }
      case (nil, nil): break
      }
      own.announced[id] = own.people[id]?.person
      guard let size = Self.cut(&change) else { continue }
      if changes.isEmpty || bytes + size > Self.partBytes {
        changes.append(PeopleChange(place: place))
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

  /// Leaves out of a person's change what does not fit a message, and returns about how many bytes it
  /// takes; `nil` if nothing is left.
  private static func cut(_ change: inout PeopleChange) -> Int? {
    guard !change.isEmpty else { return nil }
    let size = change.size
    guard size > partBytes else { return size }
    change.moved = change.moved.map { NodeCarets(id: $0.id, selections: []) }
    let rest = change.size
    return rest > partBytes ? nil : rest
  }

  // MARK: Answers

  /// Sends another node all people; a little later, if that was done just now.
  mutating func answer(_ topic: String, now: Int64) {
    guard owns[topic] != nil else { return }
    owns[topic]?.isAsked = true
    tellAll(topic, now: now)
  }

  private mutating func tellAll(_ topic: String, now: Int64) {
    guard let own = owns[topic], own.version > 0 else { return }
    if let announcedAllAt = own.announcedAllAt, now - announcedAllAt < Self.askMilliseconds {
      return
    }
    owns[topic]?.announcedAllAt = now
    owns[topic]?.isAsked = false
    let place = carets?.caretPlace(in: topic)
    var parts = [PeopleChange(place: place)]
    var bytes = 0
    for id in Self.sorted(own.announced.map(\.0)) {
      guard let person = own.announced[id] else { continue }
      var part = PeopleChange(joined: [person])
      let moved = moved(id, topic)
      if !moved.selections.isEmpty { part.moved = [moved] }
      guard let size = Self.cut(&part) else { continue }
      if bytes + size > Self.partBytes, parts.count < Self.partsMax {
        parts.append(PeopleChange(place: place))
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

  /// Removes and returns the news of other nodes' people.
  mutating func takeNews() -> [News] {
    defer { news = [] }
    return news
  }

  /// Removes and returns the number of messages and people that were dropped.
  mutating func takeDropped() -> Int {
    defer { droppedCount = 0 }
    return droppedCount
  }

  /// Names in the same order in each run.
  static func sorted(_ names: some Sequence<String>) -> [String] {
    names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}

/// The carets of the clients in notes, which the exchange reads when it sends them.
protocol CaretSource: AnyObject {
  /// The place that carets are at; `nil` while there are none.
  func caretPlace(in topic: String) -> CaretPlace?
  /// A client's carets there.
  func carets(of client: String, in topic: String) -> [Selection]
}
