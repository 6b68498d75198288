public import ParleyClient

/// A text view as a ``NoteBinding`` needs it. Places count UTF-16 units, as `NSRange` does.
///
/// The view calls ``NoteBinding/textChanged(in:to:)`` for each change of its text,
/// ``NoteBinding/settle()`` once the change is over, and ``NoteBinding/selectionChanged()``.
@MainActor public protocol EditableTextView: AnyObject {
  /// The whole text. Read only where the view has changed it without telling.
  var wholeText: String { get }
  /// The text's length.
  var utf16Count: Int { get }
  /// Whether an input method is composing: while it is, nothing is changed in the view.
  var isComposing: Bool { get }
  /// The selected range; empty for a caret alone.
  var selectedUnits: Range<Int> { get }

  /// Replaces a range. What the view tells the binding within this call is ignored.
  func replace(_ range: Range<Int>, with text: String)

  /// Selects a range, without scrolling to it.
  func select(_ range: Range<Int>)

  /// Draws the others' carets. Called also while an input method is composing: drawing over the text
  /// does not disturb it.
  func show(_ carets: [RemoteCaret])

  /// An edit was not possible, and was taken back in the view.
  func show(_ problem: NoteError)
}
