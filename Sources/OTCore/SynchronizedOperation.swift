/// An operation that a client's synchroniser and undo history handle: on a text, or on a text with
/// formatting.
///
/// Plain notes use ``TextOperation`` itself, so that they cost nothing more, and a module that has only
/// them does not contain the rest.
public protocol SynchronizedOperation: Sendable, Hashable {
  /// The type that operations apply to.
  associatedtype Content: Sendable

  /// The operation on the text.
  var text: TextOperation { get }
  /// The length that the operation applies to, in Unicode scalars.
  var baseLength: Int { get }
  /// The length that it leaves, in Unicode scalars.
  var targetLength: Int { get }
  /// Bytes of inserted text, as UTF-8.
  var insertedBytes: Int { get }
  /// The number of components, those of the format included.
  var componentCount: Int { get }
  /// Whether applying it changes nothing.
  var isIdentity: Bool { get }
  /// The attributes of all inserted text; `nil` if there are different ones, or kept text changes.
  var writtenAttributes: AttributeSet? { get }

  /// The operation that changes one content into another.
  init(changing old: Content, into new: Content)
  /// Applies the operation.
  func apply(to content: inout Content) throws(OperationError)
  /// Returns both operations as they apply after each other; `a` is committed.
  static func transform(
    _ a: Self, _ b: Self
  ) throws(OperationError) -> (aAfterB: Self, bAfterA: Self)
  /// Returns one operation with the effect of this one, then `next`.
  func composed(with next: Self) throws(OperationError) -> Self
  /// Returns the operation that takes this one back.
  func inverted(on content: Content) throws(OperationError) -> Self
  /// Cuts the operation into operations within limits.
  func split(within limits: OperationLimits) -> [Self]
}

extension SynchronizedOperation {
  /// The cost of a walk over it: components, and text by the line of memory.
  var weight: Int { componentCount + insertedBytes / 64 }
}

extension TextOperation: SynchronizedOperation {
  /// The operation itself.
  @inline(__always)
  public var text: TextOperation { self }

  /// A plain text has no attributes.
  public var writtenAttributes: AttributeSet? { AttributeSet() }

  /// Applies the operation, as ``Document/apply(_:)`` does.
  ///
  /// - Throws: `lengthMismatch` when it does not start from a text of this length.
  public func apply(to document: inout Document) throws(OperationError) {
    try document.apply(self)
  }
}

extension RichOperation: SynchronizedOperation {
  /// The attributes of all inserted text; `nil` if there are different ones, or kept text changes.
  public var writtenAttributes: AttributeSet? {
    guard let format else { return AttributeSet() }
    guard format.spanCount == 0, format.runCount == 1,
      format.block.runs[0].count == text.insertedScalars
    else { return nil }
    return format.sets[Int(format.block.runs[0].value) - 1]
  }

  /// Applies the operation, as `RichDocument.apply` does.
  ///
  /// - Throws: `lengthMismatch` when it does not start from a text of this length.
  public func apply(to document: inout RichDocument) throws(OperationError) {
    try document.apply(self)
  }

  /// Returns both operations as they apply after each other; `a` is the committed one.
  ///
  /// The same as ``transform(_:_:growth:)`` with `grows`.
  public static func transform(
    _ a: RichOperation, _ b: RichOperation
  ) throws(OperationError) -> (aAfterB: RichOperation, bAfterA: RichOperation) {
    try transform(a, b, growth: .grows)
  }
}
