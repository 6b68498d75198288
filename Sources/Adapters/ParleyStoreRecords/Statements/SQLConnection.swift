package import ParleyGatewayPorts
import ParleyHashing

/// A connection to a database that accepts the SQL of the rules, such as SQLite and PostgreSQL.
///
/// Parameters are `$1`, `$2` and so on. Names that are SQL keywords are quoted, such as `"offset"`.
package protocol SQLConnection: AnyObject {
  associatedtype Row: StoredRow

  var context: StoreContext { get }

  /// The suffix of a query that locks its rows, if other processes and this transaction can write.
  var locking: String { get }

  /// The suffix of a locking query that skips rows locked by another transaction.
  var skippingLocked: String { get }

  /// Runs a statement without a result. It may be sent later, together with the next query.
  func change(_ sql: String, _ values: any StoredValue...) throws(StoreError)

  /// Runs a statement, and returns the number of changed rows.
  func changedRows(_ sql: String, _ values: any StoredValue...) throws(StoreError) -> Int

  /// Returns the first row of a query, or `nil`. `read` must not run the same query.
  func first<Result>(
    _ sql: String, _ values: any StoredValue..., read: (Row) throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Returns all rows of a query. `read` must not run the same query.
  func rows<Result>(
    _ sql: String, _ values: any StoredValue..., read: (Row) throws(StoreError) -> Result
  ) throws(StoreError) -> [Result]

  /// Runs `body` in a separate transaction and commits it. `body` may run more than once.
  func transaction<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result

  /// Runs `body` in a separate transaction; returns `nil` if another node is doing housekeeping.
  func alone<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Runs `body` in a read-only transaction, on one snapshot.
  func reading<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result

  /// Throws if the connection has failed, which no single request caused.
  func throwConnectionFailure() throws(StoreError)
}

extension SQLConnection {
  /// Returns a random name of 24 hexadecimal digits, unique in all stores.
  package func freshName() -> String { randomBytes(count: 12).hexadecimal }
}
