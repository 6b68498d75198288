package import ParleyGatewayPorts
import ParleyHashing

/// A connection to a database that understands the rules' statements, as SQLite and PostgreSQL do.
///
/// Parameters are `$1`, `$2` and so on. Names that are words of the language are quoted, such as `"offset"` and `"user"`.
package protocol SQLConnection: AnyObject {
  associatedtype Row: StoredRow

  var context: StoreContext { get }

  /// The end of a query that locks its rows, where other processes write and the transaction writes.
  var locking: String { get }

  /// The end of a locking query that skips rows which another transaction has locked.
  var lockingFree: String { get }

  /// Runs a statement that returns nothing. It may be sent with the next one that is waited for.
  func change(_ sql: String, _ values: any StoredValue...) throws(StoreError)

  /// Runs a statement, and returns the number of rows that it changed.
  func changedRows(_ sql: String, _ values: any StoredValue...) throws(StoreError) -> Int

  /// Reads the first row of a query, if there is one. `read` must not run the same query.
  func first<Result>(
    _ sql: String, _ values: any StoredValue..., read: (Row) throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Reads all rows of a query. `read` must not run the same query.
  func rows<Result>(
    _ sql: String, _ values: any StoredValue..., read: (Row) throws(StoreError) -> Result
  ) throws(StoreError) -> [Result]

  /// Runs `body` in a transaction of its own and commits it. It may be run more than once.
  func transaction<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result

  /// Runs `body` in such a transaction, unless another node does housekeeping; then returns `nil`.
  func alone<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Runs `body` in a transaction that only reads, as of one moment.
  func reading<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result

  /// Throws the connection's failure, which no single request caused.
  func passOn() throws(StoreError)
}

extension SQLConnection {
  /// 24 digits that no other row of any store has.
  package func freshName() -> String { randomBytes(count: 12).hexadecimal }
}
