import GatewayPorts
import SocketMessages

/// The people whom nodes have under a topic (a room, or all who are connected), as they tell each other.
///
/// Each node tells of its own: what has changed, with the version before and after, and every two seconds the version
/// alone. Whoever lacks something asks, and is told of all. What was not confirmed for six seconds is forgotten: so
/// nobody stays who is gone, whatever was lost on the way. Messages count from when they were sent, not from when they
/// came.
///
///     node A   change 6 → 7 ──▶        (lost)
///              beat 7       ──────────▶ B has 6: asks
///              people 7     ◀── ask ───
struct PeopleExchange {
  /// A change of other nodes' people, for the node's own handlers.
  struct News: Equatable {
    var topic: String
    var node: String
    var change: PeopleChange
  }

  /// Milliseconds between confirmations.
  static let beatMilliseconds: Int64 = 2_000
  /// Milliseconds without any after which a node's people are gone.
  static let silenceMilliseconds: Int64 = 6_000
  /// Milliseconds between questions to the same node under a topic, and between answers.
  static let askMilliseconds: Int64 = 500
  /// Other nodes that are known, at most: what others say is passed by.
  static let nodesMax = 256
  /// Messages in which all of a node's people are told, at most.
  static let partsMax = 10_000
  /// Bytes of people in each, about.
  private static let partBytes = 3_000

  /// The people whom this node has under a topic.
  private struct Own {
    var people: ExactDictionary<(profile: PersonProfile, by: Set<ConnectionID>)> = [:]
    var told: ExactDictionary<PersonProfile> = [:]
    /// The people who may differ from what was told, and whether their line broke.
    var touched: ExactDictionary<Bool> = [:]
    var version = 0
    var beatAt: Int64 = 0
    var toldAllAt: Int64?
  }

  /// The people whom another node has under a topic.
  private struct Other {
    var people: ExactDictionary<PersonProfile> = [:]
    var version = 0
    var confirmedAt: Int64
    var askedAt: Int64?
    var parts: (version: Int, count: Int, all: [Int: [PersonProfile]])?
  }

  /// The name of this node's run.
  let node: String
  private var owns: ExactDictionary<Own> = [:]
  private var others: ExactDictionary<ExactDictionary<Other>> = [:]
  /// The offsets to be added to other nodes' uptimes: the least that were seen.
  private var offsets: ExactDictionary<Int64> = [:]
  private var nextVersion = 1
  private var touched: ExactSet = []
  private var outgoing: [(topic: String, NodeMessage)] = []
  private var news: [News] = []

  init(node: String) { self.node = node }

  /// The other nodes that are heard of.
  var nodes: ExactSet {
    var nodes: ExactSet = []
    for (_, others) in others { for (node, _) in others { nodes.insert(node) } }
    return nodes
  }

  // MARK: Own people

  /// A connection of somebody's is here; again to change the profile.
  mutating func enter(_ topic: String, _ profile: PersonProfile, by connection: ConnectionID) {
    var entry = owns[topic]?.people[profile.personID] ?? (profile, [])
    entry.profile = profile
    entry.by.insert(connection)
    owns[topic, default: Own()].people[profile.personID] = entry
    touch(topic, profile.personID, isBroken: false)
  }

  /// It is here no longer. If its line broke, it may come back for a while.
  mutating func leave(
    _ topic: String, _ person: PersonID, by connection: ConnectionID, isBroken: Bool
  ) {
    guard var entry = owns[topic]?.people[person], entry.by.remove(connection) != nil else {
      return
    }
    owns[topic]?.people[person] = entry.by.isEmpty ? nil : entry
    touch(topic, person, isBroken: isBroken)
  }

  private mutating func touch(_ topic: String, _ person: PersonID, isBroken: Bool) {
    owns[topic]?.touched[person] = isBroken
    touched.insert(topic)
  }

  // MARK: Topics

  /// From here on messages of a topic arrive: the others are asked who is there.
  mutating func follow(_ topic: String, now: Int64) { send(topic, .ask(of: nil), now: now) }

