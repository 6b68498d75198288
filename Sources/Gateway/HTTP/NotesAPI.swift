import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// The HTTP API for notes: creating, renaming, moving and deleting them, and the store's replies.
final class NotesAPI: Part, DocumentsOwner {
  let board: Switchboard
  let documents: Documents
  let rooms: Rooms
  let access: Access
  private let rights: Rights
  let search: Search
  let links: Links
  let once: OnceRequests
  /// Times at which deleted notes whose retention has ended are removed.
  var removals: DueTimes = DueTimes()

  init(
    _ board: Switchboard, _ documents: Documents, _ rooms: Rooms, _ access: Access,
    _ rights: Rights, _ search: Search, _ links: Links, _ once: OnceRequests
  ) {
    self.board = board
    self.documents = documents
    self.rooms = rooms
    self.access = access
    self.rights = rights
    self.search = search
    self.links = links
    self.once = once
  }

  func lostReading(_ connection: Connection) { rights.applyRights(to: connection) }

  func current(_ identity: Identity) -> Identity? { try? access.current(identity) }

  func readNote(_ call: Call) throws(Response) {
    try store(.note(id: call.note), for: call, .one(known: call.known))
  }

  /// Sends a request's work to the store, under the right of its route.
  func store(_ work: StoreRequest, for call: Call, _ kind: NotesRequest) throws(Response) {
    store(work, under: try call.right, then: .notes(call.request, kind))
  }

  func deleteNote(_ call: Call) throws(Response) {
    let author = try access.author(call.query.text("author"), call.identity)
    try store(
      audited(
        .delete(id: call.note, keeping: deletion(author)), .deleteNote, call.name, by: call),
      for: call, .delete(call.note))
  }

  func createNote(_ call: Call) throws(Response) {
    let id = DocumentID(dependencies.names.next())
    let fields = NoteJSON.fields(in: call.body)
    let folder = try FolderPath(asked: fields?.folder ?? "")
    let right = try access.requireMaking(id, in: folder, of: call.identity)
    let title = try title(in: fields)
    let kind = try fields?.noteKind ?? .plain
    guard fields?.id == nil else {
      throw .problem(
        400, .badMessage,
        "a note's own id goes into the path: PUT /api/notes/{id}; without one, "
          + "the server chooses it")
    }
    try store(
      .create(
        id: id, epoch: Epoch(dependencies.names.next()), title: title, time: dependencies.clock.now,
        folder: folder, kind: kind),
      for: call, under: right, .create)
  }

  /// Creates a note under an id that the client chose. A repeated request returns the same note.
  func putNote(_ call: Call) throws(Response) {
    let fields = NoteJSON.fields(in: call.body)
    let folder = try FolderPath(asked: fields?.folder ?? "")
    let right = try access.requireMaking(call.note, in: folder, of: call.identity)
    let title = try title(in: fields)
    if let id = fields?.id, id.string.map(DocumentID.init(_:)) != call.note {
      throw .problem(
        400, .badMessage,
        "the body names another id than the path, under which the note is made; leave it out, or "
          + "ask for the path with that id")
    }
    let draft = NoteDraft(
      id: call.note, title: title, owner: OnceRequests.owner(call.identity),
      time: dependencies.clock.now,
      folder: folder, kind: try fields?.noteKind ?? .plain)
    try store(
      .once(
        .create(draft, epoch: Epoch(dependencies.names.next()), restMax: settings.answers.ageMax)),
      for: call, under: right, .put(call.identity))
  }

  /// Changes a note's title, its folder, or both.
  func describeNote(_ call: Call) throws(Response) {
    let fields = NoteJSON.fields(in: call.body)
    guard fields?.folder == nil else { return try moveNote(call, fields) }
    let title = try title(in: fields)
    try store(
      .rename(id: call.note, title: title, time: dependencies.clock.now), for: call, .rename)
  }

