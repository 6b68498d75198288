/// The undo history of a text without formatting.
public typealias UndoHistory = EditHistory<TextOperation>

/// The undo history of a text with formatting.
public typealias RichUndoHistory = EditHistory<RichOperation>

/// The edits that one user can undo and redo in a text that other users change too.
///
/// Only the user's own edits are recorded; edits of other users transform them. The rules:
///
/// - **Undo reverts the user's newest edit and nothing else.** It removes the text that the edit
///   inserted, and restores the text that it deleted.
/// - **Others' edits remain.** If another user has written within this user's text, undo leaves the
///   other's text. If another user has deleted a part of it, the part remains deleted, and redo
///   restores only what undo removed.
/// - **Restored text returns to its position.** If others have written there meanwhile, it goes to
///   the right of their text, as an uncommitted insert goes to the right of a committed one.
/// - **If two users delete the same text, only the first deletion counts**; undoing the other one
///   restores nothing. Here, an edit of this user always comes before the other users' edits that
///   arrive later, so undoing it restores the text.
/// - **An undo without effect is skipped**: the edit's text is gone.
/// - **A new edit of the user ends redo**; an edit of another user does not.
///
/// Each stack contains inverse operations. The top operation applies to the present text, each
/// other one to the result of the one above it. Another user's operation is transformed over the
/// top one; the result, which is the same edit on the text after the top one, is transformed over
/// the next one, and so on. The operations are never composed for this, because the result would
/// differ.
///
///             top        next        next
///     text ────────▶ · ────────▶ · ────────▶ ·
///       │            │           │           │
///     foreign     foreign′    foreign″    foreign‴
///       ▼   top′     ▼   next′   ▼   next′   ▼
///     text ────────▶ · ────────▶ · ────────▶ ·
///
/// Consecutive typing is one step. An edit joins the previous step if both change one position, the
/// new one continues where the other ended, both insert or both delete, and at most
/// ``pauseMilliseconds`` are between them. ``endRun()`` separates steps: call it when the user has
/// moved the caret, and around a paste.
///
/// Pass every change of the text to the history, in the order in which it is applied here: own ones
/// to ``record(_:on:selection:milliseconds:)``, all others to ``receive(_:)``. The results of
/// ``undo(on:selection:)`` and ``redo(on:selection:)`` are already recorded.
public struct EditHistory<Operation: SynchronizedOperation>: Sendable {
  /// An operation to apply to the text, and the selection after it.
  public struct Step: Sendable, Hashable {
    /// The operation to apply to the text and to send, like any edit of the user.
    public let operation: Operation
    /// The selection to show afterwards, in Unicode scalars.
    public let selection: Selection
  }

  struct Entry: Sendable {
    /// The operation that undoes the edit.
    var operation: Operation
    /// The selection before the edit, on the text after `operation`.
    var selection: Selection?
  }

  /// The newest own edit, while a further one may join it.
  private struct Run: Sendable {
    var isWriting: Bool
    /// The attributes of its inserted text.
    var attributes: AttributeSet
    /// The end of the edit, in the present text.
    var place: Int
    var milliseconds: Int64
  }

  /// Maximum pause within a step, in milliseconds.
  public let pauseMilliseconds: Int64
  /// Maximum steps; beyond it, the oldest is dropped.
  public let stepsMax: Int

  private var undos: [Entry] = []
  private var redos: [Entry] = []
  private var run: Run?

  /// Creates an empty history.
  ///
  /// - Precondition: `stepsMax` is positive.
  public init(pauseMilliseconds: Int64 = 500, stepsMax: Int = 200) {
    precondition(stepsMax > 0, "expected at least 1 step, got \(stepsMax)")
    self.pauseMilliseconds = pauseMilliseconds
    self.stepsMax = stepsMax
  }

  /// Whether there is an edit to undo.
  public var canUndo: Bool { undos.contains { !$0.operation.isIdentity } }

  /// Whether there is an edit to redo.
  public var canRedo: Bool { redos.contains { !$0.operation.isIdentity } }

  /// The number of steps that can be undone; some may no longer have an effect.
  public var stepCount: Int { undos.count }

  /// Records an edit of the user.
  ///
  /// - Parameters:
  ///   - edit: The edit.
  ///   - document: The text before the edit.
  ///   - selection: The selection before the edit, which undo restores.
  ///   - milliseconds: The time of the edit, on any monotonic clock.
  /// - Throws: `lengthMismatch` if the edit does not start from this document, or the history's
  ///   text has another length. Nothing is recorded then.
  /// - Complexity: O(components of the edit and of the step that it joins + log *document*), plus
  ///   the text deleted.
  #if !hasFeature(Embedded)
    @specialized(where Operation == TextOperation)
    @specialized(where Operation == RichOperation)
  #endif
  public mutating func record(
    _ edit: Operation, on document: Operation.Content, selection: Selection? = nil,
    milliseconds: Int64 = 0
  ) throws(OperationError) {
    try check(edit.baseLength)
    let inverse = try edit.inverted(on: document)
    guard !edit.isIdentity else { return }
    // A change of attributes is always a separate step.
    let attributes = edit.writtenAttributes
    let change = attributes == nil ? nil : SingleChange(of: edit.text)
    redos.removeAll()
    if let last = undos.last, let run, let change, change.continues(run.place, run.isWriting),
      attributes == run.attributes,
      milliseconds - run.milliseconds <= pauseMilliseconds
    {
      undos[undos.count - 1].operation = try inverse.composed(with: last.operation)
    } else {
      undos.append(Entry(operation: inverse, selection: selection))
      if undos.count > stepsMax { undos.removeFirst(undos.count - stepsMax) }
    }
    run = change.map {
      Run(
        isWriting: $0.inserted > 0, attributes: attributes ?? AttributeSet(), place: $0.end,
        milliseconds: milliseconds)
    }
  }

