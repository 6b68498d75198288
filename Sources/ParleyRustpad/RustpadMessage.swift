public import OTCore
public import ParleyJSON

/// A message of a Rustpad client.
public enum RustpadMessage: Sendable, Hashable {
  /// An operation on the text at a revision, in Unicode scalars.
  case edit(revision: Int, TextOperation)
  /// The language of the text, for highlighting.
  case language(String)
  /// The user's name and hue.
  case info(RustpadUser)
  /// The user's cursors and selections, in Unicode scalars.
  case cursors(JSONValue)

  /// Maximum bytes of a message.
  public static let bytesMax = 2_097_152
  /// Maximum bytes of a name or a language.
  public static let textBytesMax = 256
  /// Maximum JSON values of a client's cursors.
  private static let cursorValuesMax = 1_000

  /// Reads a message; `nil` for any other text.
  ///
  /// - Parameter componentsMax: Maximum components of an operation.
  public init?(_ bytes: UnsafeBufferPointer<UInt8>, componentsMax: Int) {
    guard let value = try? JSONValue(bytes, valuesMax: Self.cursorValuesMax + componentsMax),
      let fields = value.values(of: "Edit", "SetLanguage", "ClientInfo", "CursorData")
    else { return nil }
    if let edit = fields[0] {
      guard let parts = edit.values(of: "revision", "operation"),
        let revision = parts[0]?.integer, revision >= 0, let json = parts[1],
        let operation = try? TextOperation(json: json.utf8),
        operation.componentCount <= componentsMax
      else { return nil }
      self = .edit(revision: revision, operation)
    } else if let language = fields[1] {
      guard let text = language.string, text.utf8.count <= Self.textBytesMax else { return nil }
      self = .language(text)
    } else if let info = fields[2] {
      guard let parts = info.values(of: "name", "hue"), let name = parts[0]?.string,
        name.utf8.count <= Self.textBytesMax, let hue = parts[1]?.integer
      else { return nil }
      self = .info(RustpadUser(name: name, hue: hue))
    } else if let data = fields[3] {
      guard let parts = data.values(of: "cursors", "selections"), let cursors = parts[0]?.elements,
        let selections = parts[1]?.elements, Self.areCursors(cursors, selections)
      else { return nil }
      self = .cursors(
        ["cursors": JSONValue(cursors), "selections": JSONValue(selections)] as JSONValue)
    } else {
      return nil
    }
  }

  /// Reads a message; `nil` for any other text.
  public init?(_ bytes: [UInt8], componentsMax: Int) {
    let message = bytes.withUnsafeBufferPointer { Self($0, componentsMax: componentsMax) }
    guard let message else { return nil }
    self = message
  }

  private static func areCursors(_ cursors: [JSONValue], _ selections: [JSONValue]) -> Bool {
    cursors.allSatisfy { $0.integer.map { $0 >= 0 } ?? false }
      && selections.allSatisfy { selection in
        guard let ends = selection.elements, ends.count == 2 else { return false }
        return ends.allSatisfy { $0.integer.map { $0 >= 0 } ?? false }
      }
  }

  /// The label in metrics.
  public var metricName: String {
    switch self {
    case .edit: "rustpad:Edit"
    case .language: "rustpad:SetLanguage"
    case .info: "rustpad:ClientInfo"
    case .cursors: "rustpad:CursorData"
    }
  }
}

/// The name and the colour of a user.
public struct RustpadUser: Sendable, Hashable {
  /// The name.
  public let name: String
  /// The hue, in degrees.
  public let hue: Int

  /// Creates a user.
  public init(name: String, hue: Int) {
    self.name = name
    self.hue = hue
  }
}
