import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Deleted notes, which can be restored until their retention ends.
///
///     GET    /api/deleted?limit=&after=    lists them, the newest deletion first
///     POST   /api/deleted/{id}/restore     restores one unchanged
///     DELETE /api/deleted/{id}             removes one permanently
extension NotesAPI {
  /// Maximum notes removed by one request to the store.
  private static let removedMax = 500

  func listDeleted(_ call: Call) throws(Response) {
    let (limit, place) = try page(call)
    let work = NotesRequest.DeletedPage(identity: call.identity, limit: limit)
    board.beginLongRead(
      call.request, by: call.limitedClient, task(of: work, call.request, after: place))
  }

  private func task(
    of work: NotesRequest.DeletedPage, _ request: RequestID, after place: NoteSortKey?
  ) -> StoreTask {
    StoreTask(
      .deleted(.list(after: place, limit: work.asked)), under: .eachItem,
      then: .notes(request, .deletedPage(work)))
  }

  /// Takes deleted notes that the store has read for a page.
  func proceed(_ request: RequestID, _ work: NotesRequest.DeletedPage, _ notes: [DeletedNote]) {
    var work = work
    let identity = work.identity
    let step = work.take(notes, at: NoteSortKey.init) { identity.may(.manage, $0.note) }
    switch step {
    case .read(let place): board.store(task(of: work, request, after: place))
    case .end(let next):
      respond(
        request,
        .json(
          200, NoteJSON.deleted(work.found, rest: settings.deletedMilliseconds, next: next?.cursor))
      )
    }
  }

  func bringBack(_ call: Call) throws(Response) {
    try store(
      audited(.deleted(.bringBack(id: call.note)), .restoreNote, call.name, by: call), for: call,
      .bringBack)
  }

  func removeDeleted(_ call: Call) throws(Response) {
    try store(
      audited(.deleted(.remove(id: call.note)), .eraseNote, call.name, by: call), for: call,
      .removeDeleted)
  }

  /// Returns the deletion to store for a note; `nil` if deleted notes are not retained.
  func deletion(_ author: String) -> Deletion? {
    settings.deletedMilliseconds > 0
      ? Deletion(time: dependencies.clock.now, author: author) : nil
  }

  /// Removes deleted notes whose retention has ended, when a removal is due.
  func ticked() {
    let (now, uptime) = (dependencies.clock.now, dependencies.clock.uptime)
    guard removals.isDue(now: now, uptime: uptime) else { return }
    store(
      .deleted(
        .removeOlder(than: now - settings.deletedMilliseconds, limit: Self.removedMax)),
      under: .housekeeping, then: .removal)
  }

  /// Logs a failed removal of expired notes.
  func removed(_ outcome: StoreOutcome<Void>) {
    // The notes remain expired, so the next removal retries.
    guard case .failure(let error) = outcome else { return }
    dependencies.log.write(.warning, "deleted notes not removed", [("error", error.logName)])
  }
}
