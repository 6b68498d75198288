import ParleyGatewayPorts

/// The list of all notes that a caller may read, most recently changed first, while it is
/// collected.
///
/// The store reads notes in steps, in the order of creation, so that other work never waits for a
/// whole table. The last changed notes are retained. A reference type: it belongs to one request.
final class WholeNoteList {
  /// Maximum notes of the list.
  static var countMax: Int { 10_000 }
  /// Number of notes that the store reads in a step.
  static var stepCount: Int { 250 }

  let identity: Identity
  /// The parts that the reader holds, and the reader; `nil` if the list is sent whole.
  let parts: (held: HeldParts, reader: ListReader)?
  /// The visible notes so far. At twice ``countMax``, the least recently changed half is dropped.
  private var kept: [NoteSummary] = []
  /// The same notes, hashed as they are read; used if the list is sent in parts.
  private var collectedItems: [NoteParts.Item] = []
  /// Whether notes were left out because there were more than ``countMax``.
  private(set) var isCut = false

  /// Creates an empty list.
  init(identity: Identity, parts: (held: HeldParts, reader: ListReader)? = nil) {
    self.identity = identity
    self.parts = parts
  }

  /// Adds notes that the store has read.
  ///
  /// - Returns: The position after which to continue; `nil` after the last notes.
  func take(
    _ notes: [NoteSummary], if isVisible: (NoteSummary) -> Bool
  ) -> NoteSortKey? {
    if parts == nil {
      kept += notes.filter(isVisible)
      if kept.count >= 2 * Self.countMax { keepNewest() }
    } else {
      for note in notes where isVisible(note) {
        collectedItems.append(NoteParts.Item(note, verbs: identity.verbs(on: note)))
      }
      if collectedItems.count >= 2 * Self.countMax { keepNewestItems() }
    }
    return notes.count < Self.stepCount ? nil : notes.last.map(NoteSortKey.init)
  }

  /// Returns the whole list, after all notes were added.
  ///
  /// - Complexity: O(*n* log *n*) in the notes of the list.
  func finished() -> [NoteSummary] {
    keepNewest()
    return kept
  }

  /// Returns the whole list in parts, unordered, after all notes were added.
  ///
  /// - Complexity: O(*n*) notes of the list; O(*n* log *n*) if notes are left out.
  func finishedParts(held: HeldParts) -> NoteParts {
    if collectedItems.count > Self.countMax { keepNewestItems() }
    return NoteParts(collectedItems, held: held)
  }

  private func keepNewest() {
    kept.sort(by: Self.isNewer)
    isCut = isCut || kept.count > Self.countMax
    kept.removeLast(max(0, kept.count - Self.countMax))
  }

  private func keepNewestItems() {
    collectedItems.sort { Self.isNewer($0.note, $1.note) }
    isCut = isCut || collectedItems.count > Self.countMax
    collectedItems.removeLast(max(0, collectedItems.count - Self.countMax))
  }

  private static func isNewer(_ one: NoteSummary, _ other: NoteSummary) -> Bool {
    one.updatedAt == other.updatedAt
      ? one.id < other.id : one.updatedAt > other.updatedAt
  }
}
