import ParleyGatewayPorts
import SocketMessages

/// Idempotent requests: each is performed once, however often it is sent.
///
///     POST /api/notes
///     Idempotency-Key: 3f0c…
///
/// A client whose connection broke before the response arrived cannot know whether the request was
/// performed. With an `Idempotency-Key`, it can repeat the request: the first response is stored in
/// the same commit as its effect, and is replayed with `Idempotency-Replayed: true`. Errors are not
/// stored: nothing was changed, and the same request may succeed later.
final class OnceRequests: Part, EditAnswers, CommentsOwner {
  /// Minimum and maximum bytes of a key.
  private static let keyBytes = 1...255

  let board: Switchboard
  private let access: Access
  private let folders: Folders
  /// Performs the requests whose responses are not stored.
  unowned var performer: (any RequestPerformer)?
  /// The requests in progress.
  private var book = IdempotentRequests<Resource.Match>()

  init(_ board: Switchboard, _ access: Access, _ folders: Folders) {
    self.board = board
    self.access = access
    self.folders = folders
  }

  /// Returns the identity with which a request in progress began; `nil` without a key.
  func identity(of request: RequestID) -> Identity? { book[request]?.identity }

  /// Whether a request repeats an earlier one, whose stamp was stored.
  func hasStamp(_ request: RequestID) -> Bool { book[request]?.stamp != nil }

  /// Prevents the response to a request from being stored.
  func discardResponse(of request: RequestID) { book.discardResponse(of: request) }

  /// Returns the key of a request that writes; `nil` if it has no key or does not write.
  static func key(of head: RequestHead) -> String? {
    ["POST", "PUT", "PATCH", "DELETE"].contains(head.method)
      ? head.headers["idempotency-key"] : nil
  }

  /// Begins a request with a key: it is performed unless its response is stored or awaited.
  func begin(
    _ request: RequestID, _ head: RequestHead, key: String, at match: Resource.Match,
    _ body: [UInt8], by identity: Identity
  ) throws(Response) {
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
    if let first = book.first(of: keyed) {
      try wait(request, keyed, by: identity, for: first)
    } else {
      book.begin(
        request, .init(keyed: keyed, head: head, identity: identity, match: match)
      )
      answerFromStore(request)
    }
  }

  /// Returns the owner of a key. All callers without a name share one owner, as do all guests of a
  /// link; their keys have to be unguessable.
  static func owner(_ identity: Identity) -> String { identity.user }

  /// Queues a repeated request while the first one is performed. Throws if the queue is full, or if
  /// the caller has another identity, whose rights may differ.
  private func wait(
    _ request: RequestID, _ keyed: KeyedRequest, by identity: Identity, for first: RequestID
  ) throws(Response) {
    guard let work = book[first], work.keyed.asksForSame(as: keyed) else { throw .keyReused }
    if work.identity == identity, book.wait(request, for: first) { return }
    throw .problem(409, .busy, "this request is still in progress; retry later")
      .with("retry-after", "1")
  }

  /// Replays the stored response. Performs the request if none or only a token's stamp is stored.
  func foundAnswer(_ outcome: StoreOutcome<AnswerReply>, to request: RequestID) {
    guard let work = book[request] else { return }
    switch outcome {
    case .success(.unanswered):
      performer?.perform(request, work.head, at: work.match, work.keyed.body)
    case .success(.answered(let bytes)):
      book.discardResponse(of: request)
      switch StoredResponse(bytes) {
      case .response(let response): replay(response, to: request, work)
      case .token(let stamp):
        book.stamp(request, stamp)
        performer?.perform(request, work.head, at: work.match, work.keyed.body)
      case nil:
        respond(request, .problem(503, .damaged, "the stored response cannot be read"))
      }
    case .success(.keyReused): respond(request, .keyReused)
    case .failure(let error): refuse(request, error, "stored response not read")
    }
  }

  // MARK: Replaying

  /// Replays a response to a caller that still has the right to the request. Without the right, the
  /// request is performed as if it were new, and fails.
  private func replay(
    _ response: Response, to request: RequestID, _ work: IdempotentRequests<Resource.Match>.Work
  ) {
    let call = Call(request, work.head, at: work.match, work.keyed.body, by: work.identity)
    guard let right = right(to: call, at: work.match) else {
      performer?.perform(request, work.head, at: work.match, work.keyed.body)
      return
    }
    guard right.condition != nil else { return respond(request, response.replayed) }
    // A deleted note has no folder to check. If it was restored, the reply's folder is checked.
    let isRemoval = call.head.method == "DELETE" && work.match.resource.isNote
    store(
      .note(id: call.note), under: isRemoval ? .housekeeping : right,
      then: .notes(
        request, .replay(response.replayed, remover: isRemoval ? call.identity : nil)))
  }

