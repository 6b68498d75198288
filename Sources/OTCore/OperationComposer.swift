/// Composes a long run of operations, one after the other, in O(*n* log *n*).
///
/// Composing into one growing operation walks it again for each. This gathers edits in a buffer of
/// limited size, where one near the last costs little. Full buffers become parts, and two parts
/// are composed only when they are about alike, like the digits of a counter.
///
/// The result has the same effect as composing from left to right. An insert and a delete at one
/// place may be in the opposite order.
public struct OperationComposer: ~Copyable, @unchecked Sendable {
  // Unchecked, for the buffer's memory belongs to this one value.

  /// The length that the run applies to, in Unicode scalars.
  public let baseLength: Int
  /// Composed parts, each of about twice the weight of the next.
  private var parts: [TextOperation] = []
  private var buffer: CompositionBuffer
  /// The words at which a buffer is full: an edit moves no more than this.
  private static let wordsMax = 1024
  private static let textMax = 1 << 16

  /// Begins with nothing done.
  public init(baseLength: Int) {
    self.baseLength = baseLength
    buffer = CompositionBuffer(baseLength: baseLength)
  }

  /// The length that the run leaves so far.
  public var targetLength: Int { buffer.targetLength }

  /// Puts an operation behind those before.
  ///
  /// - Throws: `lengthMismatch` when it does not start from ``targetLength``.
  /// - Complexity: O(log *n*) amortised for one edit.
  public mutating func append(_ operation: TextOperation) throws(OperationError) {
    guard operation.baseLength == buffer.targetLength else {
      throw .lengthMismatch(expected: buffer.targetLength, found: operation.baseLength)
    }
    if operation.block == nil {
      buffer.append(operation.edit)
    } else if operation.componentCount > Self.wordsMax / 4
      || operation.insertedBytes > Self.textMax / 4
    {
      try flush()
      try add(operation)
      buffer.reset(baseLength: operation.targetLength)
    } else {
      buffer.append(operation)
    }
    if buffer.wordCount > Self.wordsMax || buffer.textCount > Self.textMax { try flush() }
  }

  /// The whole run as one operation.
  public consuming func finished() throws(OperationError) -> TextOperation {
    var result = buffer.composed()
    for part in parts.reversed() { result = try part.composed(with: result) }
    return result
  }

  private mutating func flush() throws(OperationError) {
    let operation = buffer.composed()
    if !operation.isIdentity { try add(operation) }
    buffer.reset(baseLength: operation.targetLength)
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
