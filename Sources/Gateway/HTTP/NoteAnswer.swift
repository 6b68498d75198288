import ParleyGatewayPorts
import SocketMessages

extension NoteAnswer {
  /// Returns the response to a request. With a key, a change is committed with the same response.
  ///
  /// - Returns: `nil` if the store failed or sent another kind of reply.
  func response(to reply: StoreReply) -> Response? {
    switch (self, reply) {
    case (.one(let known), .note(let note)): NoteText.response(note).unless(known: known)
    case (.history, .history(let page)): .json(200, NoteJSON.history(page))
    case (.sessions, .editingSessions(let page)): .json(200, NoteJSON.sessions(page))
    case (.difference, .difference(.difference(let difference))):
      .json(200, NoteJSON.difference(difference))
    case (.difference, .difference(.tooLong)):
      .problem(
        413, .tooLarge,
        "the changed text has over \(TextDifference.bytesMax) bytes; read the text at both revisions"
      )
    case (.versions, .versions(let versions)): .json(200, NoteJSON.versions(versions))
    case (.create, .note(let note)), (.put, .once(.created(let note))): .created(note)
    case (.rename, .note(let note)), (.bringBack, .note(let note)),
      (.move, .folders(.note(let note))):
      .json(200, NoteJSON.note(note))
    case (.put(let maker), .once(.found(let note))) where maker.mayLearnExistence(note):
      .json(200, NoteJSON.note(note))
    // The caller's own note counts as another's after a move to a folder that they cannot read.
    case (.put, .once(.taken)), (.put, .once(.found)):
      .problem(
        409, .idTaken,
        "another note has this id: it was made by another user, or with another "
          + "title; take a new id")
    case (.put, .once(.deleted)):
      .problem(410, .unknownDocument, "the note with this id was deleted; take a new id")
    case (.delete, .done), (.removeDeleted, .done), (.unnameVersion, .done): Response(status: 204)
    case (.nameVersion(let version), .done): .json(201, NoteJSON.version(version))
    default: nil
    }
  }
}

/// Requests about one note: the store's work, the response, and updates for followers and lists.
extension NotesAPI {
  /// Sends work to the store, under the right of the request's route unless another is given.
  func store(
    _ work: StoreRequest, for call: Call, under right: StoreRight? = nil, _ answer: NoteAnswer
  ) throws(Response) {
    let right = if let right { right } else { try call.right }
    store(work, for: call.request, under: right, answer)
  }

  /// Sends work to the store. A change stores its response too, if the request has a key.
  func store(
    _ work: StoreRequest, for request: RequestID, under right: StoreRight, _ answer: NoteAnswer
  ) {
    store(
      once.keeping(work, for: request) { answer.response(to: $0) }, under: right,
      then: .notes(request, .answer(answer)))
  }

  /// Responds with the store's reply, and publishes the change to followers and lists.
  func finish(
    _ answer: NoteAnswer, _ reply: StoreReply, for request: RequestID
  ) throws(StoreError) {
    respond(request, try reply.value(of: answer.response))
    switch (answer, reply) {
    case (.create, _), (.put, .once(.created)), (.bringBack, _): break
    case (.rename, .note(let note)): documents.renamed(note.id, to: note.title)
    case (.move(let renames), .folders(.note(let note))):
      if renames { documents.renamed(note.id, to: note.title) }
      documents.moved([note])
    case (.delete(let id), _): documents.deleted(id)
    default: return
    }
    noteListChanged()
  }

  /// Notifies all subscribers of the note list that it has changed.
  func noteListChanged() { rooms.publishNoteList() }
}
