public import GatewayPorts
import JSON
package import SocketMessages

/// The HTTP surface for notes.
///
///     GET    /api/notes                            all notes, the newest change first
///     GET    /api/notes?limit=&after=              some, see Gateway+NotePages.swift
///     POST   /api/notes                            {"title": "…"} makes one
///     GET    /api/notes/{id}                       one note
///     PUT    /api/notes/{id}                       {"title": "…"} makes one under this id
///     PATCH  /api/notes/{id}                       {"title": "…"} renames it
///     DELETE /api/notes/{id}                       removes it with its history
///     GET    /api/notes/{id}/text?revision=|time=  the text then, with its authors
///     PUT    /api/notes/{id}/text?base=&author=    replaces the text, as a change like any other
///     POST   /api/notes/{id}/changes               {"revision": n, "operation": […]} changes it
///     GET    /api/notes/{id}/history?after=&limit= who changed what, in groups
///     GET    /api/notes/{id}/versions              named revisions
///     POST   /api/notes/{id}/versions              {"name": "…", "revision": n} names one
///     DELETE /api/notes/{id}/versions/{revision}   takes the name away
///     POST   /api/notes/{id}/restore               {"revision": n} makes an old text the newest
///     POST   /api/notes/{id}/share                 makes a link, see Gateway+Sharing.swift
extension Gateway {
  /// What a request for notes is to be answered with.
  enum NotesRequest {
    case list(Identity)
    case page(NotePageWork)
    case create
    /// Making one under an id of its maker's.
    case put
    case rename
    case delete(DocumentID)
    case one(known: EntityTags?)
    case text(NoteText.Format, known: EntityTags?)
    /// The text that an edit starts from.
    case base(DocumentID, NoteText.Edit)
    case history
    case versions
    case saveVersion(NamedVersion)
    case deleteVersion
    case restore(DocumentID, author: String)
    case share(Share)
    case endShares(DocumentID)
  }

  /// Answers an HTTP request, now or when the store has replied.
  ///
  /// - Returns: Whether the path is the gateway's at all.
  public func request(_ request: RequestID, head: RequestHead, body: [UInt8]) -> Bool {
    if requestOfDialect(request, head: head, body: body) { return true }
    let parts = head.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    let expected: BodyType =
      parts.starts(with: ["api", "notes"]) && parts.last == "text" ? .text : .json
    guard parts.first != "api" || body.isEmpty || expected.includes(head) else {
      respond(request, .unsupported(expected))
      return true
    }
    if requestOnce(request, head: head, path: parts, body: body) { return true }
    return perform(request, head: head, path: parts, body: body)
  }

  /// Does what a request of the gateway's own interface asks for.
  ///
  /// - Returns: Whether the path is the gateway's at all.
  func perform(
    _ request: RequestID, head: RequestHead, path parts: ArraySlice<Substring>, body: [UInt8]
  ) -> Bool {
    if requestOfOperator(request, head, path: parts, body: body) { return true }
    guard !backlog.isFull || parts.first != "api" || head.method == "GET" else {
      refuseForBacklog(request)
      return true
    }
    guard parts.starts(with: ["api", "notes"]) else {
      guard parts.first == "api" else { return false }
      return requestRooms(request, head: head, path: parts.dropFirst(), body: body)
    }
    guard let identity = identity(of: head, request) else { return true }
    let path = Array(parts.dropFirst(2))
    guard let first = path.first else {
      switch head.method {
      case "GET": list(request, head.query, identity)
      case "POST": create(request, body, identity)
      default: respond(request, .methodNotAllowed("GET, POST"))
      }
      return true
    }
    guard let id = PercentEncoding.decoded(first), !id.isEmpty else {
      respond(request, .problem(400, .badMessage, "the note's id is not valid percent-encoding"))
      return true
    }
    guard id.utf8.count <= settings.limits.documentIDBytesMax else {
      respond(
        request,
        .problem(
          413, .tooLarge,
          "a note's id has at most \(settings.limits.documentIDBytesMax) bytes; this one has "
            + "\(id.utf8.count)"))
      return true
    }
    let rest = path.dropFirst().map(String.init)
    guard allows(identity, Self.verbs(for: head.method, path: rest), .document(id), request) else {
      return true
    }
    answer(request, head, note: id, path: rest, body, identity)
    return true
  }

  /// What a request below a note needs: reading for what changes nothing, writing for versions and
  /// their return, managing for the rest.
  private static func verbs(for method: String, path: [String]) -> Verbs {
    if method == "GET" || method == "HEAD" { return .read }
    switch path.first {
    case "versions", "restore", "text", "changes": return .write
    default: return .manage
    }
  }

  /// Whether a request that writes has an `If-Match` that would not be looked at, which is answered:
  /// doing it all the same could do what the header was to prevent.
  private func hasVainCondition(
    _ request: RequestID, _ head: RequestHead, path: [String]
  ) -> Bool {
    guard head.method != "GET", let condition = head.headers["if-match"], !condition.isEmpty,
      condition != "*", path != ["text"], path != ["changes"]
    else { return false }
    respond(
      request,
      .problem(
        400, .badMessage,
        "If-Match is looked at where a text is written, by PUT of it and by changes, and nowhere "
          + "else; leave it out here"))
    return true
  }

