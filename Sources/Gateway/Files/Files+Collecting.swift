import ParleyGatewayPorts

/// Removing files that no stored revision of their note refers to.
///
/// Recent files are retained: their reference may not be in the note yet. A deleted note retains
/// its files. Notes are searched one at a time, so that other store requests wait for the search of
/// one log at most.
extension Files {
  /// The state of the removal.
  struct UnusedFileRemoval {
    var times: DueTimes
    /// Whether a round is in progress.
    var isBusy = false
    /// Notes of this round that have not been searched.
    var notes: [DocumentID] = []
    /// The note after which the next ones are read; `nil` at the beginning of a round.
    var place: DocumentID?
    /// Whether there may be more notes after this batch.
    var hasMore = false
    /// Only files that were added before this time are removed.
    var before: Timestamp = 0

    /// - Parameter age: The minimum age of a removed file, in milliseconds. The interval between
    ///   rounds is the same, but from 1 s to 10 min.
    init(after age: Int64) { times = DueTimes(pause: max(1_000, min(600_000, age))) }
  }

  /// Maximum notes that one request to the store returns.
  private static let notesMax = 100

  /// Starts a round when it is due.
  func ticked() {
    let (now, uptime) = (dependencies.clock.now, dependencies.clock.uptime)
    guard collection.times.isDue(now: now, uptime: uptime), !collection.isBusy, !board.isDraining
    else { return }
    collection.isBusy = true
    collection.before = now - settings.files.unusedMilliseconds
    collection.place = nil
    listNotesToSearch()
  }

  private func listNotesToSearch() {
    store(
      .files(
        .unsettled(before: collection.before, after: collection.place, limit: Self.notesMax)),
      under: .housekeeping, then: .files(.unsettled))
  }

  func receivedNotes(_ outcome: StoreOutcome<FileReply>) {
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
      if collection.hasMore { listNotesToSearch() } else { collection.isBusy = false }
      return
    }
    let time = collection.before
    store(
      .files(.search(id: note, before: time)), under: .housekeeping,
      then: .files(.search(note, before: time)))
  }

  func receivedSearchResult(
    _ note: DocumentID, before time: Timestamp, _ outcome: StoreOutcome<FileReply>
  ) {
    guard case .success(.uses(let uses)) = outcome, !uses.newest.isEmpty else {
      return searchNext()
    }
    store(
      .files(.settle(id: note, uses, before: time)), under: .housekeeping,
      then: .files(.settle(note)))
  }

  func receivedRemoval(_ note: DocumentID, _ outcome: StoreOutcome<FileReply>) {
    if case .success(.settled(let removed)) = outcome, removed > 0 {
      dependencies.log.write(
        .info, "unused files removed", [("document", note.text), ("count", "\(removed)")])
    }
    searchNext()
  }
}
