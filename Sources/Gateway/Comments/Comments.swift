import ParleyGatewayPorts
import SocketMessages

/// Comments on notes: remarks on a range, replies to them, and their resolution.
///
/// The store contains the comments, moves their ranges with the log, and checks their owners. A new
/// comment quotes the text of its range, which is read first, outside the commits:
///
///     POST …/comments ─▶ limits ─▶ rate ─▶ quote ─▶ audience ─▶ add ─▶ response; event in the room
///     GET  …/comments?revision= ─▶ list, with the ranges at that revision
final class Comments: Part {
  let board: Switchboard
  let access: Access
  let rooms: Rooms
  let notices: Notices
  /// Stores the responses to idempotent requests.
  unowned var owner: (any CommentsOwner)?

  /// Maximum new comments that wait for their quotes.
  private static let draftsMax = 256
  /// Maximum bytes of a comment's id.
  private static let idBytesMax = 64

  /// A new comment that waits for its quote.
  struct Draft {
    let note: DocumentID
    let author: String
    let text: String
    let mentions: [PersonID]
    let identity: Identity
    let right: StoreRight
    /// The party whose share of the drafts it counts against.
    let holder: LimitedClient?
    /// The range in the request.
    let anchor: CommentAnchor
  }

  /// The new comments that wait for their quotes, by request.
  var drafts: [RequestID: Draft] = [:]
  /// The drafts per user or address.
  var draftShares = FairShares<LimitedClient>(capacity: Comments.draftsMax)
  /// The rate-limit usage of each user.
  var usages: RateBook = RateBook(countMax: 10_000)

  init(_ board: Switchboard, _ access: Access, _ rooms: Rooms, _ notices: Notices) {
    self.board = board
    self.access = access
    self.rooms = rooms
    self.notices = notices
  }

  private var limits: CommentSettings { settings.comments }

  // MARK: Requests

  /// Responds with all comments of a note.
  func list(_ call: Call) throws(Response) {
    let revision: Int?
    switch call.query.number("revision") {
    case .absent: revision = nil
    case .value(let value): revision = value
    case .broken: throw .problem(400, .badMessage, "expected revision as a revision's number")
    }
    store(
      .comments(CommentRequest(note: call.note, .list(at: revision))), under: try call.right,
      then: .comments(.list(call.request, call.note, call.identity, call.reader)))
  }

  /// Creates a comment on a range, or a reply in a thread.
  func make(_ call: Call) throws(Response) {
    let (request, note, identity, right) = (call.request, call.note, call.identity, try call.right)
    guard let fields = CommentJSON.fields(in: call.body), let text = fields.text,
      (fields.thread == nil) != (fields.anchor == nil)
    else {
      throw .problem(
        400, .badMessage,
        "expected a JSON object with \"text\", and either \"anchor\" or \"thread\"")
    }
    try check(text)
    let mentions = try mentions(in: fields, by: identity)
    let author = try access.author(fields.author, identity)
    if let thread = fields.thread {
      try countComment(by: identity)
      let answer = Comment(
        id: dependencies.names.next(), thread: thread, author: author,
        person: Self.person(identity), text: text, createdAt: dependencies.clock.now)
      add(answer, mentioning: mentions, to: note, request, by: identity, under: right)
      return
    }
    guard let anchor = fields.anchor, let revision = anchor.revision, let from = anchor.from,
      let to = anchor.to, revision >= 0, from >= 0, to >= 0
    else {
      throw .problem(
        400, .badMessage,
        "expected anchor with \"revision\", \"from\" and \"to\", none of them below zero")
    }
    let holder = call.limitedClient
    guard draftShares.refusal(of: 1, for: holder) == nil else {
      throw .busy("too many comments are being created; retry in a few seconds")
    }
    try countComment(by: identity)
    _ = draftShares.take(1, for: holder)
    let range = CommentAnchor(revision: revision, start: from, end: to)
    drafts[request] = Draft(
      note: note, author: author, text: text, mentions: mentions, identity: identity,
      right: right, holder: holder, anchor: range)
    store(
      .comments(CommentRequest(note: note, .quote(epoch: anchor.epoch, range))), under: right,
      then: .comments(.quoted(request)))
  }

  /// Edits a comment, or resolves or reopens its thread.
  func change(_ call: Call) throws(Response) {
    let (request, note, identity, right) = (call.request, call.note, call.identity, try call.right)
    let id = try known(call.item)
    guard let fields = CommentJSON.fields(in: call.body),
      (fields.text == nil) != (fields.isResolved == nil)
    else {
      throw .problem(
        400, .badMessage, "expected a JSON object with either \"text\" or \"resolved\"")
    }
    let author = try access.author(fields.author, identity)
    let who = actor(identity, named: author, note)
    let now = dependencies.clock.now
    if let text = fields.text {
      try check(text)
      change(
        id, .edit(id, text: text, by: who, time: now),
        mentioning: try mentions(in: fields, by: identity), by: who, on: note, request, identity,
        right)
    } else if let isResolved = fields.isResolved {
      change(
        id, .resolve(id, isResolved, by: who, time: now), by: who, on: note, request, identity,
        right)
    }
  }

