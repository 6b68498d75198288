/// A kind of note, which determines what a note contains in addition to its text. Every client can
/// read and change the text.
public enum NoteKind: String, Sendable, CaseIterable {
  /// Only text, such as Markdown.
  case plain
  /// Text with formatting.
  case rich
}