  /// Returns the right to repeat a request; `nil` if the caller no longer has it.
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
    case .room(let verbs): isGranted = identity.may(verbs, .room(call.room))
    case .rooms(let verbs):
      // The caller needs the right to at least one room. Publications in other rooms were refused,
      // and the response contains only their positions.
      let items = RoomJSON.publications(in: call.body, countMax: settings.limits.pageMax)
      isGranted = (items ?? []).contains { item in
        item.room.map { identity.may(verbs, .room($0)) } ?? false
      }
    case .operatorKey: isGranted = identity.isOperator
    case .nothing, .setting, .password, .refreshToken, .invitation, .reset, .link, .provider,
      .notes, .person, nil:
      isGranted = true
    }
    return isGranted ? .token : nil
  }

  // MARK: Storing

  /// Returns work that stores the response in its commit, if the request has a key.
  ///
  /// - Parameter answer: Returns the response to a reply; `nil` for a failure. Only successful
  ///   responses are stored. Called on the store's thread.
  func keeping(
    _ work: StoreRequest, for request: RequestID,
    _ answer: @escaping @Sendable (StoreReply) -> Response?
  ) -> StoreRequest {
    guard !book.isEmpty, work.isWriting, let draft = draft(of: request, answer) else { return work }
    return .once(.perform(work, keeping: [draft], settings.answers))
  }

  /// Returns the commit of a document's entries, which also stores responses to edits with keys.
  func keepingAnswers(
    of append: StoreRequest, to edits: [(request: RequestID, revision: Int)]
  ) -> (work: StoreRequest, kept: [RequestID]) {
    let kept = edits.filter { book[$0.request] != nil }
    let drafts = kept.compactMap { edit in draft(of: edit.request) { _ in .edited(edit.revision) } }
    guard !drafts.isEmpty else { return (append, []) }
    return (.once(.perform(append, keeping: drafts, settings.answers)), kept.map(\.request))
  }

  /// Asks the store for the response to a request. Any node may have stored it.
  func answerFromStore(_ request: RequestID) {
    guard let work = book[request] else { return }
    store(.once(.answer(work.keyed, settings.answers)), under: .token, then: .answer(request))
  }

  /// Returns a publication that stores the response to its request in its commit, if the request
  /// has a key. The request must consist of this publication alone.
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
    guard let work = book[request] else { return nil }
    book.storeWithChange(request)
    let token = work.stamp.map(StoredResponse.token)
    return AnswerDraft(work.keyed) { reply in
      guard let response = answer(reply), response.isSuccess else { return nil }
      return (token ?? .response(response)).bytes
    }
  }

  /// Returns the id and time of the token that a request creates. A repeated request gets the same.
  ///
  /// - Parameter identity: Returns the identity that the token will contain.
  func tokenStamp(
    for request: RequestID, _ identity: (TokenStamp) -> Identity
  ) -> TokenStamp {
    if let stamp = book[request]?.stamp { return stamp }
    var stamp = TokenStamp(id: dependencies.names.next(), time: dependencies.clock.now)
    // A token issued in the same millisecond as a revocation would count as revoked. Only the first
    // request moves the time: a later revocation applies to repeated requests too.
    if access.isRevoked(identity(stamp)) { stamp.time += 1 }
    book.stamp(request, stamp)
    return stamp
  }

  /// Returns a key for one part of a request, such as a publication of a batch.
  ///
  /// The key is a hash in 16 hexadecimal digits, because keys may be limited to 16 bytes. A
  /// collision is safe: a publication is compared with the earlier one of the same key, and refused
  /// if it differs.
  ///
  /// - Returns: `nil` if the request has no key.
  func key(ofPart index: Int, of request: RequestID) -> String? {
    guard let keyed = book[request]?.keyed else { return nil }
    let part = "\(index) \(keyed.owner.utf8.count) \(keyed.owner) \(keyed.key)"
    let digits = String(FNV1a(part.utf8).value, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  // MARK: Responding

  /// Responds to a request that has a key, and stores the response first if it has to be stored.
  ///
  /// - Returns: Whether the request has a key.
  func answer(_ request: RequestID, _ response: Response) -> Bool {
    guard let work = book[request] else { return false }
    switch work.keeping {
    case .afterwards where response.isSuccess:
      let kept = work.stamp.map(StoredResponse.token) ?? .response(response)
      guard let bytes = kept.bytes else { break }
      book.discardResponse(of: request)
      let draft = AnswerDraft(work.keyed) { _ in bytes }
      store(
        .once(.perform(.tell([]), keeping: [draft], settings.answers)), under: .token,
        then: .keeping(request, response))
      return true
    case .not where work.stamp != nil && response.isSuccess:
      finish(request, response.replayed)
      return true
    case .afterwards, .withWork, .not: break
    }
    finish(request, response)
    return true
  }

  /// Responds to a request and to the repeated requests that wait for it.
  func finish(_ request: RequestID, _ response: Response) {
    guard let work = book.finish(request) else { return }
    act(.respond(request, response))
    for waiting in work.waiting {
      act(.respond(waiting, response.isSuccess ? response.replayed : response))
    }
  }
}

/// Performs requests over HTTP.
protocol RequestPerformer: AnyObject {
  /// Performs a request after checking its identity and rights.
  func perform(
    _ request: RequestID, _ head: RequestHead, at match: Resource.Match, _ body: [UInt8])
}