  /// Deletes a comment.
  func remove(_ call: Call) throws(Response) {
    let id = try known(call.item)
    let who = actor(
      call.identity, named: access.name(of: call.identity, claimed: ""), call.note)
    perform(.remove(id, by: who), on: call.note, call.request, call.identity, try call.right)
  }

  // MARK: Checking requests

  /// The owner of the caller's comments; `nil` for guests, who are indistinguishable. In an open
  /// demo all callers are the same person.
  private static func person(_ identity: Identity) -> PersonID? {
    identity.isGuest ? nil : PersonID(identity.user)
  }

  private func actor(
    _ identity: Identity, named name: String, _ note: DocumentID
  ) -> ChangeActor {
    ChangeActor(
      person: Self.person(identity), name: name,
      // If this right does not suffice, the store checks the right by folder: ``retryRemovalAsManager``.
      manages: identity.may(.manage, .document(note, in: nil)))
  }

  private func check(_ text: String) throws(Response) {
    guard text.utf8.count <= limits.textBytesMax else {
      throw .problem(
        413, .tooLarge,
        "a comment may have at most \(limits.textBytesMax) bytes; this one has \(text.utf8.count)")
    }
    guard text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else {
      throw .problem(400, .badMessage, "expected a text that is not empty")
    }
    // In JSON each takes six bytes, and a stored response must stay short (``StoredResponse``).
    guard !text.unicodeScalars.contains(where: Self.isControl) else {
      throw .problem(400, .badMessage, "expected a text without control characters")
    }
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\t", "\n", "\r": false
    default: scalar.properties.generalCategory == .control
    }
  }

  private func known(_ id: String?) throws(Response) -> CommentID {
    guard let id, !id.isEmpty, id.utf8.count <= Self.idBytesMax else { throw Self.unknown }
    return id
  }

  private static var unknown: Response {
    .problem(
      404, .unknownDocument, "the note has no comment with this id; it may have been deleted")
  }

  // MARK: Rates

  /// Counts a new comment. Throws 429 if its user exceeds the rate.
  private func countComment(by identity: Identity) throws(Response) {
    // A comment takes 60 tokens: the bucket refills per second, and the limit is per minute.
    let rate = Rate(perSecond: limits.perMinuteMax, burst: 60 * limits.perMinuteMax)
    let wait = usages.draw(60, by: identity.user, at: rate, now: dependencies.clock.uptime)
    guard wait > 0 else { return }
    throw .tooMany(
      .problem(
        429, .tooFast,
        "a user may make \(limits.perMinuteMax) comments a minute; send it again after \(wait) ms"),
      retryAfter: Int(wait))
  }

  // MARK: The store

  /// Stores a new comment, and its notices in the same commit.
  func add(
    _ comment: Comment, to note: DocumentID, _ request: RequestID, by identity: Identity,
    under right: StoreRight, notifying drafts: [NoticeDraft] = []
  ) {
    perform(
      .add(comment, countMax: limits.countMax), on: note, request, identity, right,
      notifying: drafts)
  }

  /// Performs work on comments, and stores its notices in the same commit.
  func perform(
    _ work: CommentRequest.Work, on note: DocumentID, _ request: RequestID, _ identity: Identity,
    _ right: StoreRight, notifying drafts: [NoticeDraft] = []
  ) {
    let work = CommentRequest(note: note, work)
    let person = Self.person(identity)
    let drafts = drafts.filter { !$0.people.isEmpty }
    let whole: StoreRequest =
      drafts.isEmpty ? .comments(work) : .notifying(drafts, .comments(work))
    let kept = owner?.keeping(whole, for: request) { reply in
      guard case .comments(let reply) = reply, reply.isDone else { return nil }
      return Self.response(reply, to: work.work, for: person)
    }
    store(
      kept ?? whole, under: right,
      then: .comments(
        .changed(request, work, identity, notified: drafts.flatMap(\.people))))
  }

  /// Handles the store's reply to a request about comments.
  func finish(_ work: CommentWork, _ outcome: StoreOutcome<CommentReply>) {
    switch work {
    case .list(let request, let note, let identity, let reader):
      guard let reply = reply(outcome, request) else { return }
      guard case .list(let list) = reply else { return refuse(request, reply) }
      let mayComment = identity.may([.read, .comment], .document(note, in: list.folder))
      let body = CommentJSON.list(
        list, for: Self.person(identity), mayComment: mayComment, limits)
      // The whole body may be compressed with repetitions: a caller who can add comments may read
      // all comments of the note, so the body's length reveals nothing.
      respond(request, reader.answer(body, packing: Packing(repeatingCount: body.count)))
    case .quoted(let request):
      guard let draft = drafts.removeValue(forKey: request) else { return }
      draftShares.give(1, for: draft.holder)
      guard let reply = reply(outcome, request) else { return }
      guard case .quoted(let epoch, let quote, let anchor) = reply else {
        return refuse(request, reply)
      }
      let comment = Comment(
        id: dependencies.names.next(), author: draft.author,
        person: Self.person(draft.identity), text: draft.text,
        createdAt: dependencies.clock.now,
        origin: Comment.Origin(epoch: epoch, anchor: draft.anchor, quote: quote), anchor: anchor)
      add(
        comment, mentioning: draft.mentions, to: draft.note, request, by: draft.identity,
        under: draft.right)
    case .changed(let request, let work, let identity, let people):
      guard let reply = reply(outcome, request) else { return }
      if let response = Self.response(reply, to: work.work, for: Self.person(identity)) {
        respond(request, response)
      } else if retryRemovalAsManager(request, work, identity, after: reply) {
        return
      } else {
        refuse(request, reply)
      }
      guard reply.isDone else { return }
      // Clients with the note open then fetch its comments.
      let room = RoomName(Identity.noteRoomPrefix + work.note.text)
      rooms.publish(resource: room.text, in: room, sender: nil)
      notices.tell(people)
    }
  }

  /// Retries the deletion of another user's comment with the caller's right to manage the note by
  /// its folder, which the store checks.
  ///
  /// - Returns: Whether the deletion is retried.
  private func retryRemovalAsManager(
    _ request: RequestID, _ work: CommentRequest, _ identity: Identity, after reply: CommentReply
  ) -> Bool {
    let verbs: Verbs = [.read, .comment, .manage]
    guard case .notOwn = reply, case .remove(let id, var who) = work.work, !who.manages,
      let right = StoreRight(verbs, onNote: work.note, of: identity), right.condition != nil
    else { return false }
    who.manages = true
    perform(.remove(id, by: who), on: work.note, request, identity, right)
    return true
  }

  private func reply(
    _ outcome: StoreOutcome<CommentReply>, _ request: RequestID
  ) -> CommentReply? {
    switch outcome {
    case .success(let reply): return reply
    case .failure(.compacted(let oldest)):
      respond(
        request,
        .problem(410, .historyGone, "the history before revision \(oldest) is no longer stored"))
    case .failure(let error): refuse(request, error, ofNote: "comment request failed")
    }
    return nil
  }

  /// The response to a successful request; `nil` if the store rejected it.
  private static func response(
    _ reply: CommentReply, to work: CommentRequest.Work, for person: PersonID?
  ) -> Response? {
    switch reply {
    case .kept(let comment), .unchanged(let comment):
      let isNew = if case .add = work { true } else { false }
      return .json(isNew ? 201 : 200, CommentJSON.comment(comment, for: person))
    case .removed: return Response(status: 204)
    case .list, .quoted, .badRange, .futureRevision, .otherEpoch, .unknownComment, .notOwn, .full:
      return nil
    }
  }

  private func refuse(_ request: RequestID, _ reply: CommentReply) {
    let problem: Response =
      switch reply {
      case .badRange(let length):
        .problem(
          409, .lengthMismatch,
          "expected a range of the text that is not empty; it has \(length) characters at that revision"
        )
      case .futureRevision(let head):
        .problem(409, .futureRevision, "the revision does not exist; the newest is \(head)")
      case .otherEpoch:
        .problem(
          409, .epochChanged,
          "the note's history has changed; reload it and select the range again")
      case .notOwn:
        .problem(
          403, .notAllowed,
          "a comment is edited by its author, and deleted by its author or a manager of the note")
      case .full(let count):
        .problem(
          413, .tooMany,
          "a note may have \(limits.countMax) comments; this one has \(count): delete some first")
      case .unknownComment: Self.unknown
      case .list, .quoted, .kept, .unchanged, .removed:
        .problem(503, .unavailable, "the store's reply has another form; try again later")
      }
    respond(request, problem)
  }
}

/// The owner of the responses to idempotent requests.
protocol CommentsOwner: AnyObject {
  /// Returns the same store request, which also stores the response if the HTTP request has a key.
  func keeping(
    _ work: StoreRequest, for request: RequestID,
    _ answer: @escaping @Sendable (StoreReply) -> Response?
  ) -> StoreRequest
}
