import ParleyGatewayPorts
import SocketMessages
import ParleyWebSocketFrames

/// Newly durable entries, and their frames for followers.
struct Delivery {
  let entries: ArraySlice<LogEntry>
  let first: LogEntry
  let revisions: ClosedRange<Int>
  /// The frame for native followers, encoded for the first of them.
  var shared: Frame?
  /// The frame for native followers that accept numbers, encoded for the first of them.
  var numbered: NumberedFrame?
  /// The frames for followers that need a separate frame for each entry.
  var sharedByEntry: [Frame] = []

  /// A frame with author numbers instead of ids.
  struct NumberedFrame {
    let run: ServerMessage.NumberedChanges.Run
    /// The newest author number that a follower must know before the frame.
    let numberKnown: Int
    /// The newest author number that a follower knows after the frame.
    let newest: Int
    /// The minimum author numbers that a follower must retain.
    let keptMin: Int
    let frame: Frame
  }

  init?(_ entries: ArraySlice<LogEntry>) {
    guard let first = entries.first, let last = entries.last else { return nil }
    self.entries = entries
    self.first = first
    revisions = first.revision...last.revision
  }
}
