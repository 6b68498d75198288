import GatewayPorts
import JSON
import SocketMessages

/// The HTTP surface for notes: making, naming and removing them, and what the store replies.
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

  func readNote(_ call: Call) {
    store(.note(id: call.name), for: .notes(call.request, .one(known: call.known)))
  }

  func deleteNote(_ call: Call) {
    store(
      keeping(.delete(id: call.name), for: call.request) { _ in Response(status: 204) },
      for: .notes(call.request, .delete(call.name)))
  }

  func createNote(_ call: Call) {
    let request = call.request
    let id = surroundings.names.next()
    guard allows(call.identity, .manage, .document(id), request) else { return }
    let fields = NoteJSON.fields(in: call.body)
    guard let title = title(in: fields, request) else { return }
    if fields?.id != nil {
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
  func putNote(_ call: Call) {
    let request = call.request
    let fields = NoteJSON.fields(in: call.body)
    guard let title = title(in: fields, request) else { return }
    if let id = fields?.id, !(id.string?.utf8.elementsEqual(call.name.utf8) ?? false) {
      respond(
        request,
        .problem(
          400, .badMessage,
          "the body names another id than the path, under which the note is made; leave it out, or "
            + "ask for the path with that id"))
      return
    }
    let draft = NoteDraft(
      id: call.name, title: title, owner: Self.owner(call.identity), time: surroundings.clock.now)
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

  func renameNote(_ call: Call) {
    guard let title = title(in: NoteJSON.fields(in: call.body), call.request) else { return }
    store(
      keeping(
        .rename(id: call.name, title: title, time: surroundings.clock.now), for: call.request
      ) { reply in
        guard case .note(let note) = reply else { return nil }
        return .json(200, NoteJSON.note(note))
      }, for: .notes(call.request, .rename))
  }

  /// The title in a body; answers the request if it has none, or too long a one.
  private func title(in fields: NoteJSON.Fields?, _ request: RequestID) -> String? {
    guard let title = fields?.title else {
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
