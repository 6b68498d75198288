import ParleyGatewayPorts
import SocketMessages

/// The data of a document for a follower that joins it.
struct DocumentJoin {
  let live: LiveDocument
  let verbs: Verbs
  /// The entries that a resuming client has missed; `nil` if it needs the text instead.
  let missed: ArraySlice<LogEntry>?
  /// The last durable change under the client id of the unanswered change in the join.
  let settled: ChangeName?
  /// The people known by name; `nil` for a follower that may not see them.
  let others: EncodedParticipants?
}
