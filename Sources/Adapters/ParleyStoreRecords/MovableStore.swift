public import ParleyGatewayPorts

/// A store whose rows can be moved to a store of another kind, while no other process uses it.
public protocol MovableStore: AnyObject {
  /// The number of rows in a table.
  func count(of table: StoreTable) throws(StoreError) -> Int

  /// Reads a table in the order of its keys, in portions of bounded size.
  func read(
    _ table: StoreTable, _ body: ([[StoreCell]]) throws(StoreError) -> Void
  ) throws(StoreError)

  /// Reads and verifies all of the store, as `parley check` does.
  func check() throws -> StoreFindings
}

/// A new store that is being filled. Until ``finish()`` it is marked as unfinished, and no server opens it.
public protocol UnfinishedStore: MovableStore {
  /// Adds rows to a table.
  func write(_ rows: [[StoreCell]], to table: StoreTable) throws(StoreError)

  /// Takes the mark away, and returns when everything is durable.
  func finish() throws(StoreError)
}

/// The mark of a store that is being filled: a format that no program reads.
package enum UnfinishedFormat {
  /// The number in the place of the format's.
  package static let number = 2_000_000_000

  /// The remedy, as the end of an error.
  package static let advice =
    "a move into it was interrupted; run parley migrate again, which starts over, or remove it"
}

/// Bounds of the portions in which rows are moved.
package enum MovedPortion {
  package static let rowsMax = 1_000
  package static let bytesMax = 4 << 20
}
