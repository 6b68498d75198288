/// Transfers a value that is not `Sendable` to the one thread that will own it.
package final class Handover<Value>: @unchecked Sendable {
  private var value: Value?

  package init(_ value: sending Value) { self.value = value }

  /// Uses the value before it is taken, on the thread that created it.
  package func prepare<Result: Sendable>(_ body: (Value) throws -> Result) rethrows -> Result {
    guard let value else { preconditionFailure("the value was taken before") }
    return try body(value)
  }

  /// Returns the value. May be called only once.
  package func take() -> Value {
    guard let taken = value else { preconditionFailure("the value was taken before") }
    value = nil
    return taken
  }
}
