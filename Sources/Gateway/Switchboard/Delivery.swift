import ParleyGatewayPorts
import SocketMessages
import ParleyWebSocketFrames

/// Newly durable entries, and their frames for followers.
struct Delivery {
  let entries: ArraySlice<LogEntry>
  let first: LogEntry
  let revisions: ClosedRange<Int>
  /// The native followers' frame, made for the first of them.
  var shared: Frame?
  /// The frame for native followers that take numbers, made for the first of them.
  var numbered: NumberedFrame?
  /// The frames for followers that need one for each entry.
  var sharedByEntry: [Frame] = []

  /// A frame with numbers in place of ids.
  struct NumberedFrame {
    let run: ServerMessage.NumberedChanges.Run
    /// The newest number of an author that a follower has to know beforehand.
    let numberKnown: Int
    /// The newest number that it knows afterwards.
    let newest: Int
    /// The number of numbers that a follower has to keep.
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
