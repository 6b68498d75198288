package import ParleyGatewayPorts

/// A store that does every request: its connection, and the rows that SQLite and PostgreSQL keep in different ways.
///
/// The rules are structs over the part of it that they need, each in a file of its own.
package protocol SQLStore: FolderTable, FileTable, AnswerTable, PeopleTable, QueueTable {
  /// Does a request that each store does in its own way, within the transaction under way.
  func ownReply(to request: StoreRequest) throws(StoreError) -> StoreReply
}
