import OTCore

/// Moves the ranges of comments over the operations of a log, each from its own revision.
///
/// Operations are collected, and all ranges are moved over them at once, so the cost is about the
/// sum of ranges and operations, not the product.
///
///     revision   3     4     5     6     7
///     range at 3 ├─────┴─────┼─────┴────▶│
///     range at 5             ├──────────▶│
struct MovingAnchors {
  /// Maximum number of collected operations, and approximate maximum of their bytes.
  private static let (countMax, bytesMax) = (1_024, 1 << 20)

  private var anchors: [CommentAnchor]
  /// Indices of the ranges that do not move yet; the next one to move is last.
  private var waiting: [Int]
  /// Indices of the moving ranges, and the starts and ends of these ranges.
  private var moving: [Int] = []
  private var starts: [Int] = []
  private var ends: [Int] = []
  private var gathered: [TextOperation] = []
  private var gatheredBytes = 0
  /// The revision after the last operation.
  private var revision: Int

  /// Creates a mover of ranges. The text of none was deleted.
  init(_ anchors: [CommentAnchor]) {
    self.anchors = anchors
    waiting = anchors.indices.sorted { anchors[$0].revision > anchors[$1].revision }
    revision = waiting.last.map { anchors[$0].revision } ?? 0
  }

  /// The revision after which operations are needed.
  var first: Int { revision }

  /// Adds the operation that creates the next revision.
  mutating func pass(_ operation: TextOperation) {
    if let next = waiting.last, anchors[next].revision <= revision {
      passGathered()
      while let next = waiting.last, anchors[next].revision <= revision {
        waiting.removeLast()
        moving.append(next)
        starts.append(anchors[next].start)
        ends.append(anchors[next].end)
      }
    }
    revision += 1
    gathered.append(operation)
    gatheredBytes += operation.insertedBytes + 8 * operation.componentCount
    if gathered.count >= Self.countMax || gatheredBytes >= Self.bytesMax { passGathered() }
  }

  /// Moves the ranges as ``CommentAnchor/pass(_:)`` does. A start that has moved behind its end
  /// stays behind it, so it is corrected only once, in ``finished()``.
  private mutating func passGathered() {
    Cursor.transform(&starts, over: gathered[...], own: true)
    Cursor.transform(&ends, over: gathered[...], own: false)
    gathered.removeAll(keepingCapacity: true)
    gatheredBytes = 0
  }

  /// Returns the ranges after the last operation, in their original order.
  mutating func finished() -> [CommentAnchor] {
    passGathered()
    for (place, index) in moving.enumerated() {
      anchors[index] = CommentAnchor(
        revision: revision, start: min(starts[place], ends[place]), end: ends[place])
    }
    return anchors
  }
}
