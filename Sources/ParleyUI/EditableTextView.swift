public import ParleyClient

/// A text view that a ``NoteBinding`` can control. Positions count UTF-16 units, as in `NSRange`.
///
/// The view calls ``NoteBinding/textChanged(in:to:)`` for each change of its text,
/// ``NoteBinding/settle()`` once the change is over, and ``NoteBinding/selectionChanged()``.
@MainActor public protocol EditableTextView: AnyObject {
  /// The whole text. It is read only after the view has changed it without a report.
  var wholeText: String { get }
  /// The text's length in UTF-16 units.
  var utf16Count: Int { get }
  /// Whether an input method is composing; meanwhile the view's text is not changed.
  var isComposing: Bool { get }
  /// The selected range; empty for a caret alone.
  var selectedUnits: Range<Int> { get }

  /// Replaces a range. Changes that the view reports within this call are ignored.
  func replace(_ range: Range<Int>, with text: String)

  /// Selects a range, without scrolling to it.
  func select(_ range: Range<Int>)

  /// Draws the others' carets. This is also called while an input method is composing, which
  /// drawing does not disturb.
  func show(_ carets: [RemoteCaret])

  /// Reports that an edit failed and was reverted in the view.
  func show(_ problem: NoteError)
}
