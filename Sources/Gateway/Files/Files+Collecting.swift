import ParleyGatewayPorts

/// Removing files that no kept revision of their note names.
///
/// A file whose reference is not typed yet is young, and is left alone; a deleted note rests with its
/// files. One note is looked at at a time, so that no other work waits for more than one log to be read.
extension Files {
  /// The state of the work.
  struct Collecting {
    var times: DueTimes
    /// Whether a round is under way.
    var isBusy = false
    /// Notes of this round that are not searched yet.
    var notes: [DocumentID] = []
    /// The note after which the next ones are asked for; `nil` for a round from the beginning.
    var place: DocumentID?
    /// Whether there may be more notes behind those.
    var hasMore = false
    /// Files of this round are old enough if they were added before this time.
    var before: Timestamp = 0

    /// - Parameter age: milliseconds that a file is left alone; a short one is looked for more often.
    init(after age: Int64) { times = DueTimes(pause: max(1_000, min(600_000, age))) }
  }

  /// Notes that are asked for at a time.
  private static let notesMax = 100

  /// Time has passed.
  func ticked() {
    let (now, uptime) = (dependencies.clock.now, dependencies.clock.uptime)
    guard collection.times.isDue(now: now, uptime: uptime), !collection.isBusy, !board.isDraining
    else { return }
    collection.isBusy = true
    collection.before = now - settings.files.unusedMilliseconds
    collection.place = nil
    findUnsettled()
  }

  private func findUnsettled() {
    store(
      .files(
        .unsettled(before: collection.before, after: collection.place, limit: Self.notesMax)),
      under: .housekeeping, then: .files(.unsettled))
  }

  func foundUnsettled(_ outcome: StoreOutcome<FileReply>) {
    guard case .success(.notes(let notes)) = outcome else {
      collection.isBusy = false
      return
    }
    collection.notes = notes.reversed()
    collection.place = notes.last
    collection.hasMore = notes.count == Self.notesMax
    searchNext()
  }

  private func searchNext() {
    guard let note = collection.notes.popLast() else {
      if collection.hasMore { findUnsettled() } else { collection.isBusy = false }
      return
    }
    let time = collection.before
    store(
      .files(.search(id: note, before: time)), under: .housekeeping,
      then: .files(.search(note, before: time)))
  }

  func haveSearched(
    _ note: DocumentID, before time: Timestamp, _ outcome: StoreOutcome<FileReply>
  ) {
    guard case .success(.uses(let uses)) = outcome, !uses.newest.isEmpty else {
      return searchNext()
    }
    store(
      .files(.settle(id: note, uses, before: time)), under: .housekeeping,
      then: .files(.settle(note)))
  }

  func haveSettled(_ note: DocumentID, _ outcome: StoreOutcome<FileReply>) {
    if case .success(.settled(let removed)) = outcome, removed > 0 {
      dependencies.log.write(
        .info, "unused files removed", [("document", note.text), ("count", "\(removed)")])
    }
    searchNext()
  }
}
