package import OTCore
public import ParleyClient

/// A note and a text view, kept alike: edits of the view go to the note, others' changes to the view by
/// ranges, so that no caret jumps.
///
/// While an input method is composing, both sides wait: the view is left alone, and what is being
/// composed is sent as one edit when it is done. Undo takes back what was written in this view, and
/// leaves others' edits alone.
///
///             pending
///     base ────────────▶ shown, the view's text
///       │                  │
///       │ deferred         │ deferred′
///       ▼     pending′     ▼
///     note ────────────▶ both, once settled
///
/// A view that was made for this package calls it; an app calls ``undo()`` and ``redo()`` only.
@MainActor public final class NoteBinding {
  /// The note.
  public let note: Note

  private weak var view: (any EditableTextView)?
  private let time: any ClientTime
  private let start: Int64
  private var history = UndoHistory()

  /// The text that note and view had in common last; `nil` before there is one.
  private var base: Document?
  /// The text in the view.
  private var shown: Document?
  /// The view's edits that the note has not been given, on `base`.
  private var pending: TextOperation?
  /// The note's changes that the view has not been given, on `base`.
  private var deferred: TextOperation?
  /// The selection, in scalars of `shown`.
  private var selection = Selection(anchor: 0, head: 0)
  /// The selection before `pending`, in scalars of `base`.
  private var selectionBefore = Selection(anchor: 0, head: 0)
  private var carets: [RemoteCaret.Placed] = []
  /// Whether the view is being changed from here.
  private var isShowing = false
  private var isSettling = false
  private var willSettle = false
  /// Whether the view has reported a change that does not fit what is known of its text.
  private var isUnsure = false
  /// Whether the note has changed while the view was being changed.
  private var isOverrun = false

  /// Edits that a view is given at most for one change; beyond them, it is one edit from the first to
  /// the last.
  package nonisolated static let editsMax = 256

  /// Makes a binding. The view may be there already, and is given the note's text by ``attach(_:)``.
  public init(_ note: Note, time: any ClientTime = SystemTime()) {
    self.note = note
    self.time = time
    start = time.now
  }

  /// Has a view show the note, and be edited. It is held weakly.
  public func attach(_ view: any EditableTextView) {
    self.view = view
    base = nil
    shown = nil
    pending = nil
    deferred = nil
    history.removeAll()
    note.attach(editor: self)
  }

  /// Leaves the view alone from now on.
  public func detach() {
    settle()
    note.detach(editor: self)
    view = nil
  }

  /// Whether the view may be written in: there is a text, and this person may.
  public var isEditable: Bool {
    guard note.isWritable else { return false }
    switch note.state {
    case .live, .offline: return true
    case .opening, .failed, .deleted, .closed: return false
    }
  }

  // MARK: The view tells

  /// The view has replaced a range of its text. Nothing is done to the view within this call.
  ///
  /// - Parameters:
  ///   - range: The range as it was, in UTF-16 units of the text before.
  ///   - text: The text in its place.
  /// - Complexity: O(log *n*), plus the texts replaced and inserted.
  public func textChanged(in range: Range<Int>, to text: String) {
    guard !isShowing, let view, let document = shown else { return }
    // A range of a text that is not known here: the texts are compared when the change is over.
    guard view.utf16Count == document.utf16Count - range.count + text.utf16.count,
      let scalars = try? document.scalars(ofUTF16: range),
      let edit = try? TextOperation(replacing: scalars, of: document, with: text)
    else {
      isUnsure = true
      return
    }
    let end = scalars.lowerBound + text.unicodeScalars.count
    took(edit, Selection(anchor: end, head: end))
  }

  /// The view's change is over: edits go to the note, and what has waited to the view. Does nothing
  /// while an input method is composing.
  public func settle() {
    guard let view, !isSettling, !isShowing, shown != nil else { return }
    guard !view.isComposing else {
      view.show(caretsShown)
      return
    }
    isSettling = true
    defer { isSettling = false }
    adoptUntold(from: view)
    exchange(view)
    tellSelection()
    showPeople()
  }

  /// The view's selection has changed.
  public func selectionChanged() {
    guard let view, !isShowing, let shown else { return }
    let units = view.selectedUnits.clamped(to: 0..<shown.utf16Count)
    let range =
      shown.scalarOffset(
        ofUTF16: units.lowerBound)..<shown.scalarOffset(
        ofUTF16: units.upperBound)
    let next = selection.directed(to: range)
    guard next != selection else { return }
    selection = next
    // A caret that was moved by hand begins a step of its own.
    guard pending == nil, !view.isComposing else { return }
    history.endRun()
    tellSelection()
  }

  // MARK: Undo

  /// Whether there is something to take back.
  public var canUndo: Bool { history.canUndo || pending != nil }

  /// Whether there is something to do again.
  public var canRedo: Bool { history.canRedo && pending == nil }

  /// Takes back the newest edit made in this view. Others' edits stay, also those within it.
  ///
  /// - Returns: Whether something was taken back; never while an input method is composing.
  @discardableResult
  public func undo() -> Bool {
    step { history, document, selection throws(OperationError) in
      try history.undo(on: document, selection: selection)
    }
  }

  /// Does again what was taken back.
  ///
  /// - Returns: Whether something was done.
  @discardableResult
  public func redo() -> Bool {
    step { history, document, selection throws(OperationError) in
      try history.redo(on: document, selection: selection)
    }
  }

  /// The next edit is a step of its own: before and after a paste.
  public func endUndoRun() {
    settle()
    history.endRun()
  }

