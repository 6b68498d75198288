/// A change to a formatted text: an operation on the text, and its formatting.
///
///     var builder = RichOperationBuilder()
///     builder.retain(5, setting: try AttributeSet(json: #"{"bold":true}"#))
///     builder.insert("!")
///     let operation = builder.finished()
///
/// The text operation is that of plain clients: applied to the text alone, it gives the text of the
/// result. Transforming, composing and inverting leave it as they leave any text operation.
public struct RichOperation: Sendable, Hashable {
  /// A rule for text that another client inserts inside a range while this one formats the range.
  public enum Growth: Sendable {
    /// The inserted text takes the formatting.
    case grows
    /// It does not, as in Quill's Delta.
    case stays
  }

  /// The operation on the text.
  public internal(set) var text: TextOperation
  /// The formatting; `nil` for none.
  public internal(set) var format: Format?

  /// An operation without formatting: what it inserts has no attributes.
  public init(_ text: TextOperation = TextOperation()) { self.text = text }

  init(text: TextOperation, format: Format?) {
    self.text = text
    self.format = format
  }

  /// The operation that leaves a text of this length as it is.
  public static func identity(length: Int) -> RichOperation {
    RichOperation(.identity(length: length))
  }

  /// The length that the operation applies to, in Unicode scalars.
  public var baseLength: Int { text.baseLength }

  /// The length that it leaves, in Unicode scalars.
  public var targetLength: Int { text.targetLength }

  /// Bytes of inserted text, as UTF-8.
  public var insertedBytes: Int { text.insertedBytes }

  /// The number of components of the text and of the format.
  public var componentCount: Int { text.componentCount + (format?.componentCount ?? 0) }

  /// Whether applying it changes nothing.
  public var isIdentity: Bool { format == nil && text.isIdentity }
}

/// Builds a rich operation, component by component.
public struct RichOperationBuilder: Sendable {
  private var text = TextOperation()
  private var spans: [RunWord] = []
  private var runs: [RunWord] = []
  private var table = SetTable()

  /// An operation on the empty text that does nothing yet.
  public init() {}

  /// Keeps the next scalars, with a change of their attributes.
  ///
  /// - Precondition: as ``TextOperation/retain(_:)``.
  public mutating func retain(_ count: Int, setting change: AttributeSet = AttributeSet()) {
    text.retain(count)
    spans.put(table.number(of: change), count: count)
  }

  /// Takes the next scalars away.
  ///
  /// - Precondition: as ``TextOperation/delete(_:)``.
  public mutating func delete(_ count: Int) {
    text.delete(count)
    spans.put(0, count: count)
  }

  /// Puts a text here, with its attributes. Removals have no effect.
  ///
  /// - Precondition: as ``TextOperation/insert(_:)``.
  public mutating func insert(_ text: String, with attributes: AttributeSet = AttributeSet()) {
    let before = self.text.targetLength
    self.text.insert(text)
    let set =
      attributes.hasRemovals
      ? AttributeSet.merged(.settle, AttributeSet(), attributes) : attributes
    runs.put(table.number(of: set), count: self.text.targetLength - before)
  }

  /// The operation.
  public consuming func finished() -> RichOperation {
    text.pack()
    return RichOperation(
      text: text, format: Format(spans: spans, runs: runs, sets: table.sets))
  }
}
