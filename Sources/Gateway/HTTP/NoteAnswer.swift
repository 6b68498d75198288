import ParleyGatewayPorts
import SocketMessages

extension NoteAnswer {
  /// The answer to a request. The same one is kept with a change, if its request has a key, and sent.
  ///
  /// - Returns: `nil` where the store has not done the work, or replies with something else.
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
    case (.put(let maker), .once(.found(let note))) where maker.mayHearOf(note):
      .json(200, NoteJSON.note(note))
    // A note of theirs that was moved out of their reach counts as another's.
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

/// Requests about one note: the store's work, the answer, and the news for followers and lists.
extension HTTP {
  /// Has the store do work, under the right of the request's route unless another one is given.
  func store(
    _ work: StoreRequest, for call: Call, under right: StoreRight? = nil, _ answer: NoteAnswer
  ) throws(Response) {
    let right = if let right { right } else { try call.right }
    store(work, for: call.request, under: right, answer)
  }

  /// Has the store do work; the answer to a change is kept with it, if the request has a key.
  func store(
    _ work: StoreRequest, for request: RequestID, under right: StoreRight, _ answer: NoteAnswer
  ) {
    store(
      keeping(work, for: request) { answer.response(to: $0) }, under: right,
      then: .notes(request, .answer(answer)))
  }

  /// The store has done the work of a request, or not.
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

  /// Shows all subscribers of the list of notes that it has changed.
  func noteListChanged() { rooms.publishNoteList() }
}
