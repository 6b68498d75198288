import ParleyGatewayPorts
import SocketMessages

/// The list of notes, whole or in pages.
///
/// Without parameters, the response contains all notes, most recently changed first. Clients that
/// read all notes request pages: these are in order of creation, which changes do not affect. A
/// note that exists from the first page to the last is listed exactly once.
///
/// With `parts`, the whole list is divided into parts. Only those that the client lacks are sent.
extension NotesAPI {
  /// Default notes of one page.
  private static let pageDefault = 100

  func listNotes(_ call: Call) throws(Response) {
    let (request, identity, fields) = (call.request, call.identity, call.query)
    if let held = try fields.text("parts") { return try listParts(call, held: HeldParts(held)) }
    // With a folder, the notes directly in it, without those in its subfolders.
    var folder: FolderPath?
    if let written = try fields.text("folder") {
      folder = try FolderPath(asked: written)
    } else if let tag = try fields.text("tag") {
      return try search.listNotes(call, tagged: tag, limit: page(call).limit)
    } else if case .absent = fields.number("limit"), try fields.text("after") == nil {
      return board.beginLongRead(
        request, by: call.limitedClient, task(of: WholeNoteList(identity: identity), request))
    }
    let (limit, place) = try page(call)
    let work = NotesRequest.Page(identity: identity, limit: limit)
    board.beginLongRead(
      request, by: call.limitedClient, task(of: work, in: folder, request, after: place))
  }

  /// Responds with the parts of the whole list that the client does not hold.
  private func listParts(_ call: Call, held: HeldParts) throws(Response) {
    for name: StaticString in ["folder", "tag", "limit", "after"] where call.query[name] != nil {
      throw .problem(400, .badMessage, "parts are those of the whole list, without \(name)")
    }
    let list = WholeNoteList(identity: call.identity, parts: (held, call.reader))
    board.beginLongRead(call.request, by: call.limitedClient, task(of: list, call.request))
  }

  /// Reads the limit and the cursor of a page from a request.
  func page(_ call: Call) throws(Response) -> (limit: Int, after: NoteSortKey?) {
    let limit = try call.query.limit(Self.pageDefault, max: NotesRequest.Page.limitMax)
    guard let cursor = try call.query.text("after") else { return (limit, nil) }
    guard let place = NoteSortKey(cursor: cursor) else {
      throw .problem(400, .badMessage, "expected after as in \"next\" of an earlier page")
    }
    return (limit, place)
  }

  private func task(
    of list: WholeNoteList, _ request: RequestID, after place: NoteSortKey? = nil
  ) -> StoreTask {
    StoreTask(
      .notes(after: place, limit: WholeNoteList.stepCount), under: .eachItem,
      then: .notes(request, .list(list)))
  }

  /// Takes notes that the store has read for the whole list.
  func proceed(_ request: RequestID, _ list: WholeNoteList, _ notes: [NoteSummary]) {
    // Notes that the caller may not read are left out.
    let identity = list.identity
    if let place = list.take(notes, if: { identity.may(.read, $0) }) {
      board.store(task(of: list, request, after: place))
      return
    }
    if let (held, reader) = list.parts {
      let parts = list.finishedParts(held: held)
      return respond(request, answer(parts, isCut: list.isCut, to: identity, reader))
    }
    respond(
      request,
      .json(
        200,
        NoteJSON.list(
          list.finished(), for: identity, mayCreate: mayCreate(identity),
          deletedAgeMax: settings.deletedMilliseconds, isCut: list.isCut)))
  }

  private func answer(
    _ parts: NoteParts, isCut: Bool, to identity: Identity, _ reader: ListReader
  ) -> Response {
    let list = NoteJSON.parts(
      parts, mayCreate: mayCreate(identity), deletedAgeMax: settings.deletedMilliseconds,
      isCut: isCut)
    return reader.answer(list.body, state: list.state, packing: list.packing)
  }

  private func task(
    of work: NotesRequest.Page, in folder: FolderPath?, _ request: RequestID,
    after place: NoteSortKey?
  ) -> StoreTask {
    let notes: StoreRequest =
      folder.map { .folders(.notes(in: $0, after: place, limit: work.asked)) }
      ?? .notes(after: place, limit: work.asked)
    return StoreTask(notes, under: .eachItem, then: .notes(request, .page(work, in: folder)))
  }

  /// Takes notes that the store has read for a page.
  func proceed(
    _ request: RequestID, _ work: NotesRequest.Page, in folder: FolderPath?,
    _ notes: [NoteSummary]
  ) {
    var work = work
    let identity = work.identity
    let step = work.take(notes, at: NoteSortKey.init) { identity.may(.read, $0) }
    switch step {
    case .read(let place): board.store(task(of: work, in: folder, request, after: place))
    case .end(let next): answer(request, work, in: folder, next: next?.cursor)
    }
  }

  private func answer(
    _ request: RequestID, _ work: NotesRequest.Page, in folder: FolderPath?, next cursor: String?
  ) {
    let part = folder.map { "folder=\(PercentEncoding.encoded($0.text))&" } ?? ""
    let response = Response.json(
      200,
      NoteJSON.list(
        work.found, for: work.identity, mayCreate: mayCreate(work.identity, in: folder ?? .none),
        deletedAgeMax: settings.deletedMilliseconds, next: cursor))
    respond(
      request,
      response.followed(by: cursor.map { "notes?\(part)limit=\(work.limit)&after=\($0)" }))
  }

  /// Whether a caller may create notes. A new note's random id is covered only by a pattern.
  private func mayCreate(_ identity: Identity, in folder: FolderPath = .none) -> Bool {
    identity.may(.manage, .document(DocumentID(dependencies.names.next()), in: folder))
  }
}