  /// Receives another client's change of the text.
  ///
  /// - Parameter operation: The operation on the user's text, as returned by
  ///   ``Synchronizer/receive(_:revision:)``.
  /// - Throws: `lengthMismatch` if it does not start from the user's text.
  /// - Complexity: O(steps × components).
  #if !hasFeature(Embedded)
    @specialized(where Operation == TextOperation)
    @specialized(where Operation == RichOperation)
  #endif
  public mutating func receive(_ operation: Operation) throws(OperationError) {
    try check(operation.baseLength)
    guard !operation.isIdentity else { return }
    let undos = try Self.transformed(undos, over: operation)
    redos = try Self.transformed(redos, over: operation)
    self.undos = undos
    if let place = run?.place {
      run?.place = Cursor.transformed(place, over: operation.text, own: false)
    }
  }

  /// Undoes the newest step that still has an effect.
  ///
  /// - Parameters:
  ///   - document: The present text.
  ///   - selection: The present selection, which redo restores.
  /// - Returns: The step to apply; `nil` if missing.
  /// - Throws: `lengthMismatch` if the history's text has another length.
  public mutating func undo(
    on document: Operation.Content, selection: Selection? = nil
  ) throws(OperationError) -> Step? {
    try Self.step(from: &undos, to: &redos, on: document, selection: selection, run: &run)
  }

  /// Redoes the step that was undone last.
  ///
  /// - Parameters:
  ///   - document: The present text.
  ///   - selection: The present selection, which undo restores.
  /// - Returns: The step to apply; `nil` if missing.
  /// - Throws: `lengthMismatch` if the history's text has another length.
  public mutating func redo(
    on document: Operation.Content, selection: Selection? = nil
  ) throws(OperationError) -> Step? {
    try Self.step(from: &redos, to: &undos, on: document, selection: selection, run: &run)
  }

  /// Makes the next edit a separate step.
  public mutating func endRun() { run = nil }

  /// Removes all steps.
  public mutating func removeAll() {
    undos.removeAll()
    redos.removeAll()
    run = nil
  }

  private func check(_ length: Int) throws(OperationError) {
    for known in [undos.last, redos.last] {
      if let expected = known?.operation.baseLength, expected != length {
        throw .lengthMismatch(expected: expected, found: length)
      }
    }
  }

  private static func transformed(
    _ entries: [Entry], over foreign: Operation
  ) throws(OperationError) -> [Entry] {
    var entries = entries
    var foreign = foreign
    for index in entries.indices.reversed() {
      let (foreignAfter, after) = try Operation.transform(foreign, entries[index].operation)
      entries[index].operation = after
      foreign = foreignAfter
      entries[index].selection = entries[index].selection?.transformed(
        over: foreign.text, own: false)
    }
    // Steps without an effect remain; undo and redo skip them.
    return entries
  }

  private static func step(
    from source: inout [Entry], to other: inout [Entry], on document: Operation.Content,
    selection: Selection?, run: inout Run?
  ) throws(OperationError) -> Step? {
    while let last = source.last, last.operation.isIdentity { source.removeLast() }
    guard let entry = source.last else { return nil }
    let inverse = try entry.operation.inverted(on: document)
    source.removeLast()
    other.append(Entry(operation: inverse, selection: selection))
    run = nil
    return Step(
      operation: entry.operation,
      selection: entry.selection ?? entry.operation.text.selectionAfterward)
  }
}

/// An edit at one position of a text.
private struct SingleChange {
  var position = 0
  var inserted = 0
  var deleted = 0

  /// The end of the edit, in the text after it.
  var end: Int { position + inserted }

  /// Reads an operation; `nil` unless it changes exactly one position.
  init?(of operation: TextOperation) {
    var places = 0
    var isWithin = false
    operation.forEachPacked { kind, length, _ in
      switch kind {
      case .retain:
        if places == 0 { position = length }
        isWithin = false
      case .insert, .delete:
        if !isWithin { places += 1 }
        isWithin = true
        if kind == .insert { inserted += length } else { deleted += length }
      }
    }
    if places != 1 { return nil }
  }

  /// Whether this continues an edit that ended at a position: inserting after it, or deleting
  /// before or after it.
  func continues(_ place: Int, _ isWriting: Bool) -> Bool {
    if isWriting { return deleted == 0 && position == place }
    return inserted == 0 && (position == place || position + deleted == place)
  }
}

extension TextOperation {
  /// The caret after the last change.
  fileprivate var selectionAfterward: Selection {
    var place = 0
    var target = 0
    forEachPacked { kind, length, _ in
      switch kind {
      case .retain: target += length
      case .insert:
        target += length
        place = target
      case .delete: place = target
      }
    }
    return Selection(anchor: place, head: place)
  }
}
