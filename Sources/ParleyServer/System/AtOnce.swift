import Locks

/// Work with several things at the same time.
package enum AtOnce {
  /// Does work with each item on a thread of its own, with the first on this one; returns when all of it
  /// is done.
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
