public import ParleyGatewayPorts

/// A store that can be read whole and made smaller by commands.
public protocol RepairableStore: ServerStore {
  /// Reads and verifies all of the store.
  ///
  /// - Parameter progress: Told the number of notes read so far, and of all.
  func check(progress: (Int, Int) -> Void) -> StoreFindings

  /// Compacts the logs of all documents by a rule.
  ///
  /// - Parameters:
  ///   - retention: What is kept.
  ///   - now: The time that ages are counted from.
  /// - Returns: How many notes were compacted.
  @discardableResult
  func compact(keeping retention: Retention, now: Timestamp) throws(StoreError) -> Int
}
