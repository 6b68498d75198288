public import ParleyGatewayPorts

/// Something that every store of documents must do, as a function over any of them.
public struct ConformanceCheck: Sendable, CustomStringConvertible {
  /// The requirement that is checked.
  public let description: String

  private let body: @Sendable (StoreRig) throws -> Void

  init(_ description: String, _ body: @escaping @Sendable (StoreRig) throws -> Void) {
    self.description = description
    self.body = body
  }

  /// Runs the check.
  ///
  /// - Parameter open: Opens the store that is checked, empty the first time. It is called again
  ///   for a restart, after the earlier instance was released; then what was committed is there.
  /// - Throws: `ConformanceFailure`, or what `open` throws.
  public func run(opening open: @escaping () throws -> any DocumentStore) throws {
    try body(try StoreRig(open))
  }
}

/// A requirement that a store does not meet.
public struct ConformanceFailure: Error, CustomStringConvertible {
  /// The expectation, and what came instead.
  public let description: String

  init(_ description: String) { self.description = description }
}
