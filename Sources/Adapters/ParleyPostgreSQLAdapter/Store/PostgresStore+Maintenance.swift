public import ParleyGatewayPorts
public import ParleyStoreRecords

/// Maintenance that keeps a store small and fast, run while no request waits.
extension PostgresStore {
  private var housekeeping: HousekeepingRules<PostgresDatabase> {
    HousekeepingRules(store: database)
  }

  /// Does one piece of housekeeping: a snapshot, part of a deleted note's log, or what has expired.
  ///
  /// Failures are kept quiet: the work is tried again after ``retryChores()``, and what matters fails again where a
  /// client is answered. Several nodes may do it at once; one does it at a time, the others leave it to that one.
  ///
  /// - Returns: Whether there is more to do now.
  public func maintain() -> Bool {
    guard database.sharing != .reading else { return false }
    do throws(StoreError) {
      _ = try housekeeping.doChore()
      return housekeeping.hasChores
    } catch {
      return false
    }
  }

  /// Compacts the logs of all documents by a rule.
  ///
  /// - Parameters:
  ///   - retention: What is kept.
  ///   - now: The time that ages are counted from.
  /// - Returns: How many notes were compacted.
  @discardableResult
  public func compact(keeping retention: Retention, now: Timestamp) throws(StoreError) -> Int {
    let count = try housekeeping.compactAll(keeping: retention, now: now)
    while maintain() {}
    return count
  }

  /// Removes the records of rooms that hold nothing and in which nothing was published for long;
  /// never while other processes work with the database, for their clients may be connected there.
  ///
  /// - Returns: How many were removed.
  @discardableResult
  public func removeEmptyRooms(idleSince time: Timestamp) throws(StoreError) -> Int {
    guard database.sharing != .reading else { return 0 }
    return try database.transaction { () throws(StoreError) in
      // Each node holds this lock shared, this one too: it is had alone by the first to come. Who
      // comes meanwhile waits for it.
      guard try database.takes(.store) else { return 0 }
      return try RoomRules(store: database).removeEmptyRows(idleSince: time)
    }
  }
}
