/// A change to a formatted text: an operation on the text, and its formatting.
///
///     var builder = RichOperationBuilder()
///     builder.retain(5, setting: try AttributeSet(json: #"{"bold":true}"#))
///     builder.insert("!")
///     let operation = builder.finished()
///
/// The text operation is that of plain clients: applied to the text alone, it returns the text of
/// the result. Transforming, composing and inverting treat it like any text operation.
public struct RichOperation: Sendable, Hashable {
  /// A rule for text that another client inserts within a range while this client formats the
  /// range.
  public enum Growth: Sendable {
    /// The inserted text takes the formatting.
    case grows
    /// The inserted text does not take the formatting, as in Quill's Delta.
    case stays
  }

  /// The operation on the text.
  public internal(set) var text: TextOperation
  /// The formatting; `nil` if missing.
  public internal(set) var format: Format?
  /// Whether a plain note becomes a rich one with the operation. A server stores it beside the
  /// operation, see ``ChangeFormat``; a client's queue keeps it with the edit.
  public internal(set) var makesRich = false

  /// Creates an operation without formatting; its inserted text has no attributes.
  public init(_ text: TextOperation = TextOperation()) { self.text = text }

  @inline(__always)
  init(text: consuming TextOperation, format: consuming Format?, makesRich: Bool = false) {
    self.text = text
    self.format = format
    self.makesRich = makesRich
  }

  /// Returns the operation that does not change a text of this length.
  public static func identity(length: Int) -> RichOperation {
    RichOperation(.identity(length: length))
  }

  /// The length of the text to which the operation applies, in Unicode scalars.
  public var baseLength: Int { text.baseLength }

  /// The length of the resulting text, in Unicode scalars.
  public var targetLength: Int { text.targetLength }

  /// The bytes of inserted text, as UTF-8.
  public var insertedBytes: Int { text.insertedBytes }

  /// The number of components of the text and of the format.
  public var componentCount: Int { text.componentCount + (format?.componentCount ?? 0) }

  /// Whether the operation changes nothing.
  public var isIdentity: Bool { format == nil && text.isIdentity && !makesRich }
}

/// Builds a rich operation component by component.
public struct RichOperationBuilder: Sendable {
  private var text = TextOperation()
  private var spans: [RunWord] = []
  private var runs: [RunWord] = []
  private var table = SetTable()

  /// Creates a builder of an operation on the empty text, without components.
  public init() {}

  /// Retains the next scalars, and changes their attributes.
  ///
  /// - Precondition: As ``TextOperation/retain(_:)``.
  public mutating func retain(_ count: Int, setting change: AttributeSet = AttributeSet()) {
    text.retain(count)
    spans.put(table.number(of: change), count: count)
  }

  /// Deletes the next scalars.
  ///
  /// - Precondition: As ``TextOperation/delete(_:)``.
  public mutating func delete(_ count: Int) {
    text.delete(count)
    spans.put(0, count: count)
  }

  /// Inserts a text with its attributes. Removals have no effect.
  ///
  /// - Precondition: As ``TextOperation/insert(_:)``.
  public mutating func insert(_ text: String, with attributes: AttributeSet = AttributeSet()) {
    let before = self.text.targetLength
    self.text.insert(text)
    let set =
      attributes.hasRemovals
      ? AttributeSet.merged(.settle, AttributeSet(), attributes) : attributes
    runs.put(table.number(of: set), count: self.text.targetLength - before)
  }

  /// Returns the operation.
  public consuming func finished() -> RichOperation {
    text.pack()
    return RichOperation(
      text: text, format: Format(spans: spans, runs: runs, sets: table.sets))
  }
}
