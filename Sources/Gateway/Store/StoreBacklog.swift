/// Accounts for the work that waits for the store: requests, bytes, and the longest wait.
///
/// It counts work between ``add(bytes:)`` and ``remove(_:bytes:)``; it contains no requests itself.
/// It also records when each piece of work began, because the longest wait shows whether the store
/// still responds.
package struct StoreBacklog: Sendable {
  /// The limits at which no more work is accepted.
  package struct Limits: Sendable {
    /// Maximum changes, publications and other requests.
    package var requestsMax: Int
    /// Maximum approximate bytes of the requests.
    package var bytesMax: Int

    package init(requestsMax: Int, bytesMax: Int) {
      self.requestsMax = requestsMax
      self.bytesMax = bytesMax
    }
  }

  private let limits: Limits
  /// The number of waiting requests.
  package private(set) var requests = 0
  /// The approximate bytes of the waiting requests.
  package private(set) var bytes = 0
  /// The start of each piece of work, in order of the numbers. Finished work is removed once all
  /// work before it has finished.
  private var begun: [(number: UInt64, uptime: Int64)] = []
  /// The index of the first unfinished piece of work.
  private var first = 0
  /// The numbers of finished work that follows unfinished work.
  private var over: Set<UInt64> = []

  /// Creates an empty account.
  package init(_ limits: Limits) { self.limits = limits }

  /// Whether no more may be added. The last request may exceed the limit.
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

  /// Records the start of a piece of work. Numbers ascend.
  package mutating func begin(_ number: UInt64, at uptime: Int64) {
    begun.append((number, uptime))
  }

  /// Records the end of a piece of work; ignored if it has not begun.
  ///
  /// - Complexity: Amortised O(log *n*) pieces of work.
  package mutating func end(_ number: UInt64) {
    guard hasBegun(number) else { return }
    over.insert(number)
    while first < begun.count, over.remove(begun[first].number) != nil { first += 1 }
    // Removes the finished part when it is the larger one.
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

  /// Returns the milliseconds that the oldest piece of work has waited; 0 if missing.
  package func wait(at uptime: Int64) -> Int64 {
    first < begun.count ? max(0, uptime - begun[first].uptime) : 0
  }
}
