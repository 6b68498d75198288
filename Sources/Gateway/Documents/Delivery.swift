import GatewayPorts
import WebSocketFrames

/// Newly durable entries, and the frames in which all who hear of them do.
struct Delivery {
  let entries: ArraySlice<LogEntry>
  let first: LogEntry
  let revisions: ClosedRange<Int>
  /// What native followers get; made for the first of them.
  var shared: Frame?
  /// What followers get who want a frame for each entry.
  var sharedByEntry: [Frame] = []

  init?(_ entries: ArraySlice<LogEntry>) {
    guard let first = entries.first, let last = entries.last else { return nil }
    self.entries = entries
    self.first = first
    revisions = first.revision...last.revision
  }
}
