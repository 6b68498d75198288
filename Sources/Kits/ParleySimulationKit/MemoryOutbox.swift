import ParleyGatewayPorts
import ParleyJSON

/// An outbox in memory. This is a value, so restoring a copy rolls a commit back.
struct MemoryOutbox: Sendable {
  private struct Held {
    var draft: OutboxDraft
    var since: Timestamp
    var due: Timestamp
  }

  private var queues: [OutboxTarget: [OutboxEvent]] = [:]
  private var held: [Held] = []
  private var dead: [DeadLetter] = []
  private var overflowed: [OutboxTarget: Int] = [:]
  private var nextNumber = 1

  func standing(of target: OutboxTarget) -> OutboxQueueState {
    let queue = queues[target] ?? []
    return OutboxQueueState(
      queued: queue.count, oldest: queue.first?.time,
      nextDue: held.filter { $0.draft.target == target }.map(\.due).min(),
      deadLetters: dead.count { $0.event.target == target },
      overflowed: overflowed[target] ?? 0)
  }

  mutating func reply(to request: OutboxRequest, _ rules: OutboxRules?) -> OutboxReply {
    switch request {
    case .take(let target, let limit, let bytesMax, let now):
      release(rules) {
        $0.draft.target == target && ($0.due <= now || $0.since - ($0.due - $0.since) > now)
      }
      return .events(oldest(for: target, limit: max(limit, 1), bytesMax: bytesMax))
    case .settle(let delivered, let givenUp, let reason, let now, let drafts):
      let isOwn = delivered.allSatisfy { event in
        queues[event.target]?.contains { $0.id == event.id } ?? false
      }
      if isOwn { for event in delivered { _ = remove(event) } }
      for event in givenUp where remove(event) {
        bury(DeadLetter(event: event, time: now, reason: reason), rules)
      }
      if isOwn { for draft in drafts { add(draft, rules) } }
      return .done
    case .deadLetters(let limit): return .deadLetters(Array(dead.reversed().prefix(limit)))
    }
  }

  mutating func add(_ draft: OutboxDraft, _ rules: OutboxRules?) {
    guard draft.target != .mail || hasRoom(forMailTo: draft.subject, rules) else {
      overflowed[.mail, default: 0] += 1
      return
    }
    if draft.releasesHeld {
      release(rules) {
        $0.draft.target == draft.target && $0.draft.subject.isExactly(draft.subject)
      }
    }
    guard draft.holdMilliseconds > 0 else { return enqueue(draft, rules) }
    let place = held.firstIndex {
      $0.draft.target == draft.target && $0.draft.type == draft.type
        && $0.draft.subject.isExactly(draft.subject)
    }
    if let place {
      held[place].draft = draft
    } else {
      held.append(
        Held(draft: draft, since: draft.time, due: draft.time + draft.holdMilliseconds))
    }
  }

  private func hasRoom(forMailTo recipient: String, _ rules: OutboxRules?) -> Bool {
    guard let rules else { return false }
    let waiting =
      (queues[.mail] ?? []).map(\.subject)
      + held.filter { $0.draft.target == .mail }.map(\.draft.subject)
    return waiting.count < rules.mailMax
      && waiting.count { $0.isExactly(recipient) } < rules.mailMaxOfRecipient
  }

  private mutating func enqueue(_ draft: OutboxDraft, _ rules: OutboxRules?) {
    let number = nextNumber
    nextNumber += 1
    queues[draft.target, default: []].append(
      OutboxEvent(
        number: number, id: "e\(number)", target: draft.target, type: draft.type,
        subject: draft.subject, time: draft.time, data: draft.data))
    guard draft.target != .mail, let queuedMax = rules?.queuedMax else { return }
    while let oldest = queues[draft.target]?.first,
      queues[draft.target]?.count ?? 0 > max(queuedMax, 1), remove(oldest)
    {
      bury(DeadLetter(event: oldest, time: draft.time, reason: .queueFull), rules)
      overflowed[draft.target, default: 0] += 1
    }
  }

  private mutating func release(_ rules: OutboxRules?, where isMeant: (Held) -> Bool) {
    let released = held.filter(isMeant).sorted { $0.due < $1.due }
    held.removeAll(where: isMeant)
    for item in released { enqueue(item.draft, rules) }
  }

  private func oldest(for target: OutboxTarget, limit: Int, bytesMax: Int) -> [OutboxEvent] {
    var events: [OutboxEvent] = []
    var bytes = 0
    for event in (queues[target] ?? []).prefix(limit) {
      bytes += event.data.count
      guard events.isEmpty || bytes <= bytesMax else { break }
      events.append(event)
    }
    return events
  }

  private mutating func remove(_ event: OutboxEvent) -> Bool {
    guard let place = queues[event.target]?.firstIndex(where: { $0.id == event.id }) else {
      return false
    }
    queues[event.target]?.remove(at: place)
    return true
  }

  private mutating func bury(_ letter: DeadLetter, _ rules: OutboxRules?) {
    dead.append(letter)
    if let rules, dead.count > rules.deadLettersMax {
      dead.removeFirst(dead.count - max(rules.deadLettersMax, 0))
    }
  }
}
