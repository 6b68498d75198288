public import ParleyGatewayPorts
public import ParleyStoreRecords

/// Housekeeping that keeps a store small and fast. Runs while no request waits.
extension PostgresStore {
  private var housekeeping: HousekeepingRules<PostgresDatabase> {
    HousekeepingRules(store: database)
  }

  /// Does one step of housekeeping: a snapshot, part of a deleted note, or some expired rows.
  ///
  /// Errors are not reported: failed work is retried after ``retryChores()``, and an error that
  /// affects requests also occurs in the reply to a client. Of several nodes, one does a step at a
  /// time; the others skip it.
  ///
  /// - Returns: Whether more housekeeping is due now.
  public func maintain() -> Bool {
    guard database.sharing != .reading else { return false }
    do throws(StoreError) {
      _ = try housekeeping.doChore()
      return housekeeping.hasChores
    } catch {
      return false
    }
  }

  /// Compacts the logs of all documents.
  ///
  /// - Parameters:
  ///   - retention: The entries to retain.
  ///   - now: The time from which ages are calculated.
  /// - Returns: The number of compacted notes.
  @discardableResult
  public func compact(keeping retention: Retention, now: Timestamp) throws(StoreError) -> Int {
    let count = try housekeeping.compactAll(keeping: retention, now: now)
    while maintain() {}
    return count
  }

  /// Deletes the rows of rooms that contain no data and whose last publication is old. Does nothing
  /// while other processes use the database, since their clients may be connected.
  ///
  /// - Returns: The number of deleted rows.
  @discardableResult
  public func removeEmptyRooms(idleSince time: Timestamp) throws(StoreError) -> Int {
    guard database.sharing != .reading else { return 0 }
    return try database.transaction { () throws(StoreError) in
      // Each node has a shared lock of this kind, including this one. The lock is exclusive only if
      // this is the only node; a node that starts meanwhile waits for it.
      guard try database.takes(.store) else { return 0 }
      return try RoomRules(store: database).removeEmptyRows(idleSince: time)
    }
  }
}