  private func step(
    _ take: (inout UndoHistory, Document, Selection) throws(OperationError) -> UndoHistory.Step?
  ) -> Bool {
    settle()
    guard let view, pending == nil, deferred == nil, !view.isComposing, let document = shown else {
      return false
    }
    let former = history
    guard let step = try? take(&history, document, selection) else { return false }
    do throws(NoteError) {
      try note.apply(step.operation, by: self)
    } catch {
      history = former
      view.show(error)
      return false
    }
    isSettling = true
    defer { isSettling = false }
    show(step.operation, in: view, selecting: step.selection)
    base = shown
    compare(view)
    tellSelection()
    showPeople()
    return true
  }

  // MARK: Both sides meet

  /// Takes an edit that the view shows already.
  private func took(_ edit: TextOperation, _ after: Selection) {
    guard !edit.isIdentity, var document = shown else { return }
    guard (try? document.apply(edit)) != nil else { return }
    if pending == nil { selectionBefore = selection }
    shown = document
    pending = pending.flatMap { try? $0.composed(with: edit) } ?? edit
    selection = after
    for index in carets.indices {
      carets[index].selection = carets[index].selection.transformed(over: edit, own: false)
    }
  }

  /// Finds what the view has changed without telling.
  private func adoptUntold(from view: any EditableTextView) {
    guard let document = shown, isUnsure || view.utf16Count != document.utf16Count else { return }
    isUnsure = false
    let text = Document(view.wholeText)
    let edit = TextOperation(
      replacing: document, by: text,
      caret: text.scalarOffset(ofUTF16: min(view.selectedUnits.upperBound, text.utf16Count)))
    let end = Cursor.transformed(selection.head, over: edit, own: true)
    took(edit, Selection(anchor: end, head: end))
  }

  private func exchange(_ view: any EditableTextView) {
    guard let base else { return }
    var remote = deferred ?? .identity(length: base.scalarCount)
    if let local = pending {
      pending = nil
      // The diamond cannot fail: both start from `base`.
      if let (remoteAfter, localAfter) = try? TextOperation.transform(remote, local) {
        if submit(localAfter, past: remote, view) {
          remote = remoteAfter
        } else if let back = try? local.inverted(on: base) {
          show(back, in: view, selecting: selectionBefore)
        }
      }
    }
    deferred = nil
    show(remote, in: view, selecting: nil)
    self.base = shown
    compare(view)
  }

  /// Gives an edit to the note, and to the history.
  private func submit(
    _ edit: TextOperation, past remote: TextOperation, _ view: any EditableTextView
  ) -> Bool {
    guard let document = note.document else { return false }
    do throws(NoteError) {
      try note.apply(edit, by: self)
    } catch {
      view.show(error)
      return false
    }
    let before = selectionBefore.transformed(over: remote, own: false)
    try? history.record(edit, on: document, selection: before, milliseconds: time.now - start)
    return true
  }

  /// Changes the view by an operation on its text.
  private func show(
    _ operation: TextOperation, in view: any EditableTextView, selecting wanted: Selection?
  ) {
    guard let before = shown, !operation.isIdentity else { return }
    var after = before
    guard (try? after.apply(operation)) != nil else { return }
    let moved = wanted ?? selection.keptApart(from: operation)
    isShowing = true
    defer { isShowing = false }
    for edit in TextEdit.few(of: operation, on: before, after: after) {
      view.replace(edit.range, with: edit.text)
    }
    shown = after
    selection = moved
    view.select(after.selection(moved).range)
  }

  /// Sets the view to the note's text if they differ. They differ only if a view does not apply an
  /// edit, or if it edits the note while it applies one.
  private func compare(_ view: any EditableTextView) {
    guard let document = note.document else { return }
    if !isOverrun, shown?.utf16Count == document.utf16Count,
      view.utf16Count == document.utf16Count
    {
      return
    }
    isOverrun = false
    isShowing = true
    view.replace(0..<view.utf16Count, with: document.text)
    isShowing = false
    base = document
    shown = document
  }

  private func tellSelection() {
    guard pending == nil, deferred == nil, let shown else { return }
    note.select([shown.selection(selection)])
  }

  // MARK: Carets

  /// The others' carets as the view shows them.
  package var caretsShown: [RemoteCaret] {
    guard let shown else { return [] }
    return carets.map { $0.caret(in: shown) }
  }

  private func showPeople() {
    guard let view, let shown else { return }
    // The note's places are not the view's while edits wait on either side.
    if pending == nil, deferred == nil {
      carets = RemoteCaret.placed(note.people, in: shown)
    }
    view.show(caretsShown)
  }

  /// Settles after the current call, where that was not done by the view.
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
  package func note(applied operation: TextOperation) {
    guard let view, shown != nil else { return }
    try? history.receive(operation)
    if isSettling {
      isOverrun = true
      return
    }
    deferred = deferred.flatMap { try? $0.composed(with: operation) } ?? operation
    if view.isComposing { return }
    adoptUntold(from: view)
    // The note may not be edited just now, so an edit that it has not been given waits, too.
    guard pending == nil else { return settleSoon() }
    isSettling = true
    defer { isSettling = false }
    exchange(view)
    showPeople()
  }

  package func note(becomes document: Document) {
    guard let view else { return }
    guard let base else {
      // The first text.
      isShowing = true
      view.replace(0..<view.utf16Count, with: document.text)
      isShowing = false
      self.base = document
      shown = document
      selection = Selection(anchor: 0, head: 0)
      compare(view)
      showPeople()
      return
    }
    // The text that the history knows: with the changes that wait.
    var former = base
    if let deferred { try? former.apply(deferred) }
    note(applied: TextOperation(replacing: former, by: document))
  }

  package func notePeopleChanged() { showPeople() }
}
