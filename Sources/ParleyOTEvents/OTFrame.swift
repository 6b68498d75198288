public import OTCore
public import ParleyJSON

/// An event for clients: its name and its arguments.
public struct OTFrame: Sendable, Hashable {
  /// The name.
  public let name: String
  /// The arguments.
  public let arguments: [JSONValue]

  private init(_ name: String, _ arguments: [JSONValue?]) {
    self.name = name
    self.arguments = arguments.compactMap { $0 }
  }

  /// A user as other clients see them.
  public struct User: Sendable, Hashable {
    /// The id of the user's session.
    public let session: String
    /// The name.
    public let name: String
    /// The colour, `#rrggbb`; `nil` without one.
    public let color: String?
    /// The selection.
    public let selection: JSONValue?

    /// Creates a user.
    public init(session: String, name: String, color: String?, selection: JSONValue?) {
      self.session = session
      self.name = name
      self.color = color
      self.selection = selection
    }

    fileprivate var json: JSONValue {
      var fields: JSONFields = ["name": JSONValue(name)]
      if let color { fields.append(.init("color", JSONValue(color))) }
      if let selection { fields.append(.init("selection", selection)) }
      return JSONValue(fields)
    }
  }

  /// Returns the text.
  ///
  /// - Parameter force: Whether HedgeDoc's clients discard their pending edits.
  public static func document(
    _ text: String, revision: Int, users: [User], force: Bool = false
  ) -> OTFrame {
    var fields: JSONFields = [
      "str": JSONValue(text), "revision": JSONValue(revision),
      "clients": JSONValue(JSONFields(users.map { .init($0.session, $0.json) })),
    ]
    if force { fields.append(.init("force", JSONValue(true))) }
    return OTFrame("doc", [JSONValue(fields)])
  }

  /// Returns the acknowledgement of the client's operation.
  ///
  /// - Parameter revision: The revision after it, for HedgeDoc's clients.
  public static func acknowledgement(revision: Int?) -> OTFrame {
    OTFrame("ack", [revision.map { JSONValue($0) }])
  }

  /// Returns an operation of another client.
  ///
  /// - Parameters:
  ///   - session: The id of its author's session.
  ///   - revision: The revision after it, for HedgeDoc's clients.
  public static func operation(
    _ operation: TextOperation, by session: String, revision: Int?, selection: JSONValue?
  ) -> OTFrame {
    OTFrame(
      "operation",
      [
        JSONValue(session), revision.map { JSONValue($0) }, json(operation), selection ?? .null,
      ])
  }

  /// Returns the operations that HedgeDoc's client has requested.
  ///
  /// - Parameter end: The revision after the last one.
  public static func operations(_ operations: [TextOperation], before end: Int) -> OTFrame {
    OTFrame("operations", [JSONValue(end), JSONValue(operations.map { json($0) })])
  }

  /// Returns a user's selection.
  public static func selection(_ selection: JSONValue, of session: String) -> OTFrame {
    OTFrame("selection", [JSONValue(session), selection])
  }

  /// Returns a user's name.
  public static func name(_ name: String, of session: String) -> OTFrame {
    OTFrame("set_name", [JSONValue(session), JSONValue(name)])
  }

  /// Returns a user's colour.
  public static func color(_ color: String, of session: String) -> OTFrame {
    OTFrame("set_color", [JSONValue(session), JSONValue(color)])
  }

  /// Returns that a user has left.
  public static func left(_ session: String) -> OTFrame {
    OTFrame("client_left", [JSONValue(session)])
  }

  private static func json(_ operation: TextOperation) -> JSONValue {
    var bytes: [UInt8] = []
    operation.appendJSON(to: &bytes)
    return JSONValue(bytes) ?? .null
  }
}
