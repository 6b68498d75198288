import ParleyGatewayPorts

/// The list of all notes that a caller may read, the last changed first, as it is gathered.
///
/// The store reads some at a time, in the order in which they were made, so that no other work waits for a
/// table of any length. The notes that changed last are kept, of any number. A reference: it belongs to one
/// request.
final class WholeNoteList {
  /// The number of notes in the list, at most.
  static var countMax: Int { 10_000 }
  /// The number of notes that the store reads at a time.
  static var stepCount: Int { 250 }

  let identity: Identity
  /// The parts that the reader holds, if the list is sent in parts, and the reader.
  let parts: (held: HeldParts, reader: ListReader)?
  /// The notes read so far that changed last; beyond twice ``countMax`` the others are dropped.
  private var kept: [NoteSummary] = []
  /// The same with their hashes, if the list is sent in parts: hashed as they are read, some at a time.
  private var keptItems: [NoteParts.Item] = []
  /// Whether there were more than the list holds.
  private(set) var isCut = false

  /// Begins a list.
  init(identity: Identity, parts: (held: HeldParts, reader: ListReader)? = nil) {
    self.identity = identity
    self.parts = parts
  }

  /// Takes some notes.
  ///
  /// - Returns: The place after which to read on; `nil` after the last ones.
  func take(
    _ notes: [NoteSummary], if isVisible: (NoteSummary) -> Bool
  ) -> NotePlace? {
    if parts == nil {
      kept += notes.filter(isVisible)
      if kept.count >= 2 * Self.countMax { keepNewest() }
    } else {
      for note in notes where isVisible(note) {
        keptItems.append(NoteParts.Item(note, verbs: identity.verbs(on: note)))
      }
      if keptItems.count >= 2 * Self.countMax { keepNewestItems() }
    }
    return notes.count < Self.stepCount ? nil : notes.last.map(NotePlace.init)
  }

  /// The whole list, once all notes were taken.
  ///
  /// - Complexity: O(*n* log *n*) in the notes of the list.
  func finished() -> [NoteSummary] {
    keepNewest()
    return kept
  }

  /// The whole list in parts, in no order, once all notes were taken.
  ///
  /// - Complexity: O(*n*) notes of the list; O(*n* log *n*) if notes are left out.
  func finishedParts(held: HeldParts) -> NoteParts {
    if keptItems.count > Self.countMax { keepNewestItems() }
    return NoteParts(keptItems, held: held)
  }

  private func keepNewest() {
    kept.sort(by: Self.isNewer)
    isCut = isCut || kept.count > Self.countMax
    kept.removeLast(max(0, kept.count - Self.countMax))
  }

  private func keepNewestItems() {
    keptItems.sort { Self.isNewer($0.note, $1.note) }
    isCut = isCut || keptItems.count > Self.countMax
    keptItems.removeLast(max(0, keptItems.count - Self.countMax))
  }

  private static func isNewer(_ one: NoteSummary, _ other: NoteSummary) -> Bool {
    one.updatedAt == other.updatedAt
      ? one.id < other.id : one.updatedAt > other.updatedAt
  }
}
