public import ParleyGatewayPorts

/// A requirement for every document store, which can be run against any of them.
public struct ConformanceCheck: Sendable, CustomStringConvertible {
  /// The checked requirement.
  public let description: String

  private let body: @Sendable (StoreRig) throws -> Void

  init(_ description: String, _ body: @escaping @Sendable (StoreRig) throws -> Void) {
    self.description = description
    self.body = body
  }

  /// Runs the check.
  ///
  /// - Parameter open: Opens the store under test, which is empty the first time. Called again for
  ///   a restart, after the previous instance was released; it must then contain everything that
  ///   was committed.
  /// - Throws: `ConformanceFailure`, or an error of `open`.
  public func run(opening open: @escaping () throws -> any DocumentStore) throws {
    try body(try StoreRig(open))
  }
}

/// A violated requirement.
public struct ConformanceFailure: Error, CustomStringConvertible {
  /// The expected value and the actual value.
  public let description: String

  init(_ description: String) { self.description = description }
}
