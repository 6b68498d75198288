package import ParleyGatewayPorts

/// A store that performs every request: its connection, and rows that depend on the database.
///
/// Each rules struct is generic over the protocols that it needs.
package protocol SQLStore: FolderTable, FileTable, AnswerTable, PeopleTable, QueueTable {
  /// Performs a request that each store implements itself, within the current transaction.
  func ownReply(to request: StoreRequest) throws(StoreError) -> StoreReply
}
