/// JSON of any type, stored as received, so that it can be passed on without decoding.
public struct JSONValue: Sendable, Hashable {
  /// The bytes, which are valid JSON.
  public let utf8: [UInt8]

  /// Checks that bytes are one JSON value, nested at most ``depthMax`` deep; otherwise `nil`.
  public init?(_ bytes: some Sequence<UInt8>) {
    let value = JSONValue(trusted: Array(bytes)).read { reader throws(JSONError) in
      let value = try reader.value()
      try reader.finish()
      return value
    }
    guard let value else { return nil }
    self = value
  }

  /// Wraps bytes that are known to be JSON.
  @inlinable package init(trusted utf8: [UInt8]) { self.utf8 = utf8 }

  /// Maximum nesting that is valid in any message.
  public static let depthMax = 24

  /// `null`.
  public static let null = JSONValue(trusted: Array("null".utf8))
}
