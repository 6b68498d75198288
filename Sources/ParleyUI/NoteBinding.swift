package import OTCore
public import ParleyClient

/// Synchronises a note and a text view. The view's edits are applied to the note. Others' changes
/// are applied to the view as ranges, so that no caret jumps.
///
/// While an input method is composing, both directions wait: the view is not changed, and the
/// composed text is sent as one edit afterwards. Undo reverts only edits made in this view.
///
///             pending
///     base ────────────▶ shown, the view's text
///       │                  │
///       │ deferred         │ deferred′
///       ▼     pending′     ▼
///     note ────────────▶ both, once settled
///
/// A note that was opened with formats keeps its formatting: typed text takes that of the text around
/// it, and a ``FormattedTextView`` shows it.
///
/// Text views made for this package call it; an app calls only ``undo()``, ``redo()`` and what
/// formats.
@MainActor public final class NoteBinding {
  /// The note.
  public let note: Note

  private weak var view: (any EditableTextView)?
  private let time: any ClientTime
  private let start: Int64
  private var history = RichUndoHistory()

  /// The last common text of note and view; `nil` before the first one.
  private var base: RichDocument?
  /// The text in the view.
  private var shown: RichDocument?
  /// The view's edits that the note has not received, based on `base`.
  private var pending: RichOperation?
  /// The note's changes that the view has not received, based on `base`.
  private var deferred: RichOperation?
  /// The selection, in scalars of `shown`.
  private var selection = Selection(anchor: 0, head: 0)
  /// The selection before `pending`, in scalars of `base`.
  private var selectionBefore = Selection(anchor: 0, head: 0)
  private var carets: [RemoteCaret.Placed] = []
  /// Whether the binding is changing the view.
  private var isShowing = false
  private var isSettling = false
  private var willSettle = false
  /// Whether the view has reported a change that does not match `shown`.
  private var isUnsure = false
  /// Whether the note has changed while the view was being changed.
  private var isOverrun = false
  /// The attributes that the next typed text has, if they were chosen at the caret.
  private var chosen: NoteAttributes?
  /// The changes whose formatting the view does not show yet.
  private var unstyled: RichOperation?
  /// Whether a tool, such as Apple's Writing Tools, is rewriting the view's text.
  private var isRewriting = false

  /// Maximum edits applied to a view for one change; beyond it, they are combined into one edit
  /// from the first to the last.
  package nonisolated static let editsMax = 256

  /// Creates a binding. ``attach(_:)`` then sets the view's text.
  public init(_ note: Note, time: any ClientTime = SystemTime()) {
    self.note = note
    self.time = time
    start = time.now
  }

  /// Attaches the view that shows and edits the note. It is referenced weakly.
  public func attach(_ view: any EditableTextView) {
    self.view = view
    base = nil
    shown = nil
    pending = nil
    deferred = nil
    unstyled = nil
    chosen = nil
    history.removeAll()
    note.attach(editor: self)
  }

  /// Detaches the view.
  public func detach() {
    isRewriting = false
    settle()
    note.detach(editor: self)
    view = nil
  }

  /// Whether the view is editable: the note has a text, and this person may edit it.
  public var isEditable: Bool {
    guard note.isWritable else { return false }
    switch note.state {
    case .live, .offline: return true
    case .opening, .failed, .deleted, .closed: return false
    }
  }

  // MARK: Reports of the view

  /// Handles a replaced range of the view's text. The view is not changed within this call.
  ///
  /// - Parameters:
  ///   - range: The replaced range, in UTF-16 units of the former text.
  ///   - text: The replacement.
  /// - Complexity: O(log *n*), plus the lengths of the replaced and inserted texts.
  public func textChanged(in range: Range<Int>, to text: String) {
    guard !isShowing, let view, let content = shown else { return }
    let document = content.text
    // If the range does not fit the known text, the texts are compared after the change.
    guard view.utf16Count == document.utf16Count - range.count + text.utf16.count,
      let scalars = try? document.scalars(ofUTF16: range),
      let edit = try? TextOperation(replacing: scalars, of: document, with: text)
    else {
      isUnsure = true
      return
    }
    let end = scalars.lowerBound + text.unicodeScalars.count
    took(formatted(edit, in: content), Selection(anchor: end, head: end))
  }

  /// Handles the end of the view's change: sends its edits to the note, and applies deferred
  /// changes to the view. While an input method is composing, it only redraws the carets.
  public func settle() {
    guard let view, !isSettling, !isShowing, shown != nil else { return }
    guard !isLeftAlone(view) else {
      view.show(caretsShown)
      return
    }
    isSettling = true
    defer { isSettling = false }
    adoptUnreported(from: view)
    exchange(view)
    tellSelection()
    showPeople()
  }

