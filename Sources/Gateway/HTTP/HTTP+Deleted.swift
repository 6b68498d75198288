import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Deleted notes, which may be restored for a while.
///
///     GET    /api/deleted?limit=&after=    lists them, the newest deletion first
///     POST   /api/deleted/{id}/restore     brings one back as it was
///     DELETE /api/deleted/{id}             removes one for good
extension HTTP {
  /// Notes that are removed in one go.
  private static let removedMax = 500

  func listDeleted(_ call: Call) throws(Response) {
    let (limit, place) = try page(call)
    let work = NotesRequest.DeletedPage(identity: call.identity, limit: limit)
    board.beginLongRead(call.request, by: call.stranger) { [self] in
      read(call.request, work, after: place)
    }
  }

  private func read(
    _ request: RequestID, _ work: NotesRequest.DeletedPage, after place: NotePlace?
  ) {
    store(
      .deleted(.list(after: place, limit: work.asked)), under: .eachItem,
      then: .notes(request, .deletedPage(work)))
  }

  /// The store has read some deleted notes for a page.
  func proceed(_ request: RequestID, _ work: NotesRequest.DeletedPage, _ notes: [DeletedNote]) {
    var work = work
    let identity = work.identity
    let step = work.take(notes, at: NotePlace.init) { identity.may(.manage, $0.note) }
    switch step {
    case .read(let place): read(request, work, after: place)
    case .end(let next):
      respond(
        request,
        .json(
          200, NoteJSON.deleted(work.found, rest: settings.deletedMilliseconds, next: next?.cursor))
      )
    }
  }

  func bringBack(_ call: Call) throws(Response) {
    try store(.deleted(.bringBack(id: call.note)), for: call, .bringBack)
  }

  func removeDeleted(_ call: Call) throws(Response) {
    try store(.deleted(.remove(id: call.note)), for: call, .removeDeleted)
  }

  /// The deletion of a note, if deleted notes are kept here.
  func deletion(_ author: String) -> Deletion? {
    settings.deletedMilliseconds > 0
      ? Deletion(time: dependencies.clock.now, author: author) : nil
  }

  /// Time has passed: notes that were deleted long ago are removed for good.
  func ticked() {
    let (now, uptime) = (dependencies.clock.now, dependencies.clock.uptime)
    guard removals.isDue(now: now, uptime: uptime) else { return }
    store(
      .deleted(
        .removeOlder(than: now - settings.deletedMilliseconds, limit: Self.removedMax)),
      under: .housekeeping, then: .removal)
  }

  /// Notes that were deleted long ago have been removed, or not.
  func removed(_ outcome: StoreOutcome<Void>) {
    // They are looked for again.
    guard case .failure(let error) = outcome else { return }
    dependencies.log.write(.warning, "deleted notes not removed", [("error", error.logName)])
  }
}
