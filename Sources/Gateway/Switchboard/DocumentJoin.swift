import GatewayPorts
import SocketMessages

/// A document as a follower joins it.
struct DocumentJoin {
  let live: LiveDocument
  let verbs: Verbs
  /// The entries that a resuming client has missed; `nil` when it needs the text instead.
  let missed: ArraySlice<LogEntry>?
  /// The outcome of the change without an answer that the join has named.
  let settled: ChangeName?
  /// The people who are named; `nil` for who may not see them.
  let others: EncodedParticipants?
}
