// This repository's own builds, which run on Linux, do not compile it. `make apple-check` compares
// it with declarations written by hand.
#if canImport(UIKit)
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

    private let coordinator: NoteTextCoordinator
    private let overlay = CaretOverlay()
    private let undoes: NoteUndoManager

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

    /// Lays out the overlay for the others' carets.
    public override func layoutSubviews() {
      super.layoutSubviews()
      let size = CGSize(
        width: max(contentSize.width, bounds.width), height: max(contentSize.height, bounds.height))
      overlay.frame = CGRect(origin: .zero, size: size)
      overlay.visible = bounds
      overlay.setNeedsDisplay()
    }

    private func textRange(_ units: Range<Int>) -> UITextRange? {
      guard let start = position(from: beginningOfDocument, offset: units.lowerBound),
        let end = position(from: start, offset: units.count)
      else { return nil }
      return textRange(from: start, to: end)
    }
  }

  extension NoteTextView: EditableTextView {
    /// The whole text.
    public var wholeText: String { textStorage.string }
    /// The text's length in UTF-16 units.
    public var utf16Count: Int { textStorage.length }
    /// Whether an input method is composing.
    public var isComposing: Bool { markedTextRange != nil }
    /// The selected range.
    public var selectedUnits: Range<Int> { Range(selectedRange) ?? 0..<0 }

    /// Replaces a range of the storage.
    public func replace(_ range: Range<Int>, with text: String) {
      textStorage.replaceCharacters(
        in: NSRange(range), with: NSAttributedString(string: text, attributes: typingAttributes))
    }

    /// Selects a range.
    public func select(_ range: Range<Int>) {
      if selectedUnits != range { selectedRange = NSRange(range) }
    }

    /// Draws the others' carets.
    public func show(_ carets: [RemoteCaret]) {
      overlay.marks = carets.compactMap { caret in
        guard let head = textRange(caret.head..<caret.head) else { return nil }
        let pieces =
          caret.range.isEmpty
          ? [] : textRange(caret.range).map { selectionRects(for: $0).map(\.rect) } ?? []
        return CaretOverlay.Mark(
          caret: caret, rect: caretRect(for: head.start), pieces: pieces)
      }
      overlay.setNeedsDisplay()
    }

    /// Passes a problem to ``onProblem``.
    public func show(_ problem: NoteError) { onProblem?(problem) }
  }

  /// Reports the view's changes to the binding.
  final class NoteTextCoordinator: NSObject, UITextViewDelegate, NSTextStorageDelegate {
    private let binding: NoteBinding

    init(_ binding: NoteBinding) { self.binding = binding }

    func textStorage(
      _ textStorage: NSTextStorage, didProcessEditing editedMask: NSTextStorage.EditActions,
      range editedRange: NSRange, changeInLength delta: Int
    ) {
      guard editedMask.contains(.editedCharacters), let after = Range(editedRange) else { return }
      let text = textStorage.attributedSubstring(from: editedRange).string
      binding.textChanged(in: after.lowerBound..<after.upperBound - delta, to: text)
    }

    func textViewDidChange(_ textView: UITextView) { binding.settle() }

    func textViewDidChangeSelection(_ textView: UITextView) { binding.selectionChanged() }

    func textViewDidEndEditing(_ textView: UITextView) { binding.settle() }
  }

  /// A view that draws the others' carets over the text.
  final class CaretOverlay: UIView {
    struct Mark {
      let caret: RemoteCaret
      let rect: CGRect
      let pieces: [CGRect]
    }

    var marks: [Mark] = []
    var visible = CGRect.zero

    override func draw(_ rect: CGRect) {
      for mark in marks {
        let color = UIColor(mark.caret.color)
        color.withAlphaComponent(0.2).setFill()
        for piece in mark.pieces { UIRectFillUsingBlendMode(piece, .normal) }
        color.setFill()
        UIRectFill(
          CGRect(x: mark.rect.minX - 1, y: mark.rect.minY, width: 2, height: mark.rect.height))
        guard mark.caret.isLabelled else { continue }
        let name = NSAttributedString(
          string: " \(mark.caret.name) ",
          attributes: [
            .font: UIFont.preferredFont(forTextStyle: .caption2),
            .foregroundColor: mark.caret.color.takesDarkText ? UIColor.black : UIColor.white,
            .backgroundColor: color,
          ])
        let size = name.size()
        let place = CaretLabel(
          caret: (mark.rect.minX, mark.rect.minY, mark.rect.height),
          size: (size.width, size.height),
          bounds: (visible.minX, visible.minY, visible.width, visible.height))
        name.draw(at: CGPoint(x: place.x, y: place.y))
      }
    }
  }

  extension UIColor {
    convenience init(_ color: CaretColor) {
      self.init(red: color.red, green: color.green, blue: color.blue, alpha: 1)
    }
  }
#endif
