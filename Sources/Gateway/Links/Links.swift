import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Links that give each client that has one access to a note.
///
///     POST   /api/notes/{id}/share          {"access": "read", "expiresIn": 604800} creates one
///     GET    /api/notes/{id}/share          lists the note's links
///     DELETE /api/notes/{id}/share/{link}   ends one
///     DELETE /api/notes/{id}/share          ends all that exist
///
/// A link is a short address: `/s/` and its key. The key is exchanged for the link's token, which
/// the server signs; the store contains the key's hash. All links of a note share one guest user,
/// so that revoking this user also ends older links, which had a token but no key.
final class Links: Part {
  let board: Switchboard
  let access: Access
  let rights: Rights
  /// The requests that wait for the store, and the requests for titles.
  private var callbacks = Callbacks<StoreOutcome<LinkReply>>()
  private var titleCallbacks = Callbacks<StoreOutcome<NoteSummary>>()

  init(_ board: Switchboard, _ access: Access, _ rights: Rights) {
    self.board = board
    self.access = access
    self.rights = rights
  }

  /// Returns the identity of a client that has a link.
  func guest(of link: NoteLink) -> Identity {
    var guest = Identity(
      user: Identity.guestPrefix + link.note.text, tokenID: link.id, issuedAt: link.createdAt,
      expiresAt: link.expiresAt,
      // Matches exactly this id, even if it has the form of a pattern.
      grants: [Grant(.documents, NamePattern(exactly: link.note.text), link.access.verbs)])
    guest.isGuest = true
    return guest
  }

  /// Creates a link and responds with it.
  ///
  /// - Parameters:
  ///   - isRepeated: Whether an earlier attempt of the request created the link.
  ///   - keeping: Returns the work with the response stored in its commit.
  func make(
    _ link: NoteLink, _ request: RequestID, under right: StoreRight, isRepeated: Bool,
    keeping: (StoreRequest) -> StoreRequest
  ) throws(Response) {
    let guest = guest(of: link)
    guard let key = access.key(ofLink: link.id), let token = access.token(for: guest) else {
      throw Self.notOffered
    }
    let answer = Response.json(
      201, LinkJSON.made(link, key: key, token: token, isProtected: !access.isDemo))
    guard !isRepeated else {
      // The store checks that the caller still has access to the note.
      let look = StoreRequest.links(.list(note: link.note, now: dependencies.clock.now))
      return perform(look, request, under: right, \.list) { [self] _ in respond(request, answer) }
    }
    let work = keeping(.links(.make(link, key: key, countMax: NoteLink.countMax)))
    perform(work, request, under: right, \.isMade) { [self] isMade in
      guard isMade else {
        return respond(
          request,
          .problem(
            409, .tooLarge,
            "a note may have \(NoteLink.countMax) links at a time; end some that are not needed"))
      }
      respond(request, answer)
    }
  }

  /// Returns the response to store for a new link. A replay signs the rest of it again.
  static func answer(to reply: StoreReply) -> Response? {
    if case .links(.made) = reply { Response(status: 201) } else { nil }
  }

  /// Lists a note's links, with the keys of links that grant no more than the caller's own rights.
  func list(_ call: Call) throws(Response) {
    let (request, note, identity) = (call.request, call.note, call.identity)
    let work = StoreRequest.links(.list(note: note, now: dependencies.clock.now))
    perform(work, request, under: try call.right, \.list) { [self] links, folder in
      let shown = links.filter { !access.isRevoked(guest(of: $0)) }.map { link in
        let mayHave = identity.may(link.access.verbs, .document(note, in: folder))
        return (link: link, key: mayHave ? access.key(ofLink: link.id) : nil)
      }
      respond(request, .json(200, LinkJSON.list(shown)))
    }
  }

  /// Ends a link of a note.
  func end(_ call: Call) throws(Response) {
    let (request, note, right, id) = (call.request, call.note, try call.right, call.item ?? "")
    let work = StoreRequest.links(.list(note: note, now: dependencies.clock.now))
    perform(work, request, under: right, \.list) { [self] links, _ in
      let link = links.first { $0.id.isExactly(id) }
      let tokens = link.map { Revocation.timed($0.id, until: $0.expiresAt) }
      // Revokes first: a retry after a failure still finds the link.
      rights.revoke([tokens].compactMap(\.self)) { [self] closed in
        guard closed != nil else { return respond(request, .storeFailed) }
        let work = audited(
          .links(.end(note: note, id: id)), .endLink, note.text, detail: id, by: call)
        perform(work, request, under: right, \.ended) {
          [self] ended in
          respond(
            request,
            link == nil && ended.isEmpty
              ? .problem(404, .unknownType, "the note has no link with this id")
              : Response(status: 204))
        }
      }
    }
  }