  /// Handles a change of the view's selection.
  public func selectionChanged() {
    guard let view, !isShowing, let shown = shown?.text else { return }
    let units = view.selectedUnits.clamped(to: 0..<shown.utf16Count)
    let range =
      shown.scalarOffset(
        ofUTF16: units.lowerBound)..<shown.scalarOffset(
        ofUTF16: units.upperBound)
    let next = selection.directed(to: range)
    guard next != selection else { return }
    selection = next
    if pending == nil { chosen = nil }
    // Moving the caret by hand starts a new undo step.
    guard pending == nil, !isLeftAlone(view) else { return }
    history.endRun()
    tellSelection()
  }

  /// Starts a session of a tool that rewrites the text. Until ``endRewriting()`` the view is not
  /// changed, as while an input method is composing.
  public func beginRewriting() {
    endUndoRun()
    isRewriting = true
  }

  /// Ends the session: the text that the tool has written is one edit and one undo step.
  public func endRewriting() {
    isRewriting = false
    endUndoRun()
  }

  private func isLeftAlone(_ view: any EditableTextView) -> Bool { isRewriting || view.isComposing }

  // MARK: Undo

  /// Whether an edit can be undone.
  public var canUndo: Bool { history.canUndo || pending != nil }

  /// Whether an edit can be redone.
  public var canRedo: Bool { history.canRedo && pending == nil }

  /// Reverts the newest edit made in this view. Others' edits remain, also within its range.
  ///
  /// - Returns: Whether an edit was reverted; always `false` while an input method is composing.
  @discardableResult
  public func undo() -> Bool {
    step { history, document, selection throws(OperationError) in
      try history.undo(on: document, selection: selection)
    }
  }

  /// Redoes the last undone edit.
  ///
  /// - Returns: Whether an edit was redone.
  @discardableResult
  public func redo() -> Bool {
    step { history, document, selection throws(OperationError) in
      try history.redo(on: document, selection: selection)
    }
  }

  /// Ends the current undo step; the next edit starts a new one. Called before and after a paste.
  public func endUndoRun() {
    settle()
    history.endRun()
  }

  private func step(
    _ take: (inout RichUndoHistory, RichDocument, Selection) throws(OperationError) ->
      RichUndoHistory.Step?
  ) -> Bool {
    settle()
    guard let view, pending == nil, deferred == nil, !isLeftAlone(view), let document = shown else {
      return false
    }
    let former = history
    guard let step = try? take(&history, document, selection) else { return false }
    if perform(step.operation, selecting: step.selection, in: view) { return true }
    history = former
    return false
  }

  /// Makes an edit that the view does not show yet.
  private func perform(
    _ operation: RichOperation, selecting wanted: Selection?, in view: any EditableTextView
  ) -> Bool {
    do throws(NoteError) {
      try note.apply(operation, by: self)
    } catch {
      view.show(error)
      return false
    }
    isSettling = true
    defer { isSettling = false }
    show(operation, in: view, selecting: wanted)
    base = shown
    compare(view)
    tellSelection()
    showPeople()
    return true
  }

  // MARK: Synchronising

  /// Records an edit that the view already shows.
  private func took(_ edit: RichOperation, _ after: Selection) {
    guard !edit.isIdentity, var document = shown else { return }
    guard (try? document.apply(edit)) != nil else { return }
    if pending == nil { selectionBefore = selection }
    // A view continues the attributes of text that the edit has deleted.
    let hasAttributes = shown?.hasAttributes == true || document.hasAttributes
    shown = document
    pending = pending.flatMap { try? $0.composed(with: edit) } ?? edit
    if hasAttributes {
      unstyled = unstyled.flatMap { try? $0.composed(with: edit) } ?? edit
    }
    selection = after
    for index in carets.indices {
      carets[index].selection = carets[index].selection.transformed(over: edit.text, own: false)
    }
  }

  /// Finds a change that the view has not reported.
  private func adoptUnreported(from view: any EditableTextView) {
    guard let content = shown, isUnsure || view.utf16Count != content.text.utf16Count else {
      return
    }
    let document = content.text
    isUnsure = false
    let text = Document(view.wholeText)
    let edit = TextOperation(
      replacing: document, by: text,
      caret: text.scalarOffset(ofUTF16: min(view.selectedUnits.upperBound, text.utf16Count)))
    let end = Cursor.transformed(selection.head, over: edit, own: true)
    took(formatted(edit, in: content), Selection(anchor: end, head: end))
  }