  /// They arrive no longer: nothing is known of it.
  mutating func leave(_ topic: String) {
    for (node, other) in others[topic] ?? [:] { forget(other, of: node, topic) }
    others[topic] = nil
  }

  private mutating func forget(_ other: Other, of node: String, _ topic: String) {
    let ids = other.people.map(\.0).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    guard !ids.isEmpty else { return }
    news.append(News(topic: topic, node: node, change: PeopleChange(left: ids)))
  }

  // MARK: Time

  /// Tells what has changed, confirms what has not, and forgets what nobody confirms.
  mutating func tick(now: Int64) {
    for topic in Self.sorted(touched) { tellChange(topic, now: now) }
    touched = []
    for topic in Self.sorted(owns.map(\.0)) {
      guard let own = owns[topic] else { continue }
      if own.people.isEmpty {
        // Whoever has not heard of it forgets them by themselves.
        owns[topic] = nil
      } else if now - own.beatAt >= Self.beatMilliseconds {
        owns[topic]?.beatAt = now
        send(topic, .beat(version: own.version), now: now)
      }
    }
    var isHeard: ExactSet = []
    for topic in Self.sorted(others.map(\.0)) {
      for node in Self.sorted((others[topic] ?? [:]).map(\.0)) {
        guard let other = others[topic]?[node] else { continue }
        if now - other.confirmedAt >= Self.silenceMilliseconds {
          forget(other, of: node, topic)
          others[topic]?[node] = nil
        } else {
          isHeard.insert(node)
        }
      }
      if others[topic]?.isEmpty ?? false { others[topic] = nil }
    }
    for (node, _) in offsets where !isHeard.contains(node) { offsets[node] = nil }
  }

  private mutating func tellChange(_ topic: String, now: Int64) {
    guard var own = owns[topic] else { return }
    var change = PeopleChange()
    for (id, isBroken) in own.touched {
      switch (own.people[id]?.profile, own.told[id]) {
      case (let profile?, let told): if profile != told { change.joined.append(profile) }
      case (nil, .some): isBroken ? change.broken.append(id) : change.left.append(id)
      case (nil, nil): break
      }
      own.told[id] = own.people[id]?.profile
    }
    own.touched = [:]
    let isChanged = change != PeopleChange()
    if isChanged {
      change.joined.sort { $0.personID.utf8.lexicographicallyPrecedes($1.personID.utf8) }
      change.left = Self.sorted(change.left)
      change.broken = Self.sorted(change.broken)
      let former = own.version
      own.version = nextVersion
      nextVersion += 1
      own.beatAt = now
      let message = NodeMessage(
        node: node, sent: now,
        content: .change(change, from: former, version: own.version))
      if message.encoded.count <= NodeMessage.bytesMax {
        outgoing.append((topic, message))
      } else {
        // Too much for one message: the others ask for all.
        send(topic, .beat(version: own.version), now: now)
      }
    }
    owns[topic] = own
  }

  // MARK: Other nodes

  /// Another node has said something under a topic that is followed.
  mutating func hear(_ topic: String, _ message: NodeMessage, now: Int64) {
    guard !message.node.utf8.elementsEqual(node.utf8) else { return }
    if case .ask(let asked) = message.content {
      if asked?.utf8.elementsEqual(node.utf8) ?? true { tellAll(topic, now: now) }
      return
    }
    guard let time = time(of: message, now: now), now - time < Self.silenceMilliseconds else {
      return
    }
    var other = others[topic]?[message.node] ?? Other(confirmedAt: time)
    switch message.content {
    case .beat(let version):
      if version == other.version {
        other.confirmedAt = max(other.confirmedAt, time)
      } else if version > other.version {
        ask(message.node, &other, topic, now: now)
      }
    case .change(let change, let former, let version):
      if former == other.version {
        other.version = version
        other.confirmedAt = max(other.confirmedAt, time)
        other.parts = nil
        take(change, &other, of: message.node, topic)
      } else if version > other.version {
        ask(message.node, &other, topic, now: now)
      }
    case .people(let people, let part, let parts, let version):
      guard version > other.version else {
        if version == other.version { other.confirmedAt = max(other.confirmedAt, time) }
        break
      }
      if other.parts?.version != version || other.parts?.count != parts {
        other.parts = (version, parts, [:])
      }
      other.parts?.all[part] = people
      guard let all = other.parts?.all, all.count == parts else { break }
      other.parts = nil
      other.version = version
      other.confirmedAt = max(other.confirmedAt, time)
      take(
        Self.difference(from: other.people, to: all.values.joined()), &other, of: message.node,
        topic)
    case .published, .update, .typing, .receipt, .flag, .blocks, .ask: return
    }
    others[topic, default: [:]][message.node] = other
  }

