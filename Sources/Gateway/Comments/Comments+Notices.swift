import ParleyGatewayPorts
import SocketMessages

/// Notices about comments: the people who get them, and their drafts.
extension Comments {
  /// Returns the people whom a request mentions, each of them once.
  func mentions(
    in fields: CommentJSON.Fields, by identity: Identity
  ) throws(Response) -> [PersonID] {
    guard let mentioned = fields.mentions, !mentioned.isEmpty else { return [] }
    let (countMax, bytesMax) = (settings.comments.mentionsMax, settings.limits.nameBytesMax)
    guard mentioned.count <= countMax else {
      throw .problem(
        413, .tooMany, "a comment may mention \(countMax) people; this one mentions more")
    }
    guard !identity.isGuest else {
      throw .problem(403, .notAllowed, "guests by a link cannot mention people; sign in for that")
    }
    guard mentioned.allSatisfy({ (1...bytesMax).contains($0.utf8.count) }) else {
      throw .problem(400, .badMessage, "expected mentions, ids of 1 to \(bytesMax) bytes")
    }
    return Array(Set(mentioned.map { PersonID($0) }).sorted())
  }

  /// Stores a new comment with its notices: for the mentioned people, and for the earlier writers
  /// of its thread.
  func add(
    _ comment: Comment, mentioning mentions: [PersonID], to note: DocumentID,
    _ request: RequestID, by identity: Identity, under right: StoreRight
  ) {
    guard comment.thread != nil || !mentions.isEmpty else {
      return add(comment, to: note, request, by: identity, under: right)
    }
    findAudience(of: note, thread: comment.thread, request, under: right) { [self] audience in
      let mentioned = notices.recipients(among: mentions, of: audience, butFor: comment.person)
      let answered = notices.recipients(
        among: audience.writers, of: audience, butFor: comment.person, and: mentioned)
      func draft(_ kind: NoticeKind, _ people: [PersonID]) -> NoticeDraft {
        NoticeDraft(
          Notice(
            kind: kind, note: note, comment: comment.id, thread: comment.thread ?? comment.id,
            author: comment.author, time: comment.createdAt), for: people)
      }
      add(
        comment, to: note, request, by: identity, under: right,
        notifying: [draft(.mention, mentioned), draft(.answer, answered)])
    }
  }

  /// Performs a change of a comment with its notices: of a new text for the mentioned people, of a
  /// resolution for the writers of the thread.
  func change(
    _ id: CommentID, _ work: CommentRequest.Work, mentioning mentions: [PersonID] = [],
    by who: ChangeActor, on note: DocumentID, _ request: RequestID, _ identity: Identity,
    _ right: StoreRight
  ) {
    let isResolution = if case .resolve(_, true, _, _) = work { true } else { false }
    guard isResolution || !mentions.isEmpty else {
      return perform(work, on: note, request, identity, right)
    }
    findAudience(of: note, thread: isResolution ? id : nil, request, under: right) {
      [self] audience in
      let people = notices.recipients(
        among: isResolution ? audience.writers : mentions, of: audience, butFor: who.person)
      let notice = Notice(
        kind: isResolution ? .resolved : .mention, note: note, comment: id,
        thread: isResolution ? id : nil, author: who.name, time: dependencies.clock.now)
      perform(
        work, on: note, request, identity, right, notifying: [NoticeDraft(notice, for: people)])
    }
  }

  private func findAudience(
    of note: DocumentID, thread: CommentID?, _ request: RequestID, under right: StoreRight,
    then proceed: @escaping (Notices.Audience) -> Void
  ) {
    notices.findAudience(of: note, thread: thread, under: right) { [self] outcome in
      switch outcome {
      case .success(let audience): proceed(audience)
      case .failure(let error): refuse(request, error, ofNote: "comment request failed")
      }
    }
  }
}
