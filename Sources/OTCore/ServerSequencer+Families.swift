/// The rebasing of operations of clients with other rules.
extension ServerSequencer {
  /// Returns the entries after a revision in the form of a family.
  ///
  /// - Parameter view: The view of all durable entries, for families that count in UTF-16.
  /// - Throws: `historyGone` if the view begins later.
  public func history(
    after base: Int, by rules: FamilyRules, in view: FamilyView? = nil
  ) throws(SequencerError) -> ArraySlice<TextOperation> {
    guard base >= 0 else { throw .negativeRevision(base) }
    guard base <= revision else { throw .futureRevision(head: revision, found: base) }
    guard base >= oldestBase else { throw .historyGone(oldestBase: oldestBase) }
    guard rules.unit == .utf16 else {
      let entries = operations(after: base)
      guard rules.order == .insertFirst, !entries.allSatisfy({ $0.isInsertFirst }) else {
        return entries
      }
      return entries.map { $0.insertingFirst() }[...]
    }
    if base == revision { return [] }
    guard let view, view.oldestBase <= base else {
      throw .historyGone(oldestBase: view?.oldestBase ?? revision)
    }
    var history = view.operations(after: min(base, view.revision))
    // Tentative entries are converted here: they may be withdrawn.
    var text = durableDocument
    do throws(OperationError) {
      for (index, entry) in operations(after: durableRevision).enumerated() {
        if durableRevision + index >= base {
          history.append(try FamilyView.form(of: entry, on: text, by: rules))
        }
        try text.apply(entry)
      }
    } catch {
      throw .operation(error)
    }
    return history
  }

  /// Returns an operation of a family's client as it applies to the head, counted in scalars.
  ///
  /// - Parameters:
  ///   - base: The revision to which the operation applies.
  ///   - view: The view of the durable entries, for families that count in UTF-16.
  /// - Throws: `SequencerError`. A position inside a surrogate pair is a `malformed` operation.
  /// - Complexity: As ``submit(_:at:)``.
  public func rebased(
    _ operation: TextOperation, at base: Int, by rules: FamilyRules, in view: FamilyView? = nil
  ) throws(SequencerError) -> TextOperation {
    let history = try history(after: base, by: rules, in: view)
    do throws(OperationError) {
      let own = complete(operation, before: history, by: rules)
      let rebased = try own.rebased(over: history, by: rules)
      guard rules.unit == .utf16 else { return rebased }
      guard let scalars = try rebased.inScalars(on: document) else {
        throw .malformed(offset: 0)
      }
      return scalars
    } catch {
      throw .operation(error)
    }
  }

  /// Returns the revision of the entry that an operation repeats, for clients that do not number
  /// their operations.
  ///
  /// A client has one operation in flight, and transforms it over each entry that it receives. If
  /// an entry after `base` has the same author, the client has not received it, so an operation at
  /// `base` can only be that entry, sent again. It is, if it equals the entry after it is rebased
  /// over the entries between.
  ///
  /// - Parameter isOwn: Whether the entry of a revision may be the client's, by its author.
  /// - Returns: `nil` if the operation is a new one.
  public func repetition(
    of operation: TextOperation, at base: Int, by rules: FamilyRules, in view: FamilyView? = nil,
    isOwn: (Int) -> Bool
  ) throws(SequencerError) -> Int? {
    let history = try history(after: base, by: rules, in: view)
    var own = complete(operation, before: history, by: rules)
    let last = history.indices.last { isOwn(base + 1 + $0 - history.startIndex) }
    guard let last else { return nil }
    do throws(OperationError) {
      for index in history.startIndex...last {
        let revision = base + 1 + index - history.startIndex
        if isOwn(revision), own == history[index] { return revision }
        own = try own.rebased(over: history[index...index], by: rules)
      }
    } catch {
      throw .operation(error)
    }
    return nil
  }

  /// Returns an operation that covers its whole base text, with its components in the family's
  /// order.
  private func complete(
    _ operation: TextOperation, before history: ArraySlice<TextOperation>, by rules: FamilyRules
  ) -> TextOperation {
    let ordered = rules.order == .insertFirst ? operation.insertingFirst() : operation
    guard rules.isOpenEnded else { return ordered }
    let head = rules.unit == .utf16 ? document.utf16Count : document.scalarCount
    return ordered.retainingRest(of: history.first?.baseLength ?? head)
  }
}

extension TextOperation {
  /// Returns this operation as it applies after a history, by the rules of its client's family.
  ///
  /// - Parameter history: Consecutive operations in the family's form; the first has this one's
  ///   base.
  public func rebased(
    over history: ArraySlice<TextOperation>, by rules: FamilyRules
  ) throws(OperationError) -> TextOperation {
    guard rules.order == .insertFirst else { return try rebased(over: history, side: rules.side) }
    var result = self
    for entry in history {
      // A deleted text may bring a delete and an insert together.
      result = try result.transformed(over: entry, side: rules.side).insertingFirst()
    }
    return result
  }
}
