/// An operation that the client's synchroniser and undo history can handle: on a plain text, or on
/// a text with formatting.
///
/// Plain notes use ``TextOperation`` itself, so they cost nothing more, and modules with only plain
/// notes do not contain the code for formatting.
public protocol SynchronizedOperation: Sendable, Hashable {
  /// The type to which operations apply.
  associatedtype Content: Sendable

  /// The operation on the text.
  var text: TextOperation { get }
  /// The length of the text to which the operation applies, in Unicode scalars.
  var baseLength: Int { get }
  /// The length of the resulting text, in Unicode scalars.
  var targetLength: Int { get }
  /// The bytes of inserted text, as UTF-8.
  var insertedBytes: Int { get }
  /// The number of components, including those of the format.
  var componentCount: Int { get }
  /// Whether the operation changes nothing.
  var isIdentity: Bool { get }
  /// The attributes of all inserted text; `nil` if they differ, or if retained text changes its
  /// attributes.
  var writtenAttributes: AttributeSet? { get }

  /// Creates the operation that changes one content into another.
  init(changing old: Content, into new: Content)
  /// Applies the operation.
  func apply(to content: inout Content) throws(OperationError)
  /// Transforms two concurrent operations, so that each applies after the other; `a` is committed.
  static func transform(
    _ a: Self, _ b: Self
  ) throws(OperationError) -> (aAfterB: Self, bAfterA: Self)
  /// Returns one operation with the effect of this one, then `next`.
  func composed(with next: Self) throws(OperationError) -> Self
  /// Returns the operation that undoes this one.
  func inverted(on content: Content) throws(OperationError) -> Self
  /// Splits the operation into consecutive operations within limits.
  func split(within limits: OperationLimits) -> [Self]
}

extension SynchronizedOperation {
  /// The approximate cost of a walk: components, plus one for each 64 bytes of text.
  var weight: Int { componentCount + insertedBytes / 64 }
}

extension TextOperation: SynchronizedOperation {
  /// The operation itself.
  @inline(__always)
  public var text: TextOperation { self }

  /// The empty set, because a plain text has no attributes.
  public var writtenAttributes: AttributeSet? { AttributeSet() }

  /// Applies the operation, as ``Document/apply(_:)`` does.
  ///
  /// - Throws: `lengthMismatch` if the text's length is not the base length.
  public func apply(to document: inout Document) throws(OperationError) {
    try document.apply(self)
  }
}

extension RichOperation: SynchronizedOperation {
  /// The attributes of all inserted text; `nil` if they differ, or if retained text changes its
  /// attributes.
  public var writtenAttributes: AttributeSet? {
    guard let format else { return AttributeSet() }
    guard format.spanCount == 0, format.runCount == 1,
      format.block.runs[0].count == text.insertedScalars
    else { return nil }
    return format.sets[Int(format.block.runs[0].value) - 1]
  }

  /// Applies the operation, as `RichDocument.apply` does.
  ///
  /// - Throws: `lengthMismatch` if the text's length is not the base length.
  public func apply(to document: inout RichDocument) throws(OperationError) {
    try document.apply(self)
  }

  /// Transforms two concurrent operations, so that each applies after the other; `a` is committed.
  ///
  /// This is ``transform(_:_:growth:)`` with `grows`.
  public static func transform(
    _ a: RichOperation, _ b: RichOperation
  ) throws(OperationError) -> (aAfterB: RichOperation, bAfterA: RichOperation) {
    try transform(a, b, growth: .grows)
  }
}
