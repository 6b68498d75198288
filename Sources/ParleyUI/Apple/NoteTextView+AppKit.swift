// This repository's own builds, which run on Linux, do not compile it. `make apple-check` compares
// it with declarations written from Apple's documentation.
#if canImport(AppKit) && !targetEnvironment(macCatalyst)
  public import AppKit
  public import ParleyClient

  /// An `NSTextView` that shows and edits a shared note.
  ///
  /// The note controls its text storage: do not set `string`. Undo reverts only edits made in this
  /// view.
  public final class NoteTextView: NSTextView {
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
    private let undoes: NoteUndoManager
    private let contents: NSTextStorage
    private var carets: [RemoteCaret] = []

    /// Creates a view.
    public init(_ note: Note) {
      binding = NoteBinding(note)
      coordinator = NoteTextCoordinator(binding)
      undoes = NoteUndoManager(binding)
      // Carets are drawn with the layout manager's rectangles.
      contents = NSTextStorage()
      let layout = NSLayoutManager()
      let container = NSTextContainer(
        size: NSSize(width: 0, height: CGFloat.greatestFiniteMagnitude))
      container.widthTracksTextView = true
      layout.addTextContainer(container)
      contents.addLayoutManager(layout)
      super.init(frame: .zero, textContainer: container)
      isRichText = false
      allowsUndo = false
      isVerticallyResizable = true
      autoresizingMask = [.width]
      font = .systemFont(ofSize: NSFont.systemFontSize)
      contents.delegate = coordinator
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

    /// Draws the others' carets over the text.
    public override func draw(_ dirtyRect: NSRect) {
      super.draw(dirtyRect)
      guard let layoutManager, let textContainer else { return }
      let origin = textContainerOrigin
      let window = visibleRect.offsetBy(dx: -origin.x, dy: -origin.y)
      let units = layoutManager.characterRange(
        forGlyphRange: layoutManager.glyphRange(forBoundingRect: window, in: textContainer),
        actualGlyphRange: nil)
      for visible in VisibleCaret.visible(carets, in: Range(units) ?? 0..<0) {
        let caret = visible.caret
        let color = NSColor(caret.color)
        if !visible.range.isEmpty {
          color.withAlphaComponent(0.2).setFill()
          let glyphs = layoutManager.glyphRange(
            forCharacterRange: NSRange(visible.range), actualCharacterRange: nil)
          layoutManager.enumerateEnclosingRects(
            forGlyphRange: glyphs,
            withinSelectedGlyphRange: NSRange(location: NSNotFound, length: 0), in: textContainer
          ) { rect, _ in rect.offsetBy(dx: origin.x, dy: origin.y).fill() }
        }
        guard visible.isHeadVisible else { continue }
        let rect = place(of: caret.head, layoutManager, textContainer)
        color.setFill()
        NSRect(x: rect.minX - 1, y: rect.minY, width: 2, height: rect.height).fill()
        if caret.isLabelled { drawName(of: caret, at: rect, color) }
      }
    }

    private func drawName(of caret: RemoteCaret, at rect: NSRect, _ color: NSColor) {
      let name = NSAttributedString(
        string: " \(caret.name) ",
        attributes: [
          .font: NSFont.systemFont(ofSize: NSFont.smallSystemFontSize),
          .foregroundColor: caret.color.takesDarkText ? NSColor.black : NSColor.white,
          .backgroundColor: color,
        ])
      let size = name.size()
      let place = CaretLabel(
        caret: (rect.minX, rect.minY, rect.height), size: (size.width, size.height),
        bounds: (visibleRect.minX, visibleRect.minY, visibleRect.width, visibleRect.height))
      name.draw(at: NSPoint(x: place.x, y: place.y))
    }

    private func place(
      of unit: Int, _ layoutManager: NSLayoutManager, _ container: NSTextContainer
    ) -> NSRect {
      let glyphs = layoutManager.glyphRange(
        forCharacterRange: NSRange(location: unit, length: 0), actualCharacterRange: nil)
      let rect = layoutManager.boundingRect(forGlyphRange: glyphs, in: container)
      return rect.offsetBy(dx: textContainerOrigin.x, dy: textContainerOrigin.y)
    }
  }

  extension NoteTextView: FormattedTextView {
    /// The whole text.
    public var wholeText: String { contents.string }
    /// The text's length in UTF-16 units.
    public var utf16Count: Int { contents.length }
    /// Whether an input method is composing.
    public var isComposing: Bool { hasMarkedText() }
    /// The selected range.
    public var selectedUnits: Range<Int> { Range(selectedRange()) ?? 0..<0 }

    /// Replaces a range of the storage.
    public func replace(_ range: Range<Int>, with text: String) {
      contents.replaceCharacters(
        in: NSRange(range), with: NSAttributedString(string: text, attributes: typingAttributes))
    }

    /// Shows the formatting of lines, by ``style``.
    public func show(_ runs: [FormattedRun]) { contents.show(runs, style: style) }

    /// Selects a range.
    public func select(_ range: Range<Int>) {
      if selectedUnits != range { setSelectedRange(NSRange(range)) }
    }

    /// Draws the others' carets.
    public func show(_ carets: [RemoteCaret]) {
      self.carets = carets
      needsDisplay = true
    }

    /// Passes a problem to ``onProblem``.
    public func show(_ problem: NoteError) { onProblem?(problem) }
  }

  /// Reports the view's changes to the binding.
  ///
  /// No actor isolates `NSTextStorageDelegate`, because a storage may belong to any thread. A text
  /// view's storage belongs to the main one.
  @MainActor final class NoteTextCoordinator: NSObject, NSTextViewDelegate, NSTextStorageDelegate {
    private let binding: NoteBinding

    init(_ binding: NoteBinding) { self.binding = binding }

    nonisolated func textStorage(
      _ textStorage: NSTextStorage, didProcessEditing editedMask: NSTextStorageEditActions,
      range editedRange: NSRange, changeInLength delta: Int
    ) {
      guard editedMask.contains(.editedCharacters), let after = Range(editedRange) else { return }
      let text = textStorage.attributedSubstring(from: editedRange).string
      MainActor.assumeIsolated {
        binding.textChanged(in: after.lowerBound..<after.upperBound - delta, to: text)
      }
    }

    func textDidChange(_ notification: Notification) { binding.settle() }

    func textViewDidChangeSelection(_ notification: Notification) { binding.selectionChanged() }

    func textDidEndEditing(_ notification: Notification) { binding.settle() }

    func textViewWritingToolsWillBegin(_ textView: NSTextView) { binding.beginRewriting() }

    func textViewWritingToolsDidEnd(_ textView: NSTextView) { binding.endRewriting() }
  }

  extension NSColor {
    convenience init(_ color: CaretColor) {
      self.init(srgbRed: color.red, green: color.green, blue: color.blue, alpha: 1)
    }
  }
#endif
