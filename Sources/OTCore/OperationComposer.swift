/// A composer of many consecutive operations in O(*n* log *n*).
///
/// Composing into one growing operation would walk it again for each. This composes edits in a
/// buffer of limited size, in which an edit near the last one is cheap. Full buffers become parts,
/// and two parts are composed only when they have similar sizes, like the digits of a counter.
///
/// The result has the same effect as composing from left to right; an insert and a delete at one
/// position may be in the opposite order.
public struct OperationComposer: ~Copyable, @unchecked Sendable {
  // Unchecked: the buffer's memory belongs to this value alone.

  /// The base length of the result, in Unicode scalars.
  public let baseLength: Int
  /// Composed parts; each is more than twice as heavy as the next.
  private var parts: [TextOperation] = []
  private var buffer: CompositionBuffer
  /// The number of words at which the buffer is full: an edit moves at most so many.
  private static let wordsMax = 1024
  private static let textMax = 1 << 16

  /// Creates a composer without operations.
  public init(baseLength: Int) {
    self.baseLength = baseLength
    buffer = CompositionBuffer(baseLength: baseLength)
  }

  /// The target length of the operations so far.
  public var targetLength: Int { buffer.targetLength }

  /// Composes an operation after the earlier ones.
  ///
  /// - Throws: `lengthMismatch` if its base length is not ``targetLength``.
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

  /// Returns all operations as one.
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
