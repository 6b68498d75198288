/// The formatting of a change, as messages and logs contain it beside the change's operation: the
/// operation's format, and whether the change makes a plain note a rich one.
///
///     {"kind":"rich","sets":[{"bold":true}],"kept":[0,5,1]}
///
/// A change with neither has no `ChangeFormat`.
public struct ChangeFormat: Sendable, Hashable {
  /// The format of the operation; `nil` if missing.
  public let format: Format?
  /// Whether this change makes the note a rich one.
  public let makesRich: Bool

  /// Creates the formatting of a change; `nil` for a change without formatting.
  public init?(_ format: Format?, makesRich: Bool = false) {
    if format == nil, !makesRich { return nil }
    self.format = format
    self.makesRich = makesRich
  }

  /// Reads the JSON form; `nil` if it has no effect. Unknown fields are skipped.
  ///
  /// - Parameters:
  ///   - json: The JSON form, as UTF-8.
  ///   - text: The operation of the change.
  ///   - setsMax: Maximum sets. A change that was merged with others may have more than its author
  ///     may send.
  /// - Throws: As ``RichOperation/init(text:formatJSON:)``.
  public init?(
    json: [UInt8], of text: TextOperation, setsMax: Int = Format.setsMax
  ) throws(OperationError) {
    let lists = try FormatJSONReader.lists(json, setsMax: setsMax)
    self.init(try lists.format(of: text), makesRich: lists.makesRich)
  }

  /// The approximate bytes of the JSON form.
  ///
  /// - Complexity: O(*sets*).
  public var byteCount: Int { 16 + (format?.byteCount ?? 0) }

  /// The number of spans and runs.
  public var componentCount: Int { format?.componentCount ?? 0 }

  /// Appends the JSON form as UTF-8.
  public func appendJSON(to buffer: inout [UInt8]) {
    if let format {
      format.appendJSON(to: &buffer, head: makesRich ? "{\"kind\":\"rich\"," : "{")
    } else {
      Format.append("{\"kind\":\"rich\"}", to: &buffer)
    }
  }
}

extension RichOperation {
  /// Creates an operation from the operation and the formatting of a change.
  public init(_ text: TextOperation, _ format: ChangeFormat?) {
    self.init(text: text, format: format?.format, makesRich: format?.makesRich ?? false)
  }

  /// The formatting of the change, for messages and logs.
  public var changeFormat: ChangeFormat? { ChangeFormat(format, makesRich: makesRich) }
}
