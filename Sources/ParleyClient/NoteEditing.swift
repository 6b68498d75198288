package import OTCore

/// An editor of a note that has changed its own text before it tells the note, and takes changes as
/// operations.
@MainActor package protocol NoteEditing: AnyObject {
  /// An operation was applied to the note's text: by others, or here but not by this editor. Called
  /// at once, while changes are shown; the note may not be edited within.
  func note(applied operation: TextOperation)

  /// The note's text is this one now.
  func note(becomes document: Document)

  /// People, or their carets, have changed.
  func notePeopleChanged()
}

/// The editors of one note, held weakly.
@MainActor struct NoteEditors {
  private struct Entry { weak var editor: (any NoteEditing)? }

  private var entries: [Entry] = []

  mutating func add(_ editor: any NoteEditing) {
    entries.removeAll { $0.editor == nil || $0.editor === editor }
    entries.append(Entry(editor: editor))
  }

  mutating func remove(_ editor: any NoteEditing) {
    entries.removeAll { $0.editor == nil || $0.editor === editor }
  }

  func forEach(but one: (any NoteEditing)? = nil, _ body: (any NoteEditing) -> Void) {
    for entry in entries {
      guard let editor = entry.editor, editor !== one else { continue }
      body(editor)
    }
  }
}
