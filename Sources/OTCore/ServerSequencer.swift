/// Why a change could not be put into a document's order.
public enum SequencerError: Error, Sendable, Equatable {
  /// The base revision lies ahead of the head.
  case futureRevision(head: Int, found: Int)
  /// The base revision is below zero.
  case negativeRevision(Int)
  /// The operations since the base revision are no longer held; the oldest possible base is named.
  case historyGone(oldestBase: Int)
  /// The operation itself does not fit.
  case operation(OperationError)
}

/// Puts the changes of many clients into one order.
///
/// A change is rebased over everything committed since its base revision, one operation after the
/// other (never over their composition, which is not the same), with the committed inserts on the
/// left. What is appended is tentative until ``markDurable(through:)``; ``rollBack()`` takes the
/// tentative part back.
public struct ServerSequencer: Sendable {
  /// The newest revision, tentative ones included.
  public private(set) var revision: Int
  /// The newest durable revision.
  public private(set) var durableRevision: Int
  /// The text at ``revision``.
  public private(set) var document: Document
  /// The text at ``durableRevision``.
  public private(set) var durableDocument: Document
  /// Operations that end at ``revision``, oldest first, behind those that were trimmed.
  private var operations: [TextOperation]
  /// The number of trimmed operations that are still in front, without content.
  private var trimmed = 0

  /// - Parameter recent: the newest operations, ending at `revision`.
  public init(document: Document, revision: Int, recent: [TextOperation] = []) {
    self.document = document
    self.revision = revision
    durableDocument = document
    durableRevision = revision
    operations = recent
  }

  /// The oldest revision that a change can be based on.
  public var oldestBase: Int { revision - (operations.count - trimmed) }

  /// The number of components of the operations after a revision, all together.
  ///
  /// - Parameter most: The number beyond which the rest is not counted.
  /// - Precondition: `oldestBase <= revision <= self.revision`.
  /// - Complexity: O(operations after the revision), and no more than `most`.
  package func components(after revision: Int, atMost most: Int) -> Int {
    var count = 0
    for operation in operations(after: revision).reversed() {
      count += operation.componentCount
      if count > most { break }
    }
    return count
  }

  /// Rebases a change, applies it and appends it.
  ///
  /// - Returns: the rebased operation, as it is in the order.
  /// - Throws: `SequencerError`; nothing has changed then.
  /// - Complexity: O(components of the change and of all operations since its base revision) when
  ///   these lie near each other; see ``TextOperation/rebase(over:side:)``.
  public mutating func submit(
    _ operation: TextOperation, at base: Int
  ) throws(SequencerError) -> TextOperation {
    guard base >= 0 else { throw .negativeRevision(base) }
    guard base <= revision else { throw .futureRevision(head: revision, found: base) }
    guard base >= oldestBase else { throw .historyGone(oldestBase: oldestBase) }
    var rebased = operation
    do throws(OperationError) {
      try rebased.rebase(over: operations(after: base), side: .right)
      try document.apply(rebased)
    } catch {
      throw .operation(error)
    }
    rebased.pack()
    operations.append(rebased)
    revision += 1
    return rebased
  }

  /// Everything up to this revision is on disk.
  public mutating func markDurable(through newDurable: Int) {
    precondition(
      durableRevision...revision ~= newDurable,
      "durable revision \(newDurable) outside \(durableRevision)...\(revision)")
    if newDurable == revision {
      durableDocument = document
    } else {
      for operation in operations(after: durableRevision).dropLast(revision - newDurable) {
        do throws(OperationError) {
          try durableDocument.apply(operation)
        } catch {
          preconditionFailure("a stored operation does not apply to its revision")
        }
      }
    }
    durableRevision = newDurable
  }

  /// Forgets all that is tentative.
  public mutating func rollBack() {
    operations.removeLast(revision - durableRevision)
    revision = durableRevision
    document = durableDocument
  }

  /// The operations after a revision, oldest first.
  ///
  /// - Precondition: `oldestBase <= revision <= self.revision`.
  public func operations(after revision: Int) -> ArraySlice<TextOperation> {
    operations[(trimmed + revision - oldestBase)...]
  }

  /// Holds no more than the newest operations; tentative ones always stay.
  ///
  /// - Complexity: O(1) amortised for each operation that goes.
  public mutating func trim(keeping count: Int) {
    let first = operations.count - max(count, revision - durableRevision)
    while trimmed < first {
      operations[trimmed] = TextOperation()
      trimmed += 1
    }
    // Moves at most as many as have gone since the last time.
    if trimmed > operations.count / 2 { removeTrimmed() }
  }

  private mutating func removeTrimmed() {
    operations.removeFirst(trimmed)
    trimmed = 0
  }

  /// Puts older operations, ending at ``oldestBase``, before those held.
  public mutating func prepend(_ older: [TextOperation]) {
    removeTrimmed()
    operations.insert(contentsOf: older, at: 0)
  }
}
