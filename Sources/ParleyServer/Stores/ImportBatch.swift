import ParleyGatewayPorts
import ParleyStoreRecords

/// A batch of notes that one commit stores. Each commit waits for the disk, so one commit per note
/// would make the import of a folder slow.
struct ImportBatch {
  /// Maximum notes in one commit, and maximum bytes of their files. A larger note is committed
  /// alone.
  private static let notesMax = 500
  private static let bytesMax = 8 << 20

  private let notes: NoteImport
  private var earlier: EarlierNotes?
  private var drafts: [(path: String, draft: NoteImport.Draft)] = []
  private var bytes = 0

  /// - Parameter earlier: Notes from before the import; files that equal one of them are skipped.
  ///   `nil` imports every file.
  init(into store: any DocumentStore, finding earlier: EarlierNotes?) {
    notes = NoteImport(into: store)
    self.earlier = earlier
  }

  /// Adds a note unless the store contains it already. A full batch is committed.
  mutating func add(
    _ path: String, _ report: (String, ImportOutcome) -> Void,
    _ make: () throws(ExportError) -> NoteImport.Draft
  ) {
    let draft: NoteImport.Draft
    do throws(ExportError) {
      draft = try make()
    } catch { return report(path, .refused(error)) }
    if let note = earlier?.take(draft) { return report(path, .found(note)) }
    if bytes + draft.bytes > Self.bytesMax { commit(report) }
    drafts.append((path, draft))
    bytes += draft.bytes
    if drafts.count == Self.notesMax { commit(report) }
  }

  /// Commits the notes in the batch and reports the outcome of each.
  mutating func commit(_ report: (String, ImportOutcome) -> Void) {
    guard !drafts.isEmpty else { return }
    for (added, outcome) in zip(drafts, notes.make(drafts.map(\.draft))) {
      switch outcome {
      case .success(let note): report(added.path, .made(note))
      case .failure(let error): report(added.path, .refused(error))
      }
    }
    drafts = []
    bytes = 0
  }
}

/// Notes that were in the store before an import. Each note matches at most one file.
struct EarlierNotes {
  private struct Place: Hashable {
    let folder: FolderPath
    let title: ExactName
  }

  private let store: any DocumentStore
  private var notes: [Place: [NoteSummary]] = [:]

  /// Lists the notes of a store.
  init(in store: any DocumentStore) throws {
    self.store = store
    switch store.perform([.list])[0] {
    case .notes(let all): for note in all { notes[Self.place(of: note), default: []].append(note) }
    case .failed(let error): throw error
    default: preconditionFailure("expected .notes or .failed in reply to .list")
    }
  }

  private static func place(of note: NoteSummary) -> Place {
    Place(folder: note.folder, title: ExactName(note.title))
  }

  /// Removes and returns a note with the folder, title and text of a draft; `nil` if missing.
  ///
  /// - Complexity: O(*n*) in the texts of notes with this folder and title.
  mutating func take(_ draft: NoteImport.Draft) -> NoteSummary? {
    let place = Self.place(of: draft.summary)
    guard let found = notes[place]?.firstIndex(where: { isSame($0, draft) }) else { return nil }
    return notes[place]?.remove(at: found)
  }

  private func isSame(_ note: NoteSummary, _ draft: NoteImport.Draft) -> Bool {
    guard case .document(let stored) = store.perform([.load(id: note.id, recentMax: 0)])[0] else {
      return false
    }
    return draft.hasText(stored.text)
  }
}
