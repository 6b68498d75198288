package import OTCore

/// An editor that changes its own text before it notifies the note, and receives changes as
/// operations.
@MainActor package protocol NoteEditing: AnyObject {
  /// Applies an operation to the editor's text, made by others or by another editor here. Called
  /// synchronously, while changes are shown; it must not edit the note.
  func note(applied operation: RichOperation)

  /// Replaces the editor's text.
  func note(becomes content: RichDocument)

  /// Notifies the editor that people, or their carets, have changed.
  func notePeopleChanged()
}

/// The editors of one note, referenced weakly.
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
