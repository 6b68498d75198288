import OTCore
import SocketMessages

// Edits of the person, the history that undoes them, and formatting.

extension NoteMachine {
  // MARK: Edits

  mutating func edit(_ edit: RichOperation, _ turn: inout Turn) {
    guard let length = replica?.local.text.scalarCount, edit.baseLength == length else {
      return misfit(&turn)
    }
    guard mayFormat(edit, turn) else {
      let text = RichOperation(edit.text)
      if !text.isIdentity { make(text, isStep: false, &turn) }
      // The screen shows formatting that the note cannot have.
      return misfit(&turn)
    }
    make(edit, isStep: false, &turn)
  }

  /// Whether the note accepts an edit's formatting.
  private func mayFormat(_ edit: RichOperation, _ turn: Turn) -> Bool {
    if edit.format == nil, !edit.makesRich { return true }
    return knowsFormats && turn.hasFormats && (edit.makesRich || kind == .rich)
  }

  /// Applies an edit that fits the text, and sends it.
  ///
  /// - Parameter isStep: Whether the history has returned it.
  private mutating func make(_ operation: RichOperation, isStep: Bool, _ turn: inout Turn) {
    if !isStep { record(operation, turn) }
    guard (try? replica?.local.apply(operation)) != nil else { return misfit(&turn) }
    let change: RichSynchronizer.Change?
    do throws(SynchronizerError) {
      change = try replica?.synchronizer.edit(operation)
    } catch {
      return misfit(&turn)
    }
    movePeople(over: operation.text, by: nil, isOwn: true)
    selectionIsUnsent = true
    if operation.makesRich, serverKind == .plain {
      makesRich = true
      tellKind(&turn)
    }
    transmit(change, &turn)
    unconfirmedMoved(&turn)
  }

  /// Restarts the screen from the known edits, because it shows another text than this note's.
  private mutating func misfit(_ turn: inout Turn) {
    tell(.misfit, &turn)
    guard let held = replica else { return }
    var content = held.server
    if let pending = held.synchronizer.pending { try? content.apply(pending) }
    replica?.local = content
    tell(.reset(content), &turn)
  }

  // MARK: The history

  private mutating func record(_ operation: RichOperation, _ turn: Turn) {
    guard history != nil, let content = replica?.local else { return }
    try? history?.record(
      operation, on: content, selection: selections.first, milliseconds: turn.now)
  }

  /// Undoes or redoes a step.
  mutating func step(isRedo: Bool, _ turn: inout Turn) {
    guard access == .write, let content = replica?.local else { return }
    let selection = selections.first
    let found =
      isRedo
      ? try? history?.redo(on: content, selection: selection)
      : try? history?.undo(on: content, selection: selection)
    guard let step = found ?? nil else { return }
    var operation = step.operation
    // The server may have lost the change that made the note a rich one.
    if let format = operation.format, kind == .plain {
      operation = RichOperation(operation.text, ChangeFormat(format, makesRich: true))
    }
    tell(.step(operation, selection: step.selection), &turn)
    make(operation, isStep: true, &turn)
    select([step.selection], &turn)
  }

  // MARK: Kinds

  /// The note's kind, including unconfirmed edits.
  var kind: NoteKind { serverKind == .rich || makesRich ? .rich : .plain }

  /// The server's note has this kind.
  ///
  /// A rich note is a plain one again if the server has lost the change that made it a rich one.
  /// Unconfirmed formatting then makes it a rich one as the first formatting has: nothing typed is
  /// lost, and nothing is refused.
  mutating func become(_ kind: NoteKind, _ turn: inout Turn) {
    if kind == .plain, serverKind == .rich, turn.hasFormats,
      replica?.synchronizer.makeRichAgain() ?? false
    {
      makesRich = true
    }
    serverKind = kind
    if kind == .rich { makesRich = false }
    tellKind(&turn)
  }

  mutating func tellKind(_ turn: inout Turn) {
    guard kind != reportedKind else { return }
    reportedKind = kind
    tell(.kind(kind), &turn)
  }

  /// Returns a whole text of the server.
  @inline(never)
  func content(
    _ text: String, _ format: FormatJSON?
  ) throws(SynchronizerError) -> RichDocument {
    guard knowsFormats, let format else { return RichDocument(Document(text)) }
    do throws(OperationError) {
      return try format.document(of: Document(text))
    } catch {
      throw .operation(error)
    }
  }

  /// Returns a change of the server as an operation.
  @inline(never)
  func operation(
    of change: ServerMessage.Change
  ) throws(SynchronizerError) -> RichOperation {
    guard knowsFormats, let format = change.format else { return RichOperation(change.operation) }
    do throws(OperationError) {
      // Changes that were merged may have more sets than one that a client sends.
      return RichOperation(
        change.operation,
        try ChangeFormat(json: format.utf8, of: change.operation, setsMax: .max))
    } catch {
      throw .operation(error)
    }
  }

  /// Removes all formatting if the server does not know it: the note is a plain one there. The text
  /// remains.
  mutating func dropFormatsUnlessKnown(_ turn: inout Turn) {
    guard !turn.hasFormats, kind == .rich, var replica else { return }
    replica.synchronizer.dropFormats()
    replica.server = RichDocument(replica.server.text)
    replica.local = RichDocument(replica.local.text)
    self.replica = replica
    makesRich = false
    history?.removeAll()
    keeping.goBeyond()
    become(.plain, &turn)
    tell(.reset(replica.local), &turn)
  }

  /// The app shows formatting from now on.
  mutating func learnFormats(_ turn: inout Turn) {
    knowsFormats = true
    history = RichUndoHistory()
    if phase == .live { joinForFormats(&turn) }
  }

  /// Whether a join's answer has changes of a rich text whose attributes are not known here.
  func needsFormats(_ joined: ServerMessage.Joined) -> Bool {
    guard knowsFormats, joined.kind == .rich, replica?.hasFormats == false else { return false }
    if case .changes = joined.content { return true }
    return false
  }

  /// Joins again, because the last join did not request formatting.
  mutating func joinForFormats(_ turn: inout Turn) {
    replica?.synchronizer.disconnect()
    join(fresh: serverKind == .rich, &turn)
  }
}
