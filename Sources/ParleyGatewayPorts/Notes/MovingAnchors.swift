import OTCore

/// Ranges of comments on their way over the operations of a log, each from its own revision.
///
/// Operations are gathered, and all ranges pass them at once: many ranges and many operations cost about
/// the sum of both, and not the product.
///
///     revision   3     4     5     6     7
///     range at 3 ├─────┴─────┼─────┴────▶│
///     range at 5             ├──────────▶│
struct MovingAnchors {
  /// Operations that gather at most, and about how many bytes of them.
  private static let (countMax, bytesMax) = (1_024, 1 << 20)

  private var anchors: [CommentAnchor]
  /// Ranges that do not move yet; the next one to move is last.
  private var waiting: [Int]
  /// Ranges that move, with their beginnings and ends.
  private var moving: [Int] = []
  private var starts: [Int] = []
  private var ends: [Int] = []
  private var gathered: [TextOperation] = []
  private var gatheredBytes = 0
  /// The revision behind the last operation.
  private var revision: Int

  /// Takes ranges, none of which is gone.
  init(_ anchors: [CommentAnchor]) {
    self.anchors = anchors
    waiting = anchors.indices.sorted { anchors[$0].revision > anchors[$1].revision }
    revision = waiting.last.map { anchors[$0].revision } ?? 0
  }

  /// The revision from which on operations are wanted.
  var first: Int { revision }

  /// Passes the operation that makes the next revision.
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

  /// See ``CommentAnchor/pass(_:)``. A start that has come behind its end stays there, whatever follows: it
  /// is enough to correct it at the end.
  private mutating func passGathered() {
    Cursor.transform(&starts, over: gathered[...], own: true)
    Cursor.transform(&ends, over: gathered[...], own: false)
    gathered.removeAll(keepingCapacity: true)
    gatheredBytes = 0
  }

  /// Returns the ranges behind the last operation, in the order in which they came.
  mutating func finished() -> [CommentAnchor] {
    passGathered()
    for (place, index) in moving.enumerated() {
      anchors[index] = CommentAnchor(
        revision: revision, start: min(starts[place], ends[place]), end: ends[place])
    }
    return anchors
  }
}