  private func answer(
    _ request: RequestID, _ head: RequestHead, note id: DocumentID, path: [String],
    _ body: [UInt8], _ identity: Identity
  ) {
    guard !hasVainCondition(request, head, path: path) else { return }
    switch (path.first, path.count) {
    case (nil, _):
      switch head.method {
      case "GET":
        let known = EntityTags(head.headers["if-none-match"])
        store(.note(id: id), for: .notes(request, .one(known: known)))
      case "PUT": put(request, id: id, body, identity)
      case "PATCH": rename(request, id: id, body)
      case "DELETE":
        store(
          keeping(.delete(id: id), for: request) { _ in Response(status: 204) },
          for: .notes(request, .delete(id)))
      default: respond(request, .methodNotAllowed("GET, PUT, PATCH, DELETE"))
      }
    case ("text", 1) where head.method == "GET": text(request, id: id, head)
    case ("text", 1) where head.method == "PUT":
      replaceText(request, id: id, head, body, identity)
    case ("changes", 1) where head.method == "POST": change(request, id: id, head, body, identity)
    case ("history", 1) where head.method == "GET": history(request, id: id, head.query)
    case ("versions", 1) where head.method == "GET":
      store(.versions(id: id), for: .notes(request, .versions))
    case ("versions", 1) where head.method == "POST": saveVersion(request, id: id, body, identity)
    case ("versions", 2) where head.method == "DELETE":
      guard let revision = Self.wholeNumber(path[1]) else {
        respond(request, .problem(400, .badMessage, "expected a revision's number"))
        return
      }
      store(
        keeping(.deleteVersion(id: id, revision: revision), for: request) { _ in
          Response(status: 204)
        }, for: .notes(request, .deleteVersion))
    case ("restore", 1) where head.method == "POST": restore(request, id: id, body, identity)
    case ("share", 1) where head.method == "POST": share(request, id: id, body, identity)
    case ("share", 1) where head.method == "DELETE": endShares(request, id: id)
    case ("share", 1): respond(request, .methodNotAllowed("POST, DELETE"))
    case ("text", 1): respond(request, .methodNotAllowed("GET, PUT"))
    case ("changes", 1): respond(request, .methodNotAllowed("POST"))
    case ("history", 1): respond(request, .methodNotAllowed("GET"))
    case ("versions", 1): respond(request, .methodNotAllowed("GET, POST"))
    case ("versions", 2): respond(request, .methodNotAllowed("DELETE"))
    case ("restore", 1): respond(request, .methodNotAllowed("POST"))
    default: respond(request, .problem(404, .unknownDocument, "no such path below a note"))
    }
  }

  private func create(_ request: RequestID, _ body: [UInt8], _ identity: Identity) {
    let id = surroundings.names.next()
    guard allows(identity, .manage, .document(id), request) else { return }
    guard let title = title(from: body, request) else { return }
    if NoteJSON.fields(in: body)?.hasID ?? false {
      respond(
        request,
        .problem(
          400, .badMessage,
          "a note's own id goes into the path: PUT /api/notes/{id}; without one, "
            + "the server chooses it"))
      return
    }
    store(
      keeping(
        .create(
          id: id, epoch: surroundings.names.next(), title: title, time: surroundings.clock.now),
        for: request
      ) { reply in
        guard case .note(let note) = reply else { return nil }
        return .created(note)
      }, for: .notes(request, .create))
  }

  /// Makes a note under an id that its maker chose, which may be asked for again.
  private func put(
    _ request: RequestID, id: DocumentID, _ body: [UInt8], _ identity: Identity
  ) {
    guard let title = title(from: body, request) else { return }
    let draft = NoteDraft(
      id: id, title: title, owner: Self.owner(identity), time: surroundings.clock.now)
    store(
      keeping(
        .once(
          .create(
            draft, epoch: surroundings.names.next(), restMax: settings.answers.ageMax)),
        for: request
      ) { reply in
        switch reply {
        case .once(.created(let note)): .created(note)
        case .once(.found(let note)): .json(200, NoteJSON.note(note))
        default: nil
        }
      }, for: .notes(request, .put))
  }

  private func answer(_ request: RequestID, _ reply: OnceReply) {
    switch reply {
    case .created(let note):
      respond(request, .created(note))
      noteListChanged()
    case .found(let note): respond(request, .json(200, NoteJSON.note(note)))
    case .taken:
      respond(
        request,
        .problem(
          409, .idTaken,
          "another note has this id: it was made by somebody else, or with another "
            + "title; take a new id"))
    case .deleted:
      respond(
        request,
        .problem(410, .unknownDocument, "the note with this id was deleted; take a new id"))
    case .unanswered, .answered, .keyReused:
      preconditionFailure("a store answers the making of a note with the note")
    }
  }

