import ParleyGatewayPorts
import SocketMessages

/// Folders as a whole: listing them, and moving one with all its notes.
///
/// A folder exists while it contains a note. Rights to single notes are checked by the requests
/// about notes; there the store decides, by a condition of the request.
///
///     GET  /api/folders?limit=&after=                 lists folders with readable notes
///     POST /api/folders/move  {"from": …, "to": …}    moves up to 500 notes per request
final class Folders: Part {
  let board: Switchboard
  let documents: Documents
  let rooms: Rooms

  /// Default folders of a page, and the maximum.
  private static let pageDefault = 1_000
  private static let pageMax = 5_000
  /// Maximum notes moved by one request.
  private static let moveMax = 500

  init(_ board: Switchboard, _ documents: Documents, _ rooms: Rooms) {
    self.board = board
    self.documents = documents
    self.rooms = rooms
  }

  /// Responds with a page of folders.
  func list(_ call: Call) throws(Response) {
    let request = call.request
    let limit = try call.query.limit(Self.pageDefault, max: Self.pageMax)
    let last = try call.query.text("after").map { text throws(Response) in
      try FolderPath(asked: text)
    }
    let page = FolderPage(identity: call.identity, limit: limit, for: call.reader)
    board.beginLongRead(
      request, by: call.limitedClient,
      task(of: page, request, after: last.map { FolderListPosition($0) }))
  }

  private func task(
    of page: FolderPage, _ request: RequestID, after place: FolderListPosition?
  ) -> StoreTask {
    StoreTask(
      .folders(page.step(after: place)), under: .eachItem, then: .folders(request, .list(page)))
  }

  /// Handles the store's reply to a step of a page.
  private func proceed(
    _ request: RequestID, _ page: FolderPage, _ folders: [FolderCount], next: FolderListPosition?
  ) {
    var page = page
    if page.take(folders, next: next) {
      board.store(task(of: page, request, after: next))
      return
    }
    let last = next?.folder
    let body = FolderJSON.list(page.found, for: page.identity, next: last)
    let next = last.map { "folders?limit=\(page.limit)&after=\(PercentEncoding.encoded($0.text))" }
    respond(request, page.reader.answer(body, packing: .letters).followed(by: next))
  }

  /// Moves notes of a folder and its subfolders. The caller needs rights to all of them.
  func moveAll(_ call: Call) throws(Response) {
    guard let fields = FolderJSON.fields(in: call.body), let from = fields.from, let to = fields.to
    else {
      throw .problem(
        400, .badMessage, "expected a JSON object with the strings \"from\" and \"to\"")
    }
    let (old, new) = try (FolderPath(asked: from), FolderPath(asked: to))
    guard !old.isNone, !new.isWithin(old) else {
      throw .problem(
        400, .badMessage,
        "a folder cannot be moved into itself, and notes in no folder only one by one")
    }
    guard let right = StoreRight(movingAllFrom: old, to: new, of: call.identity) else {
      throw .notGranted
    }
    store(
      audited(
        .folders(.moveAll(from: old, to: new, limit: Self.moveMax)), .moveFolder, old.text,
        detail: new.text, by: call), under: right,
      then: .folders(call.request, .moveAll))
  }

  /// Returns the right to repeat a move; `nil` if the caller no longer has it.
  func rightToMoveAll(_ body: [UInt8], by identity: Identity) -> StoreRight? {
    let fields = FolderJSON.fields(in: body)
    guard let old = fields?.from.flatMap({ try? FolderPath($0) }),
      let new = fields?.to.flatMap({ try? FolderPath($0) })
    else { return nil }
    return StoreRight(movingAllFrom: old, to: new, of: identity)
  }

  /// Handles the store's reply to a request.
  func finish(_ request: RequestID, _ work: FolderWork, _ outcome: StoreOutcome<FolderReply>) {
    switch (outcome, work) {
    case (_, .list) where !board.isReading(request): break
    case (.success(.folders(let folders, let next)), .list(let page)):
      proceed(request, page, folders, next: next)
    case (.success(.moved(let notes, let hasMore, let rest)), .moveAll):
      respond(request, .json(200, FolderJSON.moved(notes.count, hasMore: hasMore, next: rest)))
      documents.moved(notes)
      if !notes.isEmpty { rooms.publishNoteList() }
    case (.success(.unfit(let error)), _): respond(request, .unfit(error))
    case (.success, _):
      refuse(request, .unavailable("another reply"), "folder request failed")
    case (.failure(let error), _): refuse(request, error, "folder request failed")
    }
  }
}
