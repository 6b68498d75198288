package import ParleyClientCore

/// Callers that wait for answers to what they publish in a room, by the publication's key.
///
/// It outlasts the room: publishing continues after the app has closed it.
package struct Publishing {
  package typealias Answer = Result<RoomPosition, PublishError>

  private var waiting: [String: [Feed<Answer>]] = [:]

  package init() {}

  package var isEmpty: Bool { waiting.isEmpty }

  /// Has another caller wait for a key's answer.
  package mutating func wait(for key: String) -> Feed<Answer> {
    let feed = Feed<Answer>(bound: 1)
    waiting[key, default: []].append(feed)
    return feed
  }

  /// Answers waiting callers, if the action is an answer.
  package mutating func take(_ action: RoomAction) {
    switch action {
    case .published(let key, let point, _): answer(key, .success(RoomPosition(point)))
    case .publishFailed(let key, let code): answer(key, .failure(.refused(Refusal(code))))
    case .publishUnsure(let key): answer(key, .failure(.unsure))
    case .publication, .gap, .position, .outOfStep, .status, .people, .receipt, .receipts,
      .flagged:
      break
    }
  }

  /// Takes over the waiting callers of another value.
  mutating func merge(_ other: Publishing) {
    waiting.merge(other.waiting) { $0 + $1 }
  }

  private mutating func answer(_ key: String, _ answer: Answer) {
    for feed in waiting.removeValue(forKey: key) ?? [] { feed.put(answer) { $0.suffix(1) } }
  }
}
