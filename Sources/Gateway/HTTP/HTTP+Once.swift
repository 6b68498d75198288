import ParleyGatewayPorts
import SocketMessages

/// Requests that are done once, however often they are sent.
///
///     POST /api/notes
///     Idempotency-Key: 3f0c…
///
/// A client whose connection broke before the answer came cannot know whether its request was done. With a
/// key of its own it sends the request again: the answer to the first is kept in the same commit as its
/// effect, and given again, with `Idempotency-Replayed: true`. Answers that refuse are not kept: nothing
/// was done, and the same request may succeed later.
extension HTTP {
  /// Bytes that a key may have.
  private static let keyBytes = 1...255

  /// Answers a request with an `Idempotency-Key` that writes.
  ///
  /// - Returns: Whether it is such a request.
  func requestOnce(
    _ request: RequestID, _ head: RequestHead, at match: Resource.Match, _ body: [UInt8]
  ) throws(Response) -> Bool {
    guard let key = head.headers["idempotency-key"],
      ["POST", "PUT", "PATCH", "DELETE"].contains(head.method)
    else { return false }
    let identity = try identity(of: head, request)
    guard Self.keyBytes.contains(key.utf8.count),
      key.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else {
      throw .problem(
        400, .badMessage,
        "expected Idempotency-Key as 1 to 255 visible ASCII characters without spaces, such as a "
          + "UUID")
    }
    try refuseIfFull()
    let keyed = KeyedRequest(
      owner: Self.owner(identity), key: "\(head.method) \(head.path) \(key)",
      variant: "\(head.query)\n\(head.headers["if-match"] ?? "")", body: body,
      time: dependencies.clock.now)
    if let first = once.first(of: keyed) {
      try wait(request, keyed, by: identity, for: first)
    } else {
      once.begin(request, OnceBook.Work(keyed: keyed, head: head, identity: identity, match: match))
      answerFromStore(request)
    }
    return true
  }

  /// The owner of a key. Callers without a name share one set of keys, and so do the guests of a link: they
  /// are distinguished by keys that cannot be guessed.
  static func owner(_ identity: Identity) -> String { identity.user }

  /// Queues a request that was sent again while the first is being done. A request with another token is
  /// not answered by the rights of the first.
  private func wait(
    _ request: RequestID, _ keyed: KeyedRequest, by identity: Identity, for first: RequestID
  ) throws(Response) {
    guard let work = once[first], work.keyed.asksForSame(as: keyed) else { throw .keyReused }
    if work.identity == identity, once.wait(request, for: first) { return }
    throw .problem(
      409, .busy, "this request is being done, and others wait for its answer; ask again"
    ).with("retry-after", "1")
  }

  /// Repeats the kept answer that the store has returned, or handles the request if no answer is kept.
  func foundAnswer(_ outcome: StoreOutcome<AnswerReply>, to request: RequestID) {
    guard let work = once[request] else { return }
    switch outcome {
    case .success(.unanswered): perform(request, work.head, at: work.match, work.keyed.body)
    case .success(.answered(let bytes)):
      once.keepNothing(of: request)
      switch KeptAnswer(bytes) {
      case .response(let response): replay(response, to: request, work)
      case .token(let stamp):
        once.stamp(request, stamp)
        perform(request, work.head, at: work.match, work.keyed.body)
      case nil:
        respond(request, .problem(503, .damaged, "the answer that was kept cannot be read"))
      }
    case .success(.keyReused): respond(request, .keyReused)
    case .failure(let error): refuse(request, error, "kept answer not read")
    }
  }

  // MARK: Giving again

  /// Repeats an answer to a caller that may still make the request. Others are answered as if it came for
  /// the first time, which does nothing: their rights do not reach so far.
  private func replay(_ response: Response, to request: RequestID, _ work: OnceBook.Work) {
    let call = Call(request, work.head, at: work.match, work.keyed.body, by: work.identity)
    guard let right = right(to: call, at: work.match) else {
      return perform(request, work.head, at: work.match, work.keyed.body)
    }
    guard right.condition != nil else { return respond(request, response.replayed) }
    // A removed note has no folder for the store to check. If it was restored, its folder is checked with the reply.
    let isRemoval = call.head.method == "DELETE" && work.match.resource.isNote
    store(
      .note(id: call.note), under: isRemoval ? .housekeeping : right,
      then: .notes(
        request, .replay(response.replayed, remover: isRemoval ? call.identity : nil)))
  }

  /// The right to make a request that was done before; `nil` where the caller lacks it by now.
  private func right(to call: Call, at match: Resource.Match) -> StoreRight? {
    let identity = call.identity
    let isGranted: Bool
    switch match.resource.route(call.head.method)?.right {
    case .note(let verbs):
      return StoreRight(verbs, onNote: call.note, of: identity)
    case .newNote(let verbs), .chosenNote(let verbs):
      let id = call.name.isEmpty ? DocumentID(dependencies.names.next()) : call.note
      let folder = try? FolderPath(NoteJSON.fields(in: call.body)?.folder ?? "")
      isGranted = folder.map { identity.may(verbs, .document(id, in: $0)) } ?? false
    case .folders: return folders.rightToMoveAll(call.body, by: identity)
    case .room(let verbs): isGranted = identity.may(verbs, .room(call.name))
    case .rooms(let verbs):
      // Without a right to any room, each part is refused; without a right to some, the answer names only
      // their positions.
      let items = RoomJSON.publications(in: call.body, countMax: settings.limits.pageMax)
      isGranted = (items ?? []).contains { item in
        item.room.map { identity.may(verbs, .room($0)) } ?? false
      }
    case .operatorKey: isGranted = identity.isOperator
    case .nothing, .setting, .password, .refreshToken, .invitation, .link, .provider, .notes,
      .person, nil:
      isGranted = true
    }
    return isGranted ? .token : nil
  }

