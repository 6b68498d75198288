import ParleyLocks

/// Runs the same work for several items concurrently.
package enum Concurrently {
  /// Performs work for each item on a separate thread, for the first item on the calling one.
  /// Returns when all of it is done.
  package static func run<Item: Sendable>(
    _ items: [Item], _ work: @escaping @Sendable (Item) -> Void
  ) {
    guard let first = items.first else { return }
    let left = Monitor(items.count - 1)
    for item in items.dropFirst() {
      SystemThread.start {
        work(item)
        left.change { $0 -= 1 }
      }
    }
    work(first)
    left.wait { $0 == 0 }
  }
}
