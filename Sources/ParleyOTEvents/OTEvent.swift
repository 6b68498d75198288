public import OTCore
public import ParleyJSON

/// An event of a client of ot.js or of HedgeDoc's editor. Lengths are in UTF-16 code units.
public enum OTEvent: Sendable, Hashable {
  /// An operation on the text at a revision, and the user's selection after it.
  case operation(revision: Int, TextOperation, selection: JSONValue)
  /// The user's selection.
  case selection(JSONValue)
  /// A request for the operations of a range of revisions.
  case getOperations(Range<Int>)

  /// Maximum bytes of a selection.
  public static let selectionBytesMax = 4_096
  /// Maximum operations of one request.
  public static let operationsMax = 10_000

  /// Reads an event; `nil` for any other event, and for one with other arguments.
  ///
  /// - Parameter componentsMax: Maximum components of an operation.
  public init?(_ name: String, _ arguments: [JSONValue], componentsMax: Int) {
    switch name {
    case "operation":
      guard arguments.count >= 2, let revision = arguments[0].integer, revision >= 0,
        let read = try? TextOperation(json: arguments[1].utf8),
        read.componentCount <= componentsMax,
        let operation = try? read.countingInsertsInUTF16(),
        let selection = Self.selection(arguments.count > 2 ? arguments[2] : .null)
      else { return nil }
      self = .operation(revision: revision, operation.insertingFirst(), selection: selection)
    case "selection":
      guard let argument = arguments.first, let selection = Self.selection(argument) else {
        return nil
      }
      self = .selection(selection)
    case "get_operations":
      guard arguments.count >= 2, let start = arguments[0].integer,
        let end = arguments[1].integer, start >= 0, start <= end,
        end - start <= Self.operationsMax
      else { return nil }
      self = .getOperations(start..<end)
    default: return nil
    }
  }

  /// Returns a selection that may be passed on: `null`, or an object of ranges.
  private static func selection(_ value: JSONValue) -> JSONValue? {
    guard value.utf8.count <= selectionBytesMax else { return nil }
    return value.isNull || value.value(of: "ranges")?.elements != nil ? value : nil
  }

  /// The label in metrics.
  public var metricName: String {
    switch self {
    case .operation: "ot:operation"
    case .selection: "ot:selection"
    case .getOperations: "ot:get_operations"
    }
  }
}
