package import ParleyClientCore

/// Callers that wait for the results of their publications in a room, by the publications' keys.
///
/// It outlives the room: publishing continues after the app has closed the room.
package struct Publishing {
  package typealias Answer = Result<RoomPosition, PublishError>

  private var waiting: [String: [Feed<Answer>]] = [:]

  package init() {}

  package var isEmpty: Bool { waiting.isEmpty }

  /// Whether callers wait for the result of a key.
  func isWaiting(for key: String) -> Bool { waiting[key] != nil }

  /// Adds a caller that waits for the result of a key.
  package mutating func wait(for key: String) -> Feed<Answer> {
    let feed = Feed<Answer>(bound: 1)
    waiting[key, default: []].append(feed)
    return feed
  }

  /// Answers the waiting callers if the action is a result.
  package mutating func take(_ action: RoomAction) {
    switch action {
    case .published(let key, let point, _): answer(key, .success(RoomPosition(point)))
    case .publishFailed(let key, let code): answer(key, .failure(.refused(Refusal(code))))
    case .publishUnsure(let key): answer(key, .failure(.unsure))
    case .publication, .gap, .position, .outOfStep, .status, .people, .receipt, .receipts,
      .flagged, .values, .conflict, .signal, .keepChanges:
      break
    }
  }

  /// Adds the waiting callers of another value.
  mutating func merge(_ other: Publishing) {
    waiting.merge(other.waiting) { $0 + $1 }
  }

  private mutating func answer(_ key: String, _ answer: Answer) {
    for feed in waiting.removeValue(forKey: key) ?? [] { feed.put(answer) { $0.suffix(1) } }
  }
}
