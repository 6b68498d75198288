package import ParleyGatewayPorts

/// A store that performs every request: its connection, and the rows that SQLite and PostgreSQL
/// store differently.
///
/// Each rules struct is generic over the protocols that it needs.
package protocol SQLStore: FolderTable, FileTable, AnswerTable, PeopleTable, QueueTable {
  /// Performs a request that each store implements itself, within the current transaction.
  func ownReply(to request: StoreRequest) throws(StoreError) -> StoreReply
}