  private func exchange(_ view: any EditableTextView) {
    guard let base else { return }
    var remote = deferred ?? .identity(length: base.text.scalarCount)
    if let local = pending {
      pending = nil
      // The transformation cannot fail: both operations start from `base`.
      if let (remoteAfter, localAfter) = try? RichOperation.transform(remote, local) {
        if submit(localAfter, past: remote, view) {
          remote = remoteAfter
        } else if let back = try? local.inverted(on: base) {
          show(back, in: view, selecting: selectionBefore)
        }
      }
    }
    deferred = nil
    show(remote, in: view, selecting: nil)
    style(view)
    self.base = shown
    compare(view)
  }

  /// Applies an edit to the note, and records it in the history.
  private func submit(
    _ edit: RichOperation, past remote: RichOperation, _ view: any EditableTextView
  ) -> Bool {
    guard let document = note.content else { return false }
    do throws(NoteError) {
      try note.apply(edit, by: self)
    } catch {
      view.show(error)
      return false
    }
    let before = selectionBefore.transformed(over: remote.text, own: false)
    try? history.record(edit, on: document, selection: before, milliseconds: time.now - start)
    return true
  }

  /// Applies an operation to the view.
  private func show(
    _ operation: RichOperation, in view: any EditableTextView, selecting wanted: Selection?
  ) {
    guard let before = shown, !operation.isIdentity else { return }
    var after = before
    guard (try? after.apply(operation)) != nil else { return }
    let moved = wanted ?? selection.keptApart(from: operation.text)
    isShowing = true
    defer { isShowing = false }
    for edit in TextEdit.few(of: operation.text, on: before.text, after: after.text) {
      view.replace(edit.range, with: edit.text)
    }
    shown = after
    selection = moved
    if before.hasAttributes || after.hasAttributes {
      unstyled = unstyled.flatMap { try? $0.composed(with: operation) } ?? operation
      style(view)
    }
    view.select(after.text.selection(moved).range)
  }

  /// Sets the view's text to the note's if they differ. This happens only if a view does not apply
  /// an edit, or edits the note while it applies one.
  private func compare(_ view: any EditableTextView) {
    guard let content = note.content else { return }
    let document = content.text
    if !isOverrun, shown?.text.utf16Count == document.utf16Count,
      view.utf16Count == document.utf16Count
    {
      return
    }
    isOverrun = false
    showAll(content, in: view)
  }

  /// Replaces the view's text.
  private func showAll(_ content: RichDocument, in view: any EditableTextView) {
    isShowing = true
    view.replace(0..<view.utf16Count, with: content.text.text)
    if content.hasAttributes, let view = view as? any FormattedTextView {
      view.show(FormattedRun.runs(of: content, touching: 0..<content.text.scalarCount))
    }
    isShowing = false
    unstyled = nil
    base = content
    shown = content
  }

  private func tellSelection() {
    guard pending == nil, deferred == nil, let shown = shown?.text else { return }
    note.select([shown.selection(selection)])
  }

  // MARK: Formatting

  /// Returns an edit of the text with its formatting: the chosen attributes, or those of the text
  /// around it.
  private func formatted(_ edit: TextOperation, in content: RichDocument) -> RichOperation {
    guard note.hasFormats else { return RichOperation(edit) }
    let inherited = RichOperation(edit, inheritingFrom: content)
    guard let chosen, let set = try? chosen.change(of: AttributeSet()) else { return inherited }
    var builder = RichOperationBuilder()
    for component in edit.components {
      switch component {
      case .retain(let count): builder.retain(count)
      case .delete(let count): builder.delete(count)
      case .insert(let text):
        // A newline takes the attributes of its line.
        if text.utf8.contains(UInt8(ascii: "\n")) { return inherited }
        builder.insert(text, with: set)
      }
    }
    return builder.finished()
  }

  /// The attributes of the selected text that are the same throughout; at a caret, those of the text
  /// typed next. Names as in `NoteDelta`.
  public var selectedAttributes: NoteAttributes {
    guard let shown else { return [:] }
    if selection.anchor == selection.head {
      return chosen ?? shown.attributesOfTyping(at: selection.head)
    }
    let range = min(selection.anchor, selection.head)..<max(selection.anchor, selection.head)
    return shown.commonAttributes(of: range)
  }