  private func rename(_ request: RequestID, id: DocumentID, _ body: [UInt8]) {
    guard let title = title(from: body, request) else { return }
    store(
      keeping(.rename(id: id, title: title, time: surroundings.clock.now), for: request) { reply in
        guard case .note(let note) = reply else { return nil }
        return .json(200, NoteJSON.note(note))
      }, for: .notes(request, .rename))
  }

  private func title(from body: [UInt8], _ request: RequestID) -> String? {
    guard let title = NoteJSON.fields(in: body)?.title else {
      respond(
        request, .problem(400, .badMessage, "expected a JSON object with a string \"title\""))
      return nil
    }
    guard title.utf8.count <= settings.limits.titleBytesMax else {
      respond(
        request,
        .problem(
          413, .tooLarge,
          "a title may have \(settings.limits.titleBytesMax) bytes; this one has "
            + "\(title.utf8.count)"))
      return nil
    }
    return title
  }

  func answer(_ request: RequestID, _ kind: NotesRequest, _ reply: StoreReply) {
    switch reply {
    case .notes(let notes):
      switch kind {
      case .list(let identity): answer(request, all: notes, identity)
      case .page(let work): goOn(request, work, notes)
      default: preconditionFailure("a store answers with notes when asked to list them")
      }
    case .note(let note): answer(request, kind, note)
    case .done: finish(request, kind)
    case .text(let text):
      answer(request, kind, text)
    case .history(let page): respond(request, .json(200, NoteJSON.history(page)))
    case .versions(let versions):
      if case .share(let share) = kind {
        answer(request, share)
        return
      }
      if case .endShares(let id) = kind {
        finishEndingShares(request, id: id)
        return
      }
      respond(request, .json(200, NoteJSON.versions(versions)))
    case .once(let reply): answer(request, reply)
    case .failed(let error): answer(request, error)
    case .document, .entries, .room, .people:
      preconditionFailure("a store answers a request for notes with notes")
    }
  }

  private func answer(_ request: RequestID, _ kind: NotesRequest, _ text: HistoricText) {
    switch kind {
    case .restore(let id, let author):
      documents.edit(
        id,
        DocumentRoom.ServerEdit(request: request, content: .text(text.text), author: author))
    case .base(let id, let edit): documents.edit(id, edit.onto(text, for: request))
    case .text(let format, let known):
      respond(request, NoteText.response(text, as: format).unless(known: known))
    case .list, .page, .create, .put, .rename, .delete, .one, .history, .versions, .saveVersion,
      .deleteVersion, .share, .endShares:
      preconditionFailure("a store answers with a text when asked for one")
    }
  }

  private func answer(_ request: RequestID, _ kind: NotesRequest, _ note: NoteSummary) {
    if case .one(let known) = kind {
      respond(request, NoteText.response(note).unless(known: known))
      return
    }
    if case .create = kind {
      respond(request, .created(note))
    } else {
      respond(request, .json(200, NoteJSON.note(note)))
      documents.renamed(note.id, to: note.title)
    }
    noteListChanged()
  }

  private func finish(_ request: RequestID, _ kind: NotesRequest) {
    if case .saveVersion(let version) = kind {
      respond(request, .json(201, NoteJSON.version(version)))
      return
    }
    respond(request, Response(status: 204))
    guard case .delete(let id) = kind else { return }
    documents.deleted(id)
    noteListChanged()
  }

  private func answer(_ request: RequestID, _ error: StoreError) {
    switch error {
    case .unknownDocument:
      respond(request, .problem(404, .unknownDocument, "no note has this id"))
    case .compacted(let oldest):
      respond(
        request,
        .problem(410, .historyGone, "the history before revision \(oldest) is no longer kept"))
    case .notNext(let head):
      respond(
        request,
        .problem(409, .futureRevision, "there is no such revision; the newest is \(head)"))
    case .exists, .unavailable, .damaged:
      surroundings.log.write(.error, "notes request failed", [("error", error.logName)])
      respond(
        request, .problem(503, .unavailable, "the store cannot do this now; try again later"))
    }
  }

}

extension Response {
  /// A JSON response.
  package static func json(_ status: Int, _ body: [UInt8]) -> Response {
    Response(
      status: status,
      headers: [("content-type", "application/json"), ("cache-control", "no-store")], body: body)
  }

  /// A note that was made.
  static func created(_ note: NoteSummary) -> Response {
    var response = json(201, NoteJSON.note(note))
    response.headers.append(("location", "/api/notes/" + Gateway.percentEncoded(note.id)))
    return response
  }

  /// An error for programs and people.
  package static func problem(_ status: Int, _ code: ErrorCode, _ message: String) -> Response {
    var body: [UInt8] = []
    JSONWriter.object(&body) { object, body in
      object.field("code", code.rawValue, &body)
      object.field("message", message, &body)
    }
    return json(status, body)
  }

  /// An error that says which methods a path takes. Where GET is one of them, so is HEAD.
  package static func methodNotAllowed(_ methods: String) -> Response {
    let allowed = methods.hasPrefix("GET") ? "GET, HEAD" + methods.dropFirst(3) : methods
    var response = problem(405, .badMessage, "this path takes \(allowed)")
    response.headers.append(("allow", allowed))
    return response
  }
}
