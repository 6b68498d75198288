/// An account of the work that waits for the store: how many requests, how many bytes, and since when.
///
/// It counts work that is added with ``add(bytes:)`` and removed with ``remove(_:bytes:)``; it holds no
/// requests itself. It also notes when each piece of work at the store began, because the longest wait
/// shows whether the store still works.
package struct StoreBacklog: Sendable {
  /// The bounds at which no more is taken.
  package struct Limits: Sendable {
    /// Changes, publications and other requests.
    package var requestsMax: Int
    /// Their approximate bytes.
    package var bytesMax: Int

    package init(requestsMax: Int, bytesMax: Int) {
      self.requestsMax = requestsMax
      self.bytesMax = bytesMax
    }
  }

  private let limits: Limits
  /// Requests that wait.
  package private(set) var requests = 0
  /// Their approximate bytes.
  package private(set) var bytes = 0
  /// The beginning of each piece of work, in the order of the numbers; work that is over may stay until
  /// it is the first.
  private var begun: [(number: UInt64, uptime: Int64)] = []
  /// The index of the first that is still looked at.
  private var first = 0
  /// Work that is over though older work is not.
  private var over: Set<UInt64> = []

  /// An account of nothing.
  package init(_ limits: Limits) { self.limits = limits }

  /// Whether no more may be added. The last piece may go beyond the limit.
  package var isFull: Bool { requests >= limits.requestsMax || bytes >= limits.bytesMax }

  /// Adds a request.
  package mutating func add(bytes count: Int) {
    requests += 1
    bytes += count
  }

  /// Removes requests.
  package mutating func remove(_ count: Int = 1, bytes byteCount: Int) {
    requests -= count
    bytes -= byteCount
    assert(requests >= 0 && bytes >= 0, "more was given back than was taken")
  }

  /// Removes all requests.
  package mutating func removeAll() { remove(requests, bytes: bytes) }

  /// A piece of work begins. Numbers rise.
  package mutating func begin(_ number: UInt64, at uptime: Int64) {
    begun.append((number, uptime))
  }

  /// A piece of work is over; nothing happens if it has not begun.
  ///
  /// - Complexity: O(log *n*) pieces of work, over the life of each.
  package mutating func end(_ number: UInt64) {
    guard hasBegun(number) else { return }
    over.insert(number)
    while first < begun.count, over.remove(begun[first].number) != nil { first += 1 }
    // The finished part is removed when it is the larger one.
    if first > 64, first * 2 > begun.count {
      begun.removeFirst(first)
      first = 0
    }
  }

  private func hasBegun(_ number: UInt64) -> Bool {
    var (low, high) = (first, begun.count)
    while low < high {
      let middle = (low + high) / 2
      if begun[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < begun.count && begun[low].number == number
  }

  /// Milliseconds that the oldest piece of work has waited; 0 if there is none.
  package func wait(at uptime: Int64) -> Int64 {
    first < begun.count ? max(0, uptime - begun[first].uptime) : 0
  }
}
