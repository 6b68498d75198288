import ParleyGatewayPorts
import ParleyJSON

/// Requests with keys, in memory: stored answers, and notes with ids that their creators chose.
struct MemoryOnce {
  private struct Answer {
    var request: KeyedRequest
    var bytes: [UInt8]
    var expires: Timestamp
  }

  private struct Origin {
    var draft: NoteDraft
    var restMax: Timestamp
    /// Whether the note was deleted.
    var isDeleted = false
    /// The time from which the id may be used again; `nil` until the first request for it after the
    /// deletion.
    var expires: Timestamp?
  }

  /// The answers in the order in which they were stored.
  private var answers: [Answer] = []
  /// The origins of notes by id.
  private var origins: [DocumentID: Origin] = [:]

  mutating func answer(to asked: KeyedRequest) -> OnceReply {
    let found = answers.first { $0.request.hasName(of: asked) && $0.expires > asked.time }
    guard let found else { return .unanswered }
    return found.request.asksForSame(as: asked) ? .answered(found.bytes) : .keyReused
  }

  /// Stores an answer.
  ///
  /// - Returns: Whether no valid answer was stored before.
  mutating func keep(
    _ bytes: [UInt8], to asked: KeyedRequest, _ retention: AnswerRetention
  ) -> Bool {
    guard case .unanswered = answer(to: asked) else { return false }
    answers.removeAll { $0.request.hasName(of: asked) }
    answers.append(
      Answer(request: asked, bytes: bytes, expires: asked.time + retention.ageMax))
    let own = answers.indices.filter { answers[$0].request.owner == asked.owner }
    if own.count > retention.countMax { answers.remove(at: own[0]) }
    return true
  }

  mutating func begin(_ draft: NoteDraft, restMax: Timestamp) {
    origins[draft.id] = Origin(draft: draft, restMax: restMax)
  }

  mutating func forget(_ id: DocumentID) { origins[id] = nil }

  mutating func noteDeletion(of id: DocumentID) {
    origins[id]?.isDeleted = true
  }

  mutating func noteReturn(of id: DocumentID) {
    origins[id]?.isDeleted = false
    origins[id]?.expires = nil
  }

  func isOrigin(_ draft: NoteDraft) -> Bool {
    guard let first = origins[draft.id]?.draft else { return false }
    return first.owner.isExactly(draft.owner)
      && first.title.isExactly(draft.title)
  }

  /// Whether the id of a deleted note cannot be used yet.
  mutating func rests(_ id: DocumentID, at now: Timestamp) -> Bool {
    guard let origin = origins[id], origin.isDeleted else { return false }
    let expires = origin.expires ?? now + origin.restMax
    origins[id]?.expires = expires
    return expires > now
  }
}
