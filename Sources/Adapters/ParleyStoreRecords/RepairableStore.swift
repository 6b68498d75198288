public import ParleyGatewayPorts

/// A store that commands can verify and compact.
public protocol RepairableStore: ServerStore {
  /// Reads and verifies the whole store.
  ///
  /// - Parameter progress: Called with the number of notes read so far, and the total.
  func check(progress: (Int, Int) -> Void) -> StoreFindings

  /// Compacts the logs of all documents.
  ///
  /// - Parameters:
  ///   - retention: The entries to retain.
  ///   - now: The time from which ages are calculated.
  /// - Returns: The number of compacted notes.
  @discardableResult
  func compact(keeping retention: Retention, now: Timestamp) throws(StoreError) -> Int
}
