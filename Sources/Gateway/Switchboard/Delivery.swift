import ParleyGatewayPorts
import SocketMessages
import ParleyWebSocketFrames

/// Newly durable entries, and their frames for followers.
struct Delivery {
  let entries: ArraySlice<LogEntry>
  let first: LogEntry
  let revisions: ClosedRange<Int>
  /// Whether an entry has formatting, so that frames with and without it differ.
  let hasFormats: Bool
  /// The frames for native followers, encoded for the first of them.
  var shared = Frames()
  /// The frames for native followers that accept numbers.
  var numbered: NumberedFrames?
  /// The frames for followers that need a separate frame for each entry.
  var sharedByEntry: [Frame] = []

  /// The frames of each entry for followers of other dialects, encoded for the first of them.
  var byDialect: [DialectBase.Listing: [Frame]] = [:]

  /// A frame without formatting and one with it, each encoded for its first follower.
  struct Frames {
    var plain: Frame?
    var formatted: Frame?

    /// Returns the frame of a form, which `make` encodes if it is the first.
    mutating func frame(formatted isFormatted: Bool, _ make: () -> Frame) -> Frame {
      if let frame = isFormatted ? formatted : plain { return frame }
      let frame = make()
      if isFormatted { formatted = frame } else { plain = frame }
      return frame
    }
  }

  /// Frames with author numbers instead of ids.
  struct NumberedFrames {
    /// The changes, without formatting.
    let run: ServerMessage.NumberedChanges.Run
    /// The authors whose numbers are new.
    let authors: [ServerMessage.Author]
    /// The newest author number that a follower must know before the frame.
    let numberKnown: Int
    /// The newest author number that a follower knows after the frame.
    let newest: Int
    /// The minimum author numbers that a follower must retain.
    let keptMin: Int
    var frames = Frames()
  }

  init?(_ entries: ArraySlice<LogEntry>) {
    guard let first = entries.first, let last = entries.last else { return nil }
    self.entries = entries
    self.first = first
    revisions = first.revision...last.revision
    hasFormats = entries.contains { $0.format != nil }
  }
}
