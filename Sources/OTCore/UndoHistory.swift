/// The undo history of a text without formatting.
public typealias UndoHistory = EditHistory<TextOperation>

/// The undo history of a text with formatting.
public typealias RichUndoHistory = EditHistory<RichOperation>

/// The edits that one user can undo and redo in a text that others change too.
///
/// Only the user's own edits are recorded; edits of other users transform them. The rule:
///
/// - **Undo takes back the user's newest edit and nothing else.** Text that it inserted goes, text
///   that it deleted returns.
/// - **Others' edits remain.** Text that another user has written inside the user's own remains
///   when the user's goes; text that another user has deleted of it remains deleted, and redo
///   restores only what undo took.
/// - **Restored text returns to its place.** Where others have written in the gap meanwhile, it
///   goes to the right of what they wrote, as an uncommitted insert goes to the right of a
///   committed one.
/// - **A text deleted by two at once belongs to the one whose deletion was first**: the other's
///   found nothing to delete. An edit of this user is made here before it is heard of elsewhere,
///   so undoing it brings the text back.
/// - **An undo that would change nothing is skipped**: an edit of which no text is left.
/// - **A new edit ends redo**, a foreign one does not.
///
/// How: each stack holds inverse operations. The top one starts from the text as it is, each other
/// one from the text that the one above it leaves. A foreign operation is transformed over the top
/// one; the result, which is the same edit on the text that the top one leaves, is transformed over
/// the next one, and so on down. One operation at a time, never composed, for transform is not
/// closed under compose.
///
///             top        next        next
///     text ────────▶ · ────────▶ · ────────▶ ·
///       │            │           │           │
///     foreign     foreign′    foreign″    foreign‴
///       ▼   top′     ▼   next′   ▼   next′   ▼
///     text ────────▶ · ────────▶ · ────────▶ ·
///
/// Runs of typing are one step. An edit joins the step before when both change one place, the new
/// one continues where the other ended, both write or both delete, and no more than
/// ``pauseMilliseconds`` lie between them. ``endRun()`` parts them: call it when the caret was
/// moved by hand, and around a paste.
///
/// The history must be given every change of the text, in the order in which they are made here:
/// own ones by ``record(_:on:selection:milliseconds:)``, all others by ``receive(_:)``. What
/// ``undo(on:selection:)`` and ``redo(on:selection:)`` return is recorded already.
public struct EditHistory<Operation: SynchronizedOperation>: Sendable {
  /// An operation to apply to the text, and the caret's place after it.
  public struct Step: Sendable, Hashable {
    /// To apply to the text and to send, as any edit of the user's.
    public let operation: Operation
    /// The selection to show afterwards, in Unicode scalars.
    public let selection: Selection
  }

  struct Entry: Sendable {
    /// Takes the edit back.
    var operation: Operation
    /// The selection before the edit, on the text that `operation` leaves.
    var selection: Selection?
  }

  /// The newest own edit, while another may join it.
  private struct Run: Sendable {
    var isWriting: Bool
    /// The attributes of what it writes.
    var attributes: AttributeSet
    /// The end of the edit, in the present text.
    var place: Int
    var milliseconds: Int64
  }

  /// The longest pause within a run of typing.
  public let pauseMilliseconds: Int64
  /// The number of steps that are kept; beyond it, the oldest is dropped.
  public let stepsMax: Int

  private var undos: [Entry] = []
  private var redos: [Entry] = []
  private var run: Run?

  /// An empty history.
  ///
  /// - Precondition: `stepsMax` is positive.
  public init(pauseMilliseconds: Int64 = 500, stepsMax: Int = 200) {
    precondition(stepsMax > 0, "a history of \(stepsMax) steps")
    self.pauseMilliseconds = pauseMilliseconds
    self.stepsMax = stepsMax
  }

  /// Whether there is something to take back.
  public var canUndo: Bool { undos.contains { !$0.operation.isIdentity } }

  /// Whether there is something to do again.
  public var canRedo: Bool { redos.contains { !$0.operation.isIdentity } }

  /// The number of steps that can be undone; some may have no effect left.
  public var stepCount: Int { undos.count }

  /// The user has made an edit.
  ///
  /// - Parameters:
  ///   - edit: The edit.
  ///   - document: The text before it.
  ///   - selection: The selection before it, which undoing restores.
  ///   - milliseconds: When, on any clock that does not go back.
  /// - Throws: `lengthMismatch` when the edit does not start from this document, or the document is
  ///   not the one that the history knows; nothing is recorded then.
  /// - Complexity: O(components of the edit and of the step it joins + log *document*), plus the text
  ///   deleted.
  @specialized(where Operation == TextOperation)
  @specialized(where Operation == RichOperation)
  public mutating func record(
    _ edit: Operation, on document: Operation.Content, selection: Selection? = nil,
    milliseconds: Int64 = 0
  ) throws(OperationError) {
    try check(edit.baseLength)
    let inverse = try edit.inverted(on: document)
    guard !edit.isIdentity else { return }
    // A change of attributes is a step of its own.
    let attributes = edit.writtenAttributes
    let change = attributes == nil ? nil : OneChange(of: edit.text)
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
  /// - Parameter operation: What is applied to the user's text: what
  ///   ``Synchronizer/receive(_:revision:)`` returns.
  /// - Throws: `lengthMismatch` when it does not start from the user's text.
  /// - Complexity: O(steps kept × components).
  @specialized(where Operation == TextOperation)
  @specialized(where Operation == RichOperation)
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

  /// Takes back the newest step of which something is left.
  ///
  /// - Parameters:
  ///   - document: The text as it is.
  ///   - selection: The selection as it is, which redoing restores.
  /// - Returns: what to do; `nil` when there is nothing.
  /// - Throws: `lengthMismatch` when the document is not the one that the history knows.
  public mutating func undo(
    on document: Operation.Content, selection: Selection? = nil
  ) throws(OperationError) -> Step? {
    try Self.step(from: &undos, to: &redos, on: document, selection: selection, run: &run)
  }

  /// Does again what the last undo took back.
  ///
  /// - Parameters:
  ///   - document: The text as it is.
  ///   - selection: The selection as it is, which undoing restores.
  /// - Returns: what to do; `nil` when there is nothing.
  /// - Throws: `lengthMismatch` when the document is not the one that the history knows.
  public mutating func redo(
    on document: Operation.Content, selection: Selection? = nil
  ) throws(OperationError) -> Step? {
    try Self.step(from: &redos, to: &undos, on: document, selection: selection, run: &run)
  }

  /// The next edit is a step of its own.
  public mutating func endRun() { run = nil }

  /// Forgets everything.
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
    // Of some, nothing may be left: they stay, and are skipped when their turn comes.
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

/// An edit at one place of a text.
private struct OneChange {
  var position = 0
  var inserted = 0
  var deleted = 0

  /// The end of the edit, in the text that it leaves.
  var end: Int { position + inserted }

  /// `nil` when the operation changes several places, or none.
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

  /// Whether this carries on what ended at this place: writing on after it, or deleting on before or
  /// after it.
  func continues(_ place: Int, _ isWriting: Bool) -> Bool {
    if isWriting { return deleted == 0 && position == place }
    return inserted == 0 && (position == place || position + deleted == place)
  }
}

extension TextOperation {
  /// The caret behind the last thing that changed.
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
