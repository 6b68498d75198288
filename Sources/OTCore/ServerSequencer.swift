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
  /// The text at ``revision``, with its attributes.
  public private(set) var content: RichDocument
  /// The text at ``durableRevision``, with its attributes.
  public private(set) var durableContent: RichDocument
  /// Operations that end at ``revision``, oldest first, behind those that were trimmed.
  private var operations: [TextOperation]
  /// The format of each operation; empty while none has one.
  private var formats: [Format?] = []
  /// The newest revision that has had a format.
  private var formattedRevision = 0
  /// The number of trimmed operations that are still in front, without content.
  private var trimmed = 0

  /// - Parameter recent: the newest operations, ending at `revision`.
  public init(document: Document, revision: Int, recent: [TextOperation] = []) {
    self.init(content: RichDocument(document), revision: revision, recent: recent)
  }

  /// The same for a text with attributes.
  ///
  /// - Parameter formats: The format of each of `recent`; empty when none has one.
  public init(
    content: RichDocument, revision: Int, recent: [TextOperation] = [], formats: [Format?] = []
  ) {
    Self.check(formats, of: recent)
    self.content = content
    self.revision = revision
    durableContent = content
    durableRevision = revision
    operations = recent
    self.formats = formats
    formattedRevision = formats.isEmpty ? 0 : revision
  }

  private static func check(_ formats: [Format?], of operations: [TextOperation]) {
    precondition(
      formats.isEmpty || formats.count == operations.count,
      "\(formats.count) formats of \(operations.count) operations")
  }

  /// The text at ``revision``.
  public var document: Document { content.text }

  /// The text at ``durableRevision``.
  public var durableDocument: Document { durableContent.text }

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
    try check(base)
    var rebased = operation
    do throws(OperationError) {
      try rebased.rebase(over: operations(after: base), side: .right)
      try content.apply(rebased)
    } catch {
      throw .operation(error)
    }
    rebased.pack()
    append(rebased, nil)
    return rebased
  }

  /// Rebases a change with formatting, applies it and appends it.
  ///
  /// - Parameter growth: What its author's client does with formatting; see ``RichOperation/Growth``.
  /// - Returns: the rebased operation, as it is in the order.
  /// - Throws: `SequencerError`; nothing has changed then.
  /// - Complexity: as ``submit(_:at:)``, and for an operation with spans O(*spans*) for each operation
  ///   since its base revision.
  public mutating func submit(
    _ operation: RichOperation, at base: Int, growth: RichOperation.Growth = .grows
  ) throws(SequencerError) -> RichOperation {
    try check(base)
    var rebased = operation
    do throws(OperationError) {
      try rebased.rebase(
        over: operations(after: base), formats: formats(after: base), side: .right, growth: growth)
      try content.apply(rebased)
    } catch {
      throw .operation(error)
    }
    rebased.text.pack()
    append(rebased.text, rebased.format)
    return rebased
  }

  private func check(_ base: Int) throws(SequencerError) {
    guard base >= 0 else { throw .negativeRevision(base) }
    guard base <= revision else { throw .futureRevision(head: revision, found: base) }
    guard base >= oldestBase else { throw .historyGone(oldestBase: oldestBase) }
  }

  private mutating func append(_ operation: TextOperation, _ format: Format?) {
    revision += 1
    if format != nil {
      if formats.isEmpty { formats = Array(repeating: nil, count: operations.count) }
      formattedRevision = revision
    }
    operations.append(operation)
    if format != nil || !formats.isEmpty { formats.append(format) }
  }

  /// Everything up to this revision is on disk.
  public mutating func markDurable(through newDurable: Int) {
    precondition(
      durableRevision...revision ~= newDurable,
      "durable revision \(newDurable) outside \(durableRevision)...\(revision)")
    if newDurable == revision {
      durableContent = content
    } else {
      for revision in durableRevision..<newDurable {
        do throws(OperationError) {
          try durableContent.apply(operation(after: revision))
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
    if !formats.isEmpty { formats.removeLast(revision - durableRevision) }
    revision = durableRevision
    content = durableContent
  }

  /// The operations after a revision, oldest first.
  ///
  /// - Precondition: `oldestBase <= revision <= self.revision`.
  public func operations(after revision: Int) -> ArraySlice<TextOperation> {
    operations[index(after: revision)...]
  }

  /// The formats of the operations after a revision, oldest first; empty when none has one.
  ///
  /// - Precondition: `oldestBase <= revision <= self.revision`.
  public func formats(after revision: Int) -> ArraySlice<Format?> {
    revision < formattedRevision && !formats.isEmpty ? formats[index(after: revision)...] : []
  }

  /// The operation that follows a revision.
  private func operation(after revision: Int) -> RichOperation {
    let index = index(after: revision)
    return RichOperation(
      text: operations[index], format: formats.isEmpty ? nil : formats[index])
  }

  private func index(after revision: Int) -> Int { trimmed + revision - oldestBase }

  /// Holds no more than the newest operations; tentative ones always stay.
  ///
  /// - Complexity: O(1) amortised for each operation that goes.
  public mutating func trim(keeping count: Int) {
    let first = operations.count - max(count, revision - durableRevision)
    while trimmed < first {
      operations[trimmed] = TextOperation()
      if !formats.isEmpty { formats[trimmed] = nil }
      trimmed += 1
    }
    // Moves at most as many as have gone since the last time.
    if trimmed > operations.count / 2 { removeTrimmed() }
  }

  private mutating func removeTrimmed() {
    operations.removeFirst(trimmed)
    if !formats.isEmpty { formats.removeFirst(trimmed) }
    trimmed = 0
  }

  /// Puts older operations, ending at ``oldestBase``, before those held.
  ///
  /// - Parameter olderFormats: The format of each; empty when none has one.
  public mutating func prepend(_ older: [TextOperation], formats olderFormats: [Format?] = []) {
    Self.check(olderFormats, of: older)
    removeTrimmed()
    if !olderFormats.isEmpty || !formats.isEmpty {
      if formats.isEmpty { formats = Array(repeating: nil, count: operations.count) }
      let none = [Format?](repeating: nil, count: older.count)
      formats.insert(contentsOf: olderFormats.isEmpty ? none : olderFormats, at: 0)
      formattedRevision = max(formattedRevision, oldestBase)
    }
    operations.insert(contentsOf: older, at: 0)
  }
}
