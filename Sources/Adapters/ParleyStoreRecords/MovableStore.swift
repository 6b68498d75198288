public import ParleyGatewayPorts

/// A store whose rows can be copied to a store of another kind, while no other process uses it.
public protocol MovableStore: AnyObject {
  /// Returns the number of rows in a table.
  func count(of table: StoreTable) throws(StoreError) -> Int

  /// Reads a table in the order of its keys, in batches of bounded size.
  func read(
    _ table: StoreTable, _ body: ([[StoreCell]]) throws(StoreError) -> Void
  ) throws(StoreError)

  /// Reads and verifies the whole store, as `parley check` does.
  func check() throws -> StoreFindings
}

/// A store that is being filled. It is marked as unfinished, so no server opens it.
public protocol UnfinishedStore: MovableStore {
  /// Adds rows to a table.
  func write(_ rows: [[StoreCell]], to table: StoreTable) throws(StoreError)

  /// Removes the mark, and returns after all rows are durable.
  func finish() throws(StoreError)
}

/// The mark of a store that is being filled: a format number that no program supports.
package enum UnfinishedFormat {
  /// The number that is stored as the format.
  package static let number = 2_000_000_000

  /// The remedy, which ends an error text.
  package static let advice =
    "a move into it was interrupted; run parley migrate again, which starts over, or remove it"
}

/// The maximum size of a batch of copied rows.
package enum MovedPortion {
  package static let rowsMax = 1_000
  package static let bytesMax = 4 << 20
}
