/// The reason why a change could not be added to a document's order.
public enum SequencerError: Error, Sendable, Equatable {
  /// The base revision is after the head.
  case futureRevision(head: Int, found: Int)
  /// The base revision is negative.
  case negativeRevision(Int)
  /// The operations since the base revision are no longer in memory. The oldest possible base is
  /// given.
  case historyGone(oldestBase: Int)
  /// The operation does not fit its base.
  case operation(OperationError)
}

/// Adds the changes of many clients to one order.
///
/// A change is rebased over every operation committed since its base revision, one after the other
/// (never over their composition, whose result differs), with the committed inserts on the left.
/// New revisions are tentative until ``markDurable(through:)``; ``rollBack()`` removes the
/// tentative ones. `oldestBase` ≤ `revision`, and `durableRevision` ≤ `revision`.
public struct ServerSequencer: Sendable {
  /// The newest revision, tentative ones included.
  public private(set) var revision: Int
  /// The newest durable revision.
  public private(set) var durableRevision: Int
  /// The text at ``revision``, with its attributes.
  public private(set) var content: RichDocument
  /// The text at ``durableRevision``, with its attributes.
  public private(set) var durableContent: RichDocument
  /// The operations up to ``revision``, oldest first, after the trimmed ones.
  private var operations: [TextOperation]
  /// The format of each operation; empty if none has one.
  private var formats: [Format?] = []
  /// The newest revision that had a format.
  private var formattedRevision = 0
  /// The number of trimmed operations that are still in front, as empty operations.
  private var trimmed = 0

  /// Creates a sequencer of a plain text.
  ///
  /// - Parameter recent: The newest operations, up to `revision`.
  public init(document: Document, revision: Int, recent: [TextOperation] = []) {
    self.init(content: RichDocument(document), revision: revision, recent: recent)
  }

  /// Creates a sequencer of a text with attributes.
  ///
  /// - Parameter formats: The format of each of `recent`; empty if none has one.
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

  /// The oldest revision on which a change can be based.
  public var oldestBase: Int { revision - (operations.count - trimmed) }

  /// Returns the total number of components of the operations after a revision, formats included.
  ///
  /// - Parameter most: Counting stops once this number is exceeded.
  /// - Precondition: `oldestBase <= revision <= self.revision`.
  /// - Complexity: O(operations after the revision), and at most O(`most`).
  package func components(after revision: Int, atMost most: Int) -> Int {
    var count = 0
    let operations = operations(after: revision)
    let formats = formats(after: revision)
    let shift = formats.startIndex - operations.startIndex
    for index in operations.indices.reversed() {
      count += operations[index].componentCount
      if !formats.isEmpty { count += formats[index + shift]?.componentCount ?? 0 }
      if count > most { break }
    }
    return count
  }

  /// Rebases a change, applies it and appends it.
  ///
  /// - Returns: The rebased operation.
  /// - Throws: `SequencerError`. Nothing changes then.
  /// - Complexity: O(components of the change and of all operations since its base revision) if
  ///   these are near each other; see ``TextOperation/rebase(over:side:)``.
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
  /// - Parameters:
  ///   - growth: The rule of the author's client; see ``RichOperation/Growth``.
  ///   - limits: The limits of the document's formatting.
  /// - Returns: The rebased operation.
  /// - Throws: `SequencerError`. Nothing changes then.
  /// - Complexity: As ``submit(_:at:)``; with spans, O(*spans*) more for each operation since the
  ///   base revision.
  public mutating func submit(
    _ operation: RichOperation, at base: Int, growth: RichOperation.Growth = .grows,
    within limits: FormatLimits = FormatLimits()
  ) throws(SequencerError) -> RichOperation {
    try check(base)
    var rebased = operation
    do throws(OperationError) {
      try rebased.rebase(
        over: operations(after: base), formats: formats(after: base), side: .right, growth: growth)
      try content.apply(rebased, within: limits)
    } catch {
      throw .operation(error)
    }
    rebased.text.pack()
    append(rebased.text, rebased.format)
    return rebased
  }

  /// Rebases a change of a client that knows only text, and appends it: its inserted text takes
  /// attributes of the text around it at the head; see ``RichOperation/init(_:inheritingFrom:)``.
  ///
  /// Attributes that would exceed the limits are left out.
  ///
  /// - Returns: The rebased operation with its attributes.
  /// - Throws: As ``submit(_:at:)``.
  /// - Complexity: As ``submit(_:at:)``, and O(log *document*) for each component.
  public mutating func submit(
    inheriting operation: TextOperation, at base: Int, within limits: FormatLimits = FormatLimits()
  ) throws(SequencerError) -> RichOperation {
    try check(base)
    var result: RichOperation
    do throws(OperationError) {
      let rebased = try operation.rebased(over: operations(after: base), side: .right)
      result = RichOperation(rebased, inheritingFrom: content)
      do throws(OperationError) {
        try content.apply(result, within: limits)
      } catch .tooManySets, .tooManyRuns {
        result = RichOperation(rebased)
        try content.apply(rebased)
      }
    } catch {
      throw .operation(error)
    }
    result.text.pack()
    append(result.text, result.format)
    return result
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

  /// Records that all revisions up to this one are on disk.
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

  /// Removes all tentative revisions.
  public mutating func rollBack() {
    operations.removeLast(revision - durableRevision)
    if !formats.isEmpty { formats.removeLast(revision - durableRevision) }
    revision = durableRevision
    content = durableContent
  }

  /// Returns the operations after a revision, oldest first.
  ///
  /// - Precondition: `oldestBase <= revision <= self.revision`.
  public func operations(after revision: Int) -> ArraySlice<TextOperation> {
    operations[index(after: revision)...]
  }

  /// Returns the formats of the operations after a revision, oldest first; empty if none has one.
  ///
  /// - Precondition: `oldestBase <= revision <= self.revision`.
  public func formats(after revision: Int) -> ArraySlice<Format?> {
    revision < formattedRevision && !formats.isEmpty ? formats[index(after: revision)...] : []
  }

  /// Returns the operation that follows a revision.
  private func operation(after revision: Int) -> RichOperation {
    let index = index(after: revision)
    return RichOperation(
      text: operations[index], format: formats.isEmpty ? nil : formats[index])
  }

  private func index(after revision: Int) -> Int { trimmed + revision - oldestBase }

  /// Retains only the newest operations; tentative ones are always retained.
  ///
  /// - Complexity: O(1) amortised for each removed operation.
  public mutating func trim(keeping count: Int) {
    let first = operations.count - max(count, revision - durableRevision)
    while trimmed < first {
      operations[trimmed] = TextOperation()
      if !formats.isEmpty { formats[trimmed] = nil }
      trimmed += 1
    }
    // Moves at most as many operations as were trimmed since the last move.
    if trimmed > operations.count / 2 { removeTrimmed() }
  }

  private mutating func removeTrimmed() {
    operations.removeFirst(trimmed)
    if !formats.isEmpty { formats.removeFirst(trimmed) }
    trimmed = 0
  }

  /// Prepends older operations, which end at ``oldestBase``.
  ///
  /// - Parameter olderFormats: The format of each; empty if none has one.
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
