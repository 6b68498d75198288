import ParleyGatewayPorts
import SocketMessages

/// The data of a document for a follower that joins it.
struct DocumentJoin {
  let live: LiveDocument
  let verbs: Verbs
  /// The entries that a resuming client has missed; `nil` when it needs the text instead.
  let missed: ArraySlice<LogEntry>?
  /// The outcome of the unanswered change that the join has named.
  let settled: ChangeName?
  /// The people who are named; `nil` for a follower that may not see them.
  let others: EncodedParticipants?
}