  /// Moves a note. A move can show the note to users with rights to the new folder, and hide it
  /// from users with rights to the old one. It therefore requires each right that it can give away
  /// on the note, and `manage` in the new folder.
  private func moveNote(_ call: Call, _ fields: NoteJSON.Fields?) throws(Response) {
    let folder = try FolderPath(asked: fields?.folder ?? "")
    let right = try access.require(.moving, note: call.note, of: call.identity)
    try access.require(.manage, .document(call.note, in: folder), of: call.identity)
    let title = try fields?.title == nil ? nil : title(in: fields)
    try store(
      audited(
        .folders(.move(id: call.note, to: folder, title: title, time: dependencies.clock.now)),
        .moveNote, call.name, detail: folder.text, by: call),
      for: call, under: right, .move(renames: title != nil))
  }

  /// Returns a body's title; throws if it is missing, too long or more than one line.
  private func title(in fields: NoteJSON.Fields?) throws(Response) -> String {
    guard let title = fields?.title else {
      throw .problem(
        400, .badMessage,
        "expected a JSON object with a string \"title\", or to move a note with \"folder\"")
    }
    let bytesMax = settings.limits.titleBytesMax
    guard title.utf8.count <= bytesMax else {
      throw .problem(
        413, .tooLarge, "a title may have \(bytesMax) bytes; this one has \(title.utf8.count)")
    }
    try OneLine.check(title, "a title")
    return title
  }

  /// Handles the store's reply to a request about notes.
  func answer(_ request: RequestID, _ kind: NotesRequest, _ reply: StoreReply) {
    // A step of a long read whose client has disconnected.
    if kind.isLong, !board.isReading(request) { return }
    do throws(StoreError) {
      switch kind {
      case .list(let list): proceed(request, list, try reply.value(of: \.notes))
      case .page(let work, nil): proceed(request, work, in: nil, try reply.value(of: \.notes))
      case .page(let work, let folder?):
        proceed(request, work, in: folder, try reply.value(of: \.folderNotes))
      case .answer(let answer): try finish(answer, reply, for: request)
      case .deletedPage(let work): proceed(request, work, try reply.value(of: \.deletedNotes))
      case .replay(let response, let remover):
        respond(request, try replayed(response, reply, remover: remover))
      case .text(let format, let revision, let known):
        let text = try text(reply, of: revision)
        respond(request, NoteText.response(text, as: format).unless(known: known))
      case .base(let id, let edit):
        documents.edit(id, edit.onto(try text(reply, of: edit.base), for: request))
      case .restore(let id, let revision, let author, let right):
        let text = try text(reply, of: revision)
        documents.edit(
          id,
          ServerEdit(
            request: request, grant: .request(right), content: .content(text.content),
            author: author))
      }
    } catch {
      answer(request, error)
    }
  }

  /// Returns the stored response. The response to a removal is refused if the note was restored and
  /// the caller may not manage it.
  private func replayed(
    _ response: Response, _ reply: StoreReply, remover: Identity?
  ) throws(StoreError) -> Response {
    do throws(StoreError) {
      let note = try reply.value(of: \.note)
      return remover?.may(.manage, note) ?? true ? response : .notGranted
    } catch .unknownDocument where remover != nil {
      return response
    }
  }

  /// Returns the text of a revision; the newest for `nil`. Throws for a future revision.
  private func text(
    _ reply: StoreReply, of revision: Int?
  ) throws(StoreError) -> HistoricText {
    let text = try reply.value(of: \.text)
    if let revision, revision > text.revision { throw .notNext(headRevision: text.revision) }
    return text
  }

  private func answer(_ request: RequestID, _ error: StoreError) {
    switch error {
    case .compacted(let oldest):
      respond(
        request,
        .problem(410, .historyGone, "the history before revision \(oldest) is no longer stored"))
    case .notNext(let head):
      respond(
        request,
        .problem(409, .futureRevision, "the revision does not exist; the newest is \(head)"))
    case .exists:
      respond(
        request,
        .problem(
          409, .idTaken, "another note has this id; rename or delete that one first"))
    default: refuse(request, error, ofNote: "notes request failed")
    }
  }
}