  // MARK: Keeping

  /// The same work, with the answer to a request kept in its commit, if the request has a key.
  ///
  /// - Parameter answer: The answer to be given for a reply that is no failure; it is kept unless it
  ///   refuses. Called on the store's thread.
  func keeping(
    _ work: StoreRequest, for request: RequestID,
    _ answer: @escaping @Sendable (StoreReply) -> Response?
  ) -> StoreRequest {
    guard !once.isEmpty, work.isWriting, let draft = draft(of: request, answer) else { return work }
    return .once(.perform(work, keeping: [draft], settings.answers))
  }

  /// The commit of a document's entries, with the answers to those edits that have keys.
  func keepingAnswers(
    of append: StoreRequest, to edits: [(request: RequestID, revision: Int)]
  ) -> (work: StoreRequest, kept: [RequestID]) {
    let kept = edits.filter { once[$0.request] != nil }
    let drafts = kept.compactMap { edit in draft(of: edit.request) { _ in .edited(edit.revision) } }
    guard !drafts.isEmpty else { return (append, []) }
    return (.once(.perform(append, keeping: drafts, settings.answers)), kept.map(\.request))
  }

  /// Repeats the kept answer to a request, of this node or another, or handles the request if no answer is kept.
  func answerFromStore(_ request: RequestID) {
    guard let work = once[request] else { return }
    store(.once(.answer(work.keyed, settings.answers)), under: .token, then: .answer(request))
  }

  /// A publication, with the answer to its request, if that is to be kept and the publication is all of the
  /// request.
  func keepingAnswer(
    of publication: StoreRequest, in room: RoomName, to request: RequestID
  ) -> StoreRequest {
    keeping(publication, for: request) { reply in
      guard case .room(.published(let position, _, let isRepeated)) = reply else { return nil }
      return .published(room, position, isRepeated: isRepeated)
    }
  }

  private func draft(
    of request: RequestID, _ answer: @escaping @Sendable (StoreReply) -> Response?
  ) -> AnswerDraft? {
    guard let work = once[request] else { return nil }
    once.keepWithWork(request)
    let token = work.stamp.map(KeptAnswer.token)
    return AnswerDraft(work.keyed) { reply in
      guard let response = answer(reply), response.isSuccess else { return nil }
      return (token ?? .response(response)).bytes
    }
  }

  /// The id and time of the token that a request makes: the same as when the request first came.
  ///
  /// - Parameter identity: the identity that the token will name.
  func tokenStamp(
    for request: RequestID, _ identity: (TokenStamp) -> Identity
  ) -> TokenStamp {
    if let stamp = once[request]?.stamp { return stamp }
    var stamp = TokenStamp(id: dependencies.names.next(), time: dependencies.clock.now)
    // A token of the very millisecond of a revocation would count as taken back. Only at first: a later
    // revocation applies, however often the request comes.
    if access.isRevoked(identity(stamp)) { stamp.time += 1 }
    once.stamp(request, stamp)
    return stamp
  }

  /// The key of one part of a request, where parts need keys of their own.
  ///
  /// A hash as 16 digits, since keys may be limited to so few bytes. Two requests that give
  /// one key by chance or on purpose lose nothing: a publication is compared with the former one under its
  /// key, and refused if it differs.
  static func key(ofPart index: Int, of keyed: KeyedRequest) -> String {
    let part = "\(index) \(keyed.owner.utf8.count) \(keyed.owner) \(keyed.key)"
    let digits = String(FNV1a(part.utf8).value, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  // MARK: Answering

  /// Answers a request that has a key: the answer is kept first, if it is to be and is not yet.
  ///
  /// - Returns: Whether the request has one.
  func respondOnce(_ request: RequestID, _ response: Response) -> Bool {
    guard let work = once[request] else { return false }
    switch work.keeping {
    case .afterwards where response.isSuccess:
      let kept = work.stamp.map(KeptAnswer.token) ?? .response(response)
      guard let bytes = kept.bytes else { break }
      once.keepNothing(of: request)
      let draft = AnswerDraft(work.keyed) { _ in bytes }
      store(
        .once(.perform(.tell([]), keeping: [draft], settings.answers)), under: .token,
        then: .keeping(request, response))
      return true
    case .not where work.stamp != nil && response.isSuccess:
      finishOnce(request, response.replayed)
      return true
    case .afterwards, .withWork, .not: break
    }
    finishOnce(request, response)
    return true
  }

  /// Answers a request, and those that wait for the same answer.
  func finishOnce(_ request: RequestID, _ response: Response) {
    guard let work = once.finish(request) else { return }
    act(.respond(request, response))
    for waiting in work.waiting {
      act(.respond(waiting, response.isSuccess ? response.replayed : response))
    }
  }
}