  /// Ends all links of a note.
  func endAll(_ call: Call) throws(Response) {
    let (request, note) = (call.request, call.note)
    let work = audited(
      .links(.end(note: note, id: nil)), .endLink, note.text, detail: "all links", by: call)
    perform(work, request, under: try call.right, \.ended) {
      [self] _ in
      let tokens = Revocation.user(Identity.guestPrefix + note.text, before: dependencies.clock.now)
      rights.revoke([tokens]) { [self] closed in
        respond(request, closed == nil ? .storeFailed : Response(status: 204))
      }
    }
  }

  // MARK: Opening

  /// A link that was opened by its key.
  struct Opened {
    let link: NoteLink
    let title: String
    let token: String
  }

  /// Opens the link with a key; `nil` if missing.
  func open(_ key: String, then proceed: @escaping (StoreOutcome<Opened?>) -> Void) {
    ask(.links(.open(key: key, now: dependencies.clock.now)), under: .token, \.opened) {
      [self] outcome in
      proceed(
        outcome.map { found in
          guard let (link, title) = found else { return nil }
          let guest = guest(of: link)
          guard !access.isRevoked(guest), let token = access.token(for: guest) else { return nil }
          return Opened(link: link, title: title, token: token)
        })
    }
  }

  /// Returns the title of a note if every client may read the note.
  func title(of note: DocumentID, then proceed: @escaping (String?) -> Void) {
    guard access.isDemo, note.text.utf8.count <= settings.limits.documentIDBytesMax,
      let right = StoreRight(.read, onNote: note, of: .demo)
    else { return proceed(nil) }
    let callback = titleCallbacks.add { proceed(try? $0.get().title) }
    store(.note(id: note), under: right, then: .title(callback))
  }

  // MARK: The store

  /// Sends work on links to the store. Passes the value to `proceed`, or sends the error.
  func perform<Value>(
    _ work: StoreRequest, _ request: RequestID, under right: StoreRight,
    _ value: @escaping (LinkReply) -> Value?,
    then proceed: @escaping (Value) -> Void
  ) {
    ask(work, under: right, value) { [self] outcome in
      switch outcome {
      case .success(let value): proceed(value)
      case .failure(.outOfReach): respond(request, .notGranted)
      case .failure(.unknownDocument):
        respond(request, .problem(404, .unknownDocument, "no note has this id"))
      case .failure(let error):
        log(.error, "links not read or written", error.logName)
        respond(request, .storeFailed)
      }
    }
  }

  /// Sends work on links to the store. `proceed` gets the value of the reply, or the error.
  func ask<Value>(
    _ work: StoreRequest, under right: StoreRight, _ value: @escaping (LinkReply) -> Value?,
    then proceed: @escaping (StoreOutcome<Value>) -> Void
  ) {
    let callback = callbacks.add { proceed($0.flatMap { $0.outcome(value) }) }
    store(work, under: right, then: .links(callback))
  }

  /// Passes the store's reply about links to its callback.
  func finish(
    _ number: Callbacks<StoreOutcome<LinkReply>>.Number, _ outcome: StoreOutcome<LinkReply>
  ) {
    callbacks.take(number)(outcome)
  }

  /// Passes the note that the store has read for its title to the callback.
  func foundTitle(
    _ number: Callbacks<StoreOutcome<NoteSummary>>.Number, _ outcome: StoreOutcome<NoteSummary>
  ) {
    titleCallbacks.take(number)(outcome)
  }

  static var notOffered: Response {
    .problem(404, .unknownDocument, "this server makes no links")
  }
}

/// The values of replies of one type; `nil` for other replies.
extension LinkReply {
  func outcome<Value>(_ value: (LinkReply) -> Value?) -> StoreOutcome<Value> {
    if let value = value(self) { return .success(value) }
    let name = Mirror(reflecting: self).children.first?.label ?? "\(self)"
    return .failure(.unexpectedReply(name, insteadOf: Value.self))
  }

  /// Whether a link was created; false if the note has too many.
  fileprivate var isMade: Bool? {
    switch self {
    case .made: true
    case .tooMany: false
    case .link, .unknown, .links, .ended, .names: nil
    }
  }

  fileprivate var list: (links: [NoteLink], folder: FolderPath?)? {
    if case .links(let links, let folder) = self { (links, folder) } else { nil }
  }

  fileprivate var ended: [NoteLink]? {
    if case .ended(let links) = self { links } else { nil }
  }

  /// The link with a key; `.some(nil)` if missing.
  fileprivate var opened: (link: NoteLink, title: String)?? {
    switch self {
    case .link(let link, let title): .some((link, title))
    case .unknown: .some(nil)
    case .made, .tooMany, .links, .ended, .names: nil
    }
  }
}