  /// The time at which a message counts: as if it had come as fast as the fastest of its node.
  ///
  /// - Returns: `nil` if its node is one too many.
  mutating func time(of message: NodeMessage, now: Int64) -> Int64? {
    let (offset, overflow) = now.subtractingReportingOverflow(message.sent)
    guard !overflow, offsets[message.node] != nil || offsets.count < Self.nodesMax else {
      return nil
    }
    let least = min(offsets[message.node] ?? offset, offset)
    offsets[message.node] = least
    return message.sent + least
  }

  private mutating func take(
    _ change: PeopleChange, _ other: inout Other, of node: String, _ topic: String
  ) {
    for person in change.joined { other.people[person.personID] = person }
    for id in change.left + change.broken { other.people[id] = nil }
    guard change != PeopleChange() else { return }
    news.append(News(topic: topic, node: node, change: change))
  }

  private static func difference(
    from former: ExactDictionary<PersonProfile>, to people: some Sequence<PersonProfile>
  ) -> PeopleChange {
    var change = PeopleChange()
    var ids: ExactSet = []
    for person in people {
      ids.insert(person.personID)
      if former[person.personID] != person { change.joined.append(person) }
    }
    change.joined.sort { $0.personID.utf8.lexicographicallyPrecedes($1.personID.utf8) }
    change.left = sorted(former.map(\.0).filter { !ids.contains($0) })
    return change
  }

  private mutating func ask(
    _ node: String, _ other: inout Other, _ topic: String, now: Int64
  ) {
    if let askedAt = other.askedAt, now - askedAt < Self.askMilliseconds { return }
    other.askedAt = now
    send(topic, .ask(of: node), now: now)
  }

  private mutating func tellAll(_ topic: String, now: Int64) {
    guard let own = owns[topic], own.version > 0 else { return }
    if let toldAllAt = own.toldAllAt, now - toldAllAt < Self.askMilliseconds { return }
    owns[topic]?.toldAllAt = now
    var parts: [[PersonProfile]] = [[]]
    var bytes = 0
    for id in Self.sorted(own.told.map(\.0)) {
      guard let profile = own.told[id] else { continue }
      let size = NodeMessage.size(of: profile)
      guard size <= Self.partBytes else { continue }
      if bytes + size > Self.partBytes, parts.count < Self.partsMax {
        parts.append([])
        bytes = 0
      }
      bytes += size
      parts[parts.count - 1].append(profile)
    }
    for (number, people) in parts.enumerated() {
      send(
        topic, .people(people, part: number, parts: parts.count, version: own.version), now: now)
    }
  }

  // MARK: What is to be done

  private mutating func send(_ topic: String, _ content: NodeMessage.Content, now: Int64) {
    outgoing.append((topic, NodeMessage(node: node, sent: now, content: content)))
  }

  /// Removes and returns the messages for the other nodes.
  mutating func takeOutgoing() -> [(topic: String, NodeMessage)] {
    defer { outgoing = [] }
    return outgoing
  }

  /// Removes and returns what has become known of other nodes' people.
  mutating func takeNews() -> [News] {
    defer { news = [] }
    return news
  }

  /// Names in the same order in each run.
  private static func sorted(_ names: some Sequence<String>) -> [String] {
    names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
