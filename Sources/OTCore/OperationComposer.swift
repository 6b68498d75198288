/// Composes a long run of operations, one after the other, in O(*n* log *n*).
///
/// Composing into one growing operation walks it again for each. This keeps a few operations whose
/// lengths double, like the digits of a counter, and composes two only when they are about alike;
/// and what is typed in one place is gathered before any of that.
///
/// The result has the same effect as composing from left to right. An insert and a delete at one
/// place may stand in another order than there.
public struct OperationComposer: Sendable {
  /// The length that the run applies to, in Unicode scalars.
  public let baseLength: Int
  /// The length that the run leaves so far.
  public private(set) var targetLength: Int
  /// Composed parts, each of about twice the weight of the next.
  private var parts: [TextOperation] = []
  /// The edits gathered: at one place of a text of this length, so much deleted, and this inserted.
  private var runBase = 0
  private var runStart = 0
  private var runDeleted = 0
  private var runText: [UInt8] = []
  private var runScalars = 0
  private var hasRun = false

  /// Begins with nothing done.
  public init(baseLength: Int) {
    self.baseLength = baseLength
    targetLength = baseLength
  }

  /// Puts an operation behind those before.
  ///
  /// - Throws: `lengthMismatch` when it does not start from ``targetLength``.
  /// - Complexity: O(log *n*) amortised for one edit.
  public mutating func append(_ operation: TextOperation) throws(OperationError) {
    guard operation.baseLength == targetLength else {
      throw .lengthMismatch(expected: targetLength, found: operation.baseLength)
    }
    targetLength = operation.targetLength
    if operation.block == nil {
      if gather(operation.edit) { return }
      try flush()
      begin(operation)
    } else {
      try flush()
      try add(operation)
    }
  }

  /// The whole run as one operation.
  public func finished() throws(OperationError) -> TextOperation {
    var copy = self
    try copy.flush()
    guard var result = copy.parts.popLast() else { return .identity(length: baseLength) }
    while let part = copy.parts.popLast() { result = try part.composed(with: result) }
    return result
  }

  private mutating func begin(_ operation: TextOperation) {
    let edit = operation.edit
    guard edit.deleted > 0 || edit.bytes > 0 else { return }
    hasRun = true
    runBase = edit.baseLength
    runStart = Int(edit.prefix)
    runDeleted = Int(edit.deleted)
    runScalars = Int(edit.scalars)
    runText.removeAll(keepingCapacity: true)
    operation.withPacked { _, text in runText.append(contentsOf: text) }
  }

  /// Takes an edit into the run when it touches it.
  @inline(__always)
  private mutating func gather(_ edit: InlineEdit) -> Bool {
    guard hasRun else { return false }
    let deleted = Int(edit.deleted)
    let start = Int(edit.prefix)
    var offset = start - runStart
    if offset < 0 {
      // A deletion backwards into what stands before.
      guard start + deleted >= runStart else { return false }
      runStart = start
      runDeleted -= offset
      let inside = min(deleted + offset, runScalars)
      removeText(0, inside)
      runDeleted += deleted + offset - inside
      offset = 0
    } else {
      guard offset <= runScalars else { return false }
      let inside = min(deleted, runScalars - offset)
      removeText(offset, inside)
      runDeleted += deleted - inside
    }
    let count = Int(edit.bytes)
    if count > 0 {
      let place =
        offset == runScalars
        ? runText.count
        : runText.count == runScalars
          ? offset
          : runText.withUnsafeBufferPointer {
            $0.baseAddress.unsafelyUnwrapped.byteCount(ofScalars: offset, limit: $0.count)
          }
      var text = edit.text
      withUnsafeBytes(of: &text) { text in
        let new = UnsafeRawBufferPointer(rebasing: text[..<count])
        if place == runText.count {
          runText.append(contentsOf: new)
        } else {
          runText.insert(contentsOf: new, at: place)
        }
      }
      runScalars += Int(edit.scalars)
    }
    return true
  }

  private mutating func removeText(_ offset: Int, _ count: Int) {
    guard count > 0 else { return }
    if runText.count == runScalars {
      runText.removeSubrange(offset..<(offset + count))
    } else {
      let range = runText.withUnsafeBufferPointer { text in
        let base = text.baseAddress.unsafelyUnwrapped
        let start = base.byteCount(ofScalars: offset, limit: text.count)
        return start..<start
          + (base + start).byteCount(ofScalars: count, limit: text.count - start)
      }
      runText.removeSubrange(range)
    }
    runScalars -= count
  }

  private mutating func flush() throws(OperationError) {
    guard hasRun else { return }
    hasRun = false
    var operation = TextOperation()
    operation.retain(runStart)
    runText.withUnsafeBufferPointer { operation.insertValid($0) }
    operation.delete(runDeleted)
    operation.retain(runBase - runStart - runDeleted)
    try add(operation)
  }

  private mutating func add(_ operation: TextOperation) throws(OperationError) {
    var operation = operation
    while let last = parts.last, last.weight <= 2 * operation.weight {
      parts.removeLast()
      operation = try last.composed(with: operation)
    }
    parts.append(operation)
  }
}

extension TextOperation {
  /// What a walk over it costs: components, and text by the line of memory.
  fileprivate var weight: Int { componentCount + insertedBytes / 64 }
}
