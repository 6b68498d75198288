// This repository's own builds, which run on Linux, do not compile it. `make apple-check` compares
// it with declarations written from Apple's documentation.
#if canImport(UIKit) && !os(tvOS) && !os(watchOS)
  public import ParleyClient
  public import UIKit

  /// A `UITextView` that shows and edits a shared note.
  ///
  ///     let view = NoteTextView(parley.note("n-1"))
  ///
  /// The note controls its text storage: do not set `text`. Undo reverts only edits made in this
  /// view.
  public final class NoteTextView: UITextView {
    /// The binding to the note.
    public let binding: NoteBinding
    /// Called when an edit failed and was reverted.
    public var onProblem: ((NoteError) -> Void)?

    /// Returns what shows a run of a note that was opened with formats, such as its font; the default
    /// is ``NoteStyle``.
    public var style: @MainActor (FormattedRun) -> [NSAttributedString.Key: Any] = {
      NoteStyle.attributes(of: $0, size: NoteStyle.textSize)
    }

    private let coordinator: NoteTextCoordinator
    private let overlay = CaretOverlay()
    private let undoes: NoteUndoManager
    private var carets: [RemoteCaret] = []

    /// Creates a view.
    public init(_ note: Note) {
      binding = NoteBinding(note)
      coordinator = NoteTextCoordinator(binding)
      undoes = NoteUndoManager(binding)
      super.init(frame: .zero, textContainer: nil)
      font = .preferredFont(forTextStyle: .body)
      adjustsFontForContentSizeCategory = true
      overlay.isUserInteractionEnabled = false
      overlay.backgroundColor = .clear
      overlay.contentMode = .redraw
      addSubview(overlay)
      textStorage.delegate = coordinator
      delegate = coordinator
      binding.attach(self)
      update()
    }

    /// Not supported: a view needs a note.
    public required init?(coder: NSCoder) { nil }

    /// Updates whether the view is editable. Call it after a change of the note's state, unless the
    /// view belongs to a ``NoteEditor``.
    public func update() {
      if isEditable != binding.isEditable { isEditable = binding.isEditable }
    }

    /// The undo manager for edits made in this view.
    public override var undoManager: UndoManager? { undoes }

    /// Pastes the pasteboard's text, as a separate undo step.
    public override func paste(_ sender: Any?) {
      binding.endUndoRun()
      super.paste(sender)
      binding.endUndoRun()
    }

    /// Moves the overlay with the others' carets to the visible part, after each scrolling, too.
    public override func layoutSubviews() {
      super.layoutSubviews()
      // As large as the window: a view as large as the text would take memory for all of its
      // pixels. Its coordinates are the text's.
      overlay.frame = bounds
      overlay.bounds = bounds
      placeCarets()
    }

    /// The visible text.
    private var visibleUnits: Range<Int> {
      guard let first = closestPosition(to: bounds.origin),
        let last = closestPosition(to: CGPoint(x: bounds.maxX, y: bounds.maxY))
      else { return 0..<0 }
      let start = offset(from: beginningOfDocument, to: first)
      return start..<max(start, offset(from: beginningOfDocument, to: last))
    }

    private func placeCarets() {
      overlay.marks = VisibleCaret.visible(carets, in: visibleUnits).compactMap { visible in
        let head = visible.caret.head
        guard let place = textRange(head..<head) else { return nil }
        let pieces =
          visible.range.isEmpty
          ? [] : textRange(visible.range).map { selectionRects(for: $0).map(\.rect) } ?? []
        return CaretOverlay.Mark(
          caret: visible.caret, rect: visible.isHeadVisible ? caretRect(for: place.start) : nil,
          pieces: pieces)
      }
      overlay.setNeedsDisplay()
    }

    private func textRange(_ units: Range<Int>) -> UITextRange? {
      guard let start = position(from: beginningOfDocument, offset: units.lowerBound),
        let end = position(from: start, offset: units.count)
      else { return nil }
      return textRange(from: start, to: end)
    }
  }

  extension NoteTextView: FormattedTextView {
    /// The whole text.
    public var wholeText: String { textStorage.string }
    /// The text's length in UTF-16 units.
    public var utf16Count: Int { textStorage.length }
    /// Whether an input method is composing.
    public var isComposing: Bool { markedTextRange != nil }
    /// The selected range.
    public var selectedUnits: Range<Int> { Range(selectedRange) ?? 0..<0 }

    /// Replaces a range of the storage, and tells the keyboard, whose suggestions depend on the
    /// text.
    public func replace(_ range: Range<Int>, with text: String) {
      inputDelegate?.textWillChange(self)
      defer { inputDelegate?.textDidChange(self) }
      textStorage.replaceCharacters(
        in: NSRange(range), with: NSAttributedString(string: text, attributes: typingAttributes))
    }

    /// Shows the formatting of lines, by ``style``.
    public func show(_ runs: [FormattedRun]) { textStorage.show(runs, style: style) }

    /// Selects a range.
    public func select(_ range: Range<Int>) {
      if selectedUnits != range { selectedRange = NSRange(range) }
    }

    /// Draws the others' carets.
    public func show(_ carets: [RemoteCaret]) {
      self.carets = carets
      placeCarets()
    }

    /// Passes a problem to ``onProblem``.
    public func show(_ problem: NoteError) { onProblem?(problem) }
  }

  /// Reports the view's changes to the binding.
  ///
  /// No actor isolates `NSTextStorageDelegate`, because a storage may belong to any thread. A text
  /// view's storage belongs to the main one.
  @MainActor final class NoteTextCoordinator: NSObject, UITextViewDelegate, NSTextStorageDelegate {
    private let binding: NoteBinding

    init(_ binding: NoteBinding) { self.binding = binding }

    nonisolated func textStorage(
      _ textStorage: NSTextStorage, didProcessEditing editedMask: NSTextStorage.EditActions,
      range editedRange: NSRange, changeInLength delta: Int
    ) {
      guard editedMask.contains(.editedCharacters), let after = Range(editedRange) else { return }
      let text = textStorage.attributedSubstring(from: editedRange).string
      MainActor.assumeIsolated {
        binding.textChanged(in: after.lowerBound..<after.upperBound - delta, to: text)
      }
    }

    func textViewDidChange(_ textView: UITextView) { binding.settle() }

    func textViewDidChangeSelection(_ textView: UITextView) { binding.selectionChanged() }

    func textViewDidEndEditing(_ textView: UITextView) { binding.settle() }

    func textViewWritingToolsWillBegin(_ textView: UITextView) { binding.beginRewriting() }

    func textViewWritingToolsDidEnd(_ textView: UITextView) { binding.endRewriting() }
  }

  /// A view that draws the others' carets over the visible text, in the text's coordinates.
  final class CaretOverlay: UIView {
    struct Mark {
      let caret: RemoteCaret
      /// The caret's rectangle; `nil` if only its selection is visible.
      let rect: CGRect?
      let pieces: [CGRect]
    }

    var marks: [Mark] = []

    override func draw(_ rect: CGRect) {
      for mark in marks {
        let color = UIColor(mark.caret.color)
        color.withAlphaComponent(0.2).setFill()
        for piece in mark.pieces { UIRectFillUsingBlendMode(piece, .normal) }
        guard let head = mark.rect else { continue }
        color.setFill()
        UIRectFill(CGRect(x: head.minX - 1, y: head.minY, width: 2, height: head.height))
        if mark.caret.isLabelled { drawName(of: mark.caret, at: head, color) }
      }
    }

    private func drawName(of caret: RemoteCaret, at rect: CGRect, _ color: UIColor) {
      let name = NSAttributedString(
        string: " \(caret.name) ",
        attributes: [
          .font: UIFont.preferredFont(forTextStyle: .caption2),
          .foregroundColor: caret.color.takesDarkText ? UIColor.black : UIColor.white,
          .backgroundColor: color,
        ])
      let size = name.size()
      let place = CaretLabel(
        caret: (rect.minX, rect.minY, rect.height), size: (size.width, size.height),
        bounds: (bounds.minX, bounds.minY, bounds.width, bounds.height))
      name.draw(at: CGPoint(x: place.x, y: place.y))
    }
  }

  extension UIColor {
    convenience init(_ color: CaretColor) {
      self.init(red: color.red, green: color.green, blue: color.blue, alpha: 1)
    }
  }
#endif
