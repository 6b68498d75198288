package import Gateway
package import GatewayPorts

/// The reads that wait for the reading thread: steps of long reads give way to all others.
///
/// A step takes a few milliseconds, and a long read asks for the next one only when it is done. So a read of a text waits
/// for one step at most, however many lists are being read. Steps are not held up for ever: one is done after every
/// ``readsBeforeStep`` other reads.
package struct ReadQueue {
  /// A read that waits.
  package typealias Item = (ticket: StoreTicket?, request: StoreRequest)

  /// The number of other reads that a waiting step gives way to.
  package static let readsBeforeStep = 8

  /// Items in the order in which they came, and the number of those at the beginning that were taken.
  private struct Line {
    private var items: [Item] = []
    private var takenCount = 0

    var count: Int { items.count - takenCount }

    mutating func append(_ item: Item) { items.append(item) }

    mutating func popFirst() -> Item? {
      guard takenCount < items.count else { return nil }
      let item = items[takenCount]
      takenCount += 1
      if takenCount == items.count {
        (items, takenCount) = ([], 0)
      } else if takenCount >= 64, takenCount * 2 >= items.count {
        items.removeFirst(takenCount)
        takenCount = 0
      }
      return item
    }
  }

  private var reads = Line()
  private var steps = Line()
  /// The number of reads that were taken since a step waits.
  private var readsTaken = 0

  /// A queue without reads.
  package init() {}

  /// The number of reads that wait.
  package var count: Int { reads.count + steps.count }

  /// Whether no read waits.
  package var isEmpty: Bool { count == 0 }

  /// Adds a read behind others of its kind.
  package mutating func append(_ item: Item) {
    if item.request.traits.way == .step { steps.append(item) } else { reads.append(item) }
  }

  /// Removes and returns the next read.
  ///
  /// - Complexity: O(1) over many calls.
  package mutating func popFirst() -> Item? {
    if steps.count == 0 {
      readsTaken = 0
    } else if readsTaken >= Self.readsBeforeStep || reads.count == 0 {
      readsTaken = 0
      return steps.popFirst()
    } else {
      readsTaken += 1
    }
    return reads.popFirst()
  }
}
