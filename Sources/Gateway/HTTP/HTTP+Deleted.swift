import GatewayPorts
import JSON
import SocketMessages

/// Deleted notes, which may come back for a while.
///
///     GET    /api/deleted?limit=&after=    lists them, the newest deletion first
///     POST   /api/deleted/{id}/restore     brings one back as it was
///     DELETE /api/deleted/{id}             removes one for good
extension HTTP {
  private static let pageDefault = 100
  private static let pageMax = 1_000
  /// Notes that are looked at for one page, about.
  private static let scanMax = 10_000
  /// Notes that are removed in one go.
  private static let removedMax = 500

  func listDeleted(_ call: Call) {
    let (request, fields) = (call.request, call.query)
    let asked = fields.number("limit").or(Self.pageDefault)
    guard let limit = asked, (1...Self.pageMax).contains(limit) else {
      respond(request, .problem(400, .badMessage, "expected limit from 1 to \(Self.pageMax)"))
      return
    }
    var place: NotePlace?
    if let cursor = fields["after"] {
      place = NotePlace(cursor: cursor)
      guard place != nil else {
        respond(
          request,
          .problem(400, .badMessage, "expected after as an earlier page had it in \"next\""))
        return
      }
    }
    read(
      request, NotesRequest.DeletedPage(identity: call.identity, limit: limit),
      after: place.map { DeletedPlace(deletedAt: $0.createdAt, id: $0.id) })
  }

  private func read(
    _ request: RequestID, _ work: NotesRequest.DeletedPage, after place: DeletedPlace?
  ) {
    var work = work
    // One more tells whether there is another page.
    work.asked = work.scanned == 0 ? work.limit + 1 : Self.pageMax
    store(
      .deleted(.list(after: place, limit: work.asked)), for: .notes(request, .deletedPage(work)))
  }

  /// The store has read some deleted notes for a page.
  func goOn(_ request: RequestID, _ work: NotesRequest.DeletedPage, _ notes: [DeletedNote]) {
    var work = work
    var last: DeletedPlace?
    for deleted in notes {
      if work.found.count == work.limit {
        answer(request, work, next: last ?? work.found.last.map(DeletedPlace.init))
        return
      }
      if work.identity.may(.manage, .document(deleted.note.id)) { work.found.append(deleted) }
      last = DeletedPlace(deleted)
    }
    work.scanned += notes.count
    guard notes.count == work.asked, let last else {
      answer(request, work, next: nil)
      return
    }
    if work.scanned < Self.scanMax {
      read(request, work, after: last)
    } else {
      answer(request, work, next: last)
    }
  }

  private func answer(
    _ request: RequestID, _ work: NotesRequest.DeletedPage, next: DeletedPlace?
  ) {
    let cursor = next.map { NotePlace(createdAt: $0.deletedAt, id: $0.id).cursor }
    respond(
      request,
      .json(
        200, NoteJSON.deleted(work.found, rest: settings.deletedMilliseconds, next: cursor)))
  }

  func bringBack(_ call: Call) {
    store(
      keeping(.deleted(.bringBack(id: call.name)), for: call.request) { reply in
        guard case .note(let note) = reply else { return nil }
        return .json(200, NoteJSON.note(note))
      }, for: .notes(call.request, .bringBack))
  }

  func removeDeleted(_ call: Call) {
    store(
      keeping(.deleted(.remove(id: call.name)), for: call.request) { _ in Response(status: 204) },
      for: .notes(call.request, .removeDeleted))
  }

  /// The deletion of a note, if deleted notes are kept here.
  func deletion(_ author: String) -> Deletion? {
    settings.deletedMilliseconds > 0
      ? Deletion(time: surroundings.clock.now, author: author) : nil
  }

  /// Time has passed: notes that were deleted long ago are removed for good.
  func ticked() {
    let (now, uptime) = (surroundings.clock.now, surroundings.clock.uptime)
    guard removals.isDue(now: now, uptime: uptime) else { return }
    store(
      .removeDeleted(before: now - settings.deletedMilliseconds, limit: Self.removedMax),
      for: .removal)
  }

  /// Notes that were deleted long ago have been removed, or not.
  func removed(_ outcome: StoreOutcome<Void>) {
    // They are looked for again.
    guard case .failure(let error) = outcome else { return }
    surroundings.log.write(.warning, "deleted notes not removed", [("error", error.logName)])
  }
}
