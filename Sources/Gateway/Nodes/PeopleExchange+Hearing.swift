import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Receiving the people of other nodes. Messages are not trusted, and arrive in any order.
extension PeopleExchange {
  /// Handles a message of another node under a followed topic.
  mutating func hear(_ topic: String, _ message: NodeMessage, now: Int64) {
    guard !message.node.isExactly(node) else { return }
    switch message.content {
    case .beat, .change, .people: break
    case .ask(let asked):
      if asked?.isExactly(node) ?? true { answer(topic, now: now) }
      return
    case .published, .update, .event, .signal, .typing, .receipt, .flag, .blocks:
      droppedCount += 1
      return
    }
    guard let time = time(of: message, now: now) else {
      droppedCount += 1
      return
    }
    guard time > now - Self.silenceMilliseconds else { return }
    // Remove the value while it changes, so that no storage is copied.
    var other = others[topic]?.removeValue(forKey: message.node) ?? Other(confirmedAt: time)
    hear(message, of: &other, topic, time: time, now: now)
    others[topic, default: [:]][message.node] = other
  }

  private mutating func hear(
    _ message: NodeMessage, of other: inout Other, _ topic: String, time: Int64, now: Int64
  ) {
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
        forgetParts(of: &other)
        take(change, &other, of: message.node, topic, isNew: true)
      } else if version > other.version {
        ask(message.node, &other, topic, now: now)
      }
    case .people(let people, let part, let parts, let version):
      guard version > other.version else {
        if version == other.version { other.confirmedAt = max(other.confirmedAt, time) }
        return
      }
      guard let all = gather(people, part, of: parts, version: version, &other) else { return }
      other.version = version
      other.confirmedAt = max(other.confirmedAt, time)
      take(
        Self.difference(from: other.people, to: all), &other, of: message.node, topic, isNew: false)
    case .published, .update, .event, .signal, .typing, .receipt, .flag, .blocks, .ask: break
    }
  }

  /// Returns the time at which a message counts: its sending time, plus the minimum offset of its
  /// node.
  ///
  /// - Returns: A time up to `now`; `nil` if the limit of nodes is exceeded, or the time overflows.
  mutating func time(of message: NodeMessage, now: Int64) -> Int64? {
    let (offset, overflow) = now.subtractingReportingOverflow(message.sent)
    guard !overflow, offsets[message.node] != nil || offsets.count < Self.nodesMax else {
      return nil
    }
    let least = min(offsets[message.node] ?? offset, offset)
    let (time, isNoTime) = message.sent.addingReportingOverflow(least)
    guard !isNoTime else { return nil }
    offsets[message.node] = least
    return time
  }

  private mutating func ask(
    _ node: String, _ other: inout Other, _ topic: String, now: Int64
  ) {
    if let askedAt = other.askedAt, now - askedAt < Self.askMilliseconds { return }
    other.askedAt = now
    send(topic, .ask(of: node), now: now)
  }

  /// Resets a node's version after an unusable message: its next confirmation causes a request.
  mutating func doubt(_ node: String, _ topic: String) { others[topic]?[node]?.version = 0 }

  // MARK: All of a node's people

  /// Assembles the parts of a list; `nil` until all have arrived.
  private mutating func gather(
    _ people: PeopleChange, _ part: Int, of parts: Int, version: Int, _ other: inout Other
  ) -> PeopleChange? {
    if other.parts?.version != version || other.parts?.count != parts {
      forgetParts(of: &other)
      other.parts = (version, parts, [:])
    }
    if other.parts?.all[part] == nil {
      guard partCount < Self.partsMax else {
        droppedCount += 1
        return nil
      }
      partCount += 1
    }
    other.parts?.all[part] = people
    guard let all = other.parts?.all, all.count == parts else { return nil }
    forgetParts(of: &other)
    var whole = PeopleChange()
    for part in 0..<parts { whole.append(all[part] ?? PeopleChange()) }
    return whole
  }

  private mutating func forgetParts(of other: inout Other) {
    partCount -= other.parts?.all.count ?? 0
    other.parts = nil
  }

  /// Returns the change from a node's known people to the list of all, with all carets.
  private static func difference(
    from former: ExactDictionary<NodePerson>, to all: PeopleChange
  ) -> PeopleChange {
    var change = PeopleChange(caretRevision: all.caretRevision)
    var moved: ExactDictionary<NodeCarets> = [:]
    for carets in all.moved { moved[carets.id] = carets }
    var ids: ExactSet = []
    for person in all.joined {
      ids.insert(person.id)
      if former[person.id] != person { change.joined.append(person) }
      guard all.caretRevision != nil else { continue }
      change.moved.append(moved[person.id] ?? NodeCarets(id: person.id, selections: []))
    }
    change.joined.sort { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    change.left = sorted(former.map(\.0).filter { !ids.contains($0) })
    return change
  }

  private mutating func take(
    _ change: PeopleChange, _ other: inout Other, of node: String, _ topic: String, isNew: Bool
  ) {
    var taken = PeopleChange(
      left: change.left, broken: change.broken, caretRevision: change.caretRevision)
    for id in change.left + change.broken where other.people.removeValue(forKey: id) != nil {
      peopleCount -= 1
    }
    for person in change.joined {
      if other.people[person.id] == nil {
        guard peopleCount < Self.peopleMax else {
          droppedCount += 1
          continue
        }
        peopleCount += 1
      }
      other.people[person.id] = person
      taken.joined.append(person)
    }
    for carets in change.moved where other.people[carets.id] != nil { taken.moved.append(carets) }
    guard !taken.isEmpty else { return }
    news.append(News(topic: topic, node: node, change: taken, isNew: isNew))
  }

  // MARK: Silence

  /// Removes the people of nodes that have not confirmed them for `silenceMilliseconds`.
  mutating func forgetSilent(now: Int64) {
    var silent: [(topic: String, node: String)] = []
    var heard: ExactSet = []
    for (topic, nodes) in others {
      for (node, other) in nodes {
        if now - other.confirmedAt >= Self.silenceMilliseconds {
          silent.append((topic, node))
        } else {
          heard.insert(node)
        }
      }
    }
    silent.sort {
      $0.topic.isExactly($1.topic)
        ? $0.node.utf8.lexicographicallyPrecedes($1.node.utf8)
        : $0.topic.utf8.lexicographicallyPrecedes($1.topic.utf8)
    }
    for (topic, node) in silent {
      forget(node, topic)
      others[topic]?[node] = nil
      if others[topic]?.isEmpty ?? false { others[topic] = nil }
    }
    for (node, _) in offsets where !heard.contains(node) { offsets[node] = nil }
  }

  /// Reports that a node's people are gone. The caller removes the node.
  mutating func forget(_ node: String, _ topic: String) {
    guard let other = others[topic]?[node] else { return }
    peopleCount -= other.people.count
    partCount -= other.parts?.all.count ?? 0
    let ids = Self.sorted(other.people.map(\.0))
    guard !ids.isEmpty else { return }
    news.append(News(topic: topic, node: node, change: PeopleChange(left: ids)))
  }
}
