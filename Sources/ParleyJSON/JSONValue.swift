/// Any JSON, kept as it was written: for what is passed on without being looked at.
public struct JSONValue: Sendable, Hashable {
  /// The bytes, which are JSON.
  public let utf8: [UInt8]

  /// Takes bytes that are one JSON value, nested no deeper than ``depthMax``; `nil` for others.
  public init?(_ bytes: some Sequence<UInt8>) {
    let value = JSONValue(trusted: Array(bytes)).read { reader throws(JSONError) in
      let value = try reader.value()
      try reader.finish()
      return value
    }
    guard let value else { return nil }
    self = value
  }

  /// Takes bytes that were checked when they were received.
  @inlinable package init(trusted utf8: [UInt8]) { self.utf8 = utf8 }

  /// The deepest nesting that fits into any message.
  public static let depthMax = 24

  /// `null`.
  public static let null = JSONValue(trusted: Array("null".utf8))
}
