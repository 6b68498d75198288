/// The log as clients that count in UTF-16 code units see it.
///
/// The units of an entry depend on the text before it, so an entry is converted when it is
/// committed. An entry without scalars beyond U+FFFF in its base and its inserts, and with inserts
/// first, is the log's own value and shares its memory. A view exists only while such a client has
/// the document open.
public struct FamilyView: Sendable {
  /// The rules of the family.
  public let rules: FamilyRules
  /// The revision after which the view has entries.
  public private(set) var oldestBase: Int
  private var operations: [TextOperation] = []

  /// Creates a view that begins at a revision.
  public init(_ rules: FamilyRules, at revision: Int) {
    self.rules = rules
    oldestBase = revision
  }

  /// The revision up to which the view has entries.
  public var revision: Int { oldestBase + operations.count }

  /// Converts an entry to the family's form.
  ///
  /// - Parameter text: The text before the entry.
  public static func form(
    of operation: TextOperation, on text: Document, by rules: FamilyRules
  ) throws(OperationError) -> TextOperation {
    let ordered = rules.order == .insertFirst ? operation.insertingFirst() : operation
    return rules.unit == .utf16 ? try ordered.inUTF16(on: text) : ordered
  }

  /// Appends the next entry of the log.
  ///
  /// - Parameter text: The text before the entry.
  public mutating func append(
    _ operation: TextOperation, on text: Document
  ) throws(OperationError) {
    operations.append(try Self.form(of: operation, on: text, by: rules))
  }

  /// Returns the entries after a revision, oldest first.
  ///
  /// - Precondition: `oldestBase <= revision <= self.revision`.
  public func operations(after revision: Int) -> ArraySlice<TextOperation> {
    operations[(revision - oldestBase)...]
  }

  /// Retains only the newest entries.
  public mutating func trim(keeping count: Int) {
    let excess = operations.count - count
    guard excess > 0 else { return }
    operations.removeFirst(excess)
    oldestBase += excess
  }
}