  /// Sets attributes of the selected text, or of the text typed next at a caret. Attributes of
  /// lines, such as `header`, apply to the selected lines.
  ///
  /// - Returns: Whether the note takes formatting now: it was opened with formats, is writable, and
  ///   no input method is composing.
  @discardableResult
  public func format(_ attributes: NoteAttributes) -> Bool {
    settle()
    guard note.hasFormats, let view, pending == nil, deferred == nil, !isLeftAlone(view),
      let shown
    else { return false }
    let range = shown.text.selection(selection).range
    let ofText = attributes.filter { !NoteDelta.isOfLines($0.key) }
    let ofLines = attributes.filter { NoteDelta.isOfLines($0.key) }
    if range.isEmpty, !ofText.isEmpty {
      chosen = selectedAttributes.merging(ofText) { $1 }.filter { $0.value != .removed }
    }
    let wanted = range.isEmpty ? ofLines : attributes
    guard !wanted.isEmpty else { return true }
    guard let change = try? NoteDelta.formatting(range, wanted, of: shown) else { return false }
    return record(change, selecting: selection, in: view)
  }

  /// Makes an edit, as an undo step of its own.
  private func record(
    _ change: RichOperation, selecting wanted: Selection, in view: any EditableTextView
  ) -> Bool {
    guard let shown else { return false }
    let former = history
    history.endRun()
    try? history.record(
      change, on: shown, selection: selection, milliseconds: time.now - start)
    history.endRun()
    if perform(change, selecting: wanted, in: view) { return true }
    history = former
    return false
  }

  /// Replaces the selected text by a formatted one, as one undo step: for a paste.
  ///
  /// - Returns: As for ``format(_:)``.
  @discardableResult
  public func insert(_ delta: NoteDelta) -> Bool {
    settle()
    guard note.hasFormats, let view, pending == nil, deferred == nil, !isLeftAlone(view),
      let shown
    else { return false }
    let range = shown.text.selection(selection).range
    let whole = NoteDelta(
      [.retain(range.lowerBound, [:])] + delta.operations + [.delete(range.count)])
    guard let change = try? whole.operation(on: shown) else { return false }
    let end = Cursor.transformed(
      max(selection.anchor, selection.head), over: change.text, own: true)
    return record(change, selecting: Selection(anchor: end, head: end), in: view)
  }

  /// Shows the formatting of what has changed.
  private func style(_ view: any EditableTextView) {
    guard let operation = unstyled, let shown else { return }
    unstyled = nil
    guard let view = view as? any FormattedTextView,
      let range = operation.changedRange
    else { return }
    let former = isShowing
    isShowing = true
    view.show(FormattedRun.runs(of: shown, touching: range))
    isShowing = former
  }

  // MARK: Carets

  /// The others' carets for the view.
  package var caretsShown: [RemoteCaret] {
    guard let shown = shown?.text else { return [] }
    return carets.map { $0.caret(in: shown) }
  }

  private func showPeople() {
    guard let view, let shown = shown?.text else { return }
    // While edits are pending on either side, the note's positions do not fit the view's text.
    if pending == nil, deferred == nil {
      carets = RemoteCaret.placed(note.people, in: shown)
    }
    view.show(caretsShown)
  }

  /// Schedules a settle after the current call, in case the view does not trigger one.
  private func settleSoon() {
    guard !willSettle else { return }
    willSettle = true
    Task { [weak self] in
      self?.willSettle = false
      self?.settle()
    }
  }
}

extension NoteBinding: NoteEditing {
  package func note(applied operation: RichOperation) {
    guard let view, shown != nil else { return }
    try? history.receive(operation)
    if isSettling {
      isOverrun = true
      return
    }
    deferred = deferred.flatMap { try? $0.composed(with: operation) } ?? operation
    if isLeftAlone(view) { return }
    adoptUnreported(from: view)
    // The note must not be edited within this call, so pending edits wait.
    guard pending == nil else { return settleSoon() }
    isSettling = true
    defer { isSettling = false }
    exchange(view)
    showPeople()
  }

  package func note(becomes content: RichDocument) {
    guard let view else { return }
    guard let base else {
      // The first text.
      showAll(content, in: view)
      selection = Selection(anchor: 0, head: 0)
      compare(view)
      showPeople()
      return
    }
    // The text that the history is based on includes the deferred changes.
    var former = base
    if let deferred { try? former.apply(deferred) }
    note(applied: RichOperation(changing: former, into: content))
  }

  package func notePeopleChanged() { showPeople() }
}
