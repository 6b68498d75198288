package import Gateway
package import ParleyGatewayPorts

/// The queue of the reading thread, in which steps of long reads yield to all other reads.
///
/// A step takes a few milliseconds, and a long read requests the next step only after the previous
/// one is done. So a short read rarely waits for more than one step, however many long reads are
/// running. Steps do not starve: one runs after every ``readsBeforeStep`` other reads.
package struct ReadQueue {
  /// A waiting read.
  package typealias Item = (ticket: StoreTicket?, request: StoreRequest)

  /// The number of other reads that overtake a waiting step.
  package static let readsBeforeStep = 8

  /// Items in order of arrival; the first `takenCount` of them have been removed.
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
  /// The number of other reads taken while a step has been waiting.
  private var readsTaken = 0

  /// Creates an empty queue.
  package init() {}

  /// The number of waiting reads.
  package var count: Int { reads.count + steps.count }

  /// Whether the queue is empty.
  package var isEmpty: Bool { count == 0 }

  /// Appends a read to the reads of its kind: steps, or others.
  package mutating func append(_ item: Item) {
    if item.request.traits.way == .step { steps.append(item) } else { reads.append(item) }
  }

  /// Removes and returns the next read; `nil` if the queue is empty.
  ///
  /// - Complexity: O(1), amortised.
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
