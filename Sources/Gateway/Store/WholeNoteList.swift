import GatewayPorts

/// The list of all notes that somebody may read, the last changed first, as it is gathered.
///
/// The store reads some at a time, in the order in which they were made, so that nobody else waits for a
/// table of any length. The notes that changed last are kept, of any number. A reference: one request has it.
final class WholeNoteList {
  /// The number of notes in the list, at most.
  static var countMax: Int { 10_000 }
  /// The number of notes that the store reads at a time.
  static var stepCount: Int { 250 }

  let identity: Identity
  /// The notes that changed last of those that were read; beyond twice ``countMax`` the others go.
  private var kept: [NoteSummary] = []
  /// Whether there were more than the list holds.
  private(set) var isCut = false

  /// Begins a list.
  init(identity: Identity) { self.identity = identity }

  /// Takes some notes.
  ///
  /// - Returns: The place after which to read on; `nil` after the last ones.
  func take(
    _ notes: [NoteSummary], if isVisible: (NoteSummary) -> Bool
  ) -> NotePlace? {
    kept += notes.filter(isVisible)
    if kept.count >= 2 * Self.countMax { keepNewest() }
    return notes.count < Self.stepCount ? nil : notes.last.map(NotePlace.init)
  }

  /// The whole list, once all notes were taken.
  ///
  /// - Complexity: O(*n* log *n*) in the notes of the list.
  func finished() -> [NoteSummary] {
    keepNewest()
    return kept
  }

  private func keepNewest() {
    kept.sort {
      $0.updatedAt == $1.updatedAt
        ? $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) : $0.updatedAt > $1.updatedAt
    }
    isCut = isCut || kept.count > Self.countMax
    kept.removeLast(max(0, kept.count - Self.countMax))
  }
}
