import ParleyGatewayPorts

/// Long reads of the store, which take many steps: of each stranger one is under way, and others wait for it.
///
///     begin(a) ─▶ started     begin(b) ─▶ waits     end(a) ─▶ starts b
///
/// So the steps of a stranger's reads do not fill the queue of reads, however many requests it sends. Requests of
/// clients without a stranger, such as those of this machine in the open demo, wait for none.
struct LongReads {
  /// The result of a request to begin.
  enum Admission: Equatable {
    /// The read has begun.
    case started
    /// The read begins once others of the same stranger have ended.
    case waits
    /// The read is refused: too many are under way or wait, over all or of the stranger.
    case refused
  }

  /// Reads under way and waiting, over all strangers; one stranger has at most half of them.
  static let readsMax = 512

  private struct Queue {
    var current: RequestID
    /// The reads that wait, the oldest first.
    var waiting: [(request: RequestID, start: () -> Void)] = []
  }

  private var shares = FairShares<Stranger>(capacity: readsMax)
  private var queues: [Stranger: Queue] = [:]
  private var strangers: [RequestID: Stranger?] = [:]

  /// The number of reads under way and waiting.
  var count: Int { strangers.count }

  /// Whether a request's read is under way or waits.
  func contains(_ request: RequestID) -> Bool { strangers[request] != nil }

  /// Begins a read, or queues it.
  ///
  /// - Parameter start: Called now, or when the read's turn comes.
  mutating func begin(
    _ request: RequestID, by stranger: Stranger?, _ start: @escaping () -> Void
  ) -> Admission {
    guard shares.take(1, for: stranger) == nil else { return .refused }
    strangers.updateValue(stranger, forKey: request)
    guard let stranger else { return .started }
    guard queues[stranger] != nil else {
      queues[stranger] = Queue(current: request)
      return .started
    }
    queues[stranger]?.waiting.append((request, start))
    return .waits
  }

  /// Ends a read that was answered or given up.
  ///
  /// - Returns: The start of the stranger's next read; `nil` if there is none.
  /// - Complexity: O(1), and O(*n*) in the stranger's waiting reads.
  mutating func end(_ request: RequestID) -> (() -> Void)? {
    guard let found = strangers.removeValue(forKey: request) else { return nil }
    shares.give(1, for: found)
    guard let stranger = found, var queue = queues[stranger] else { return nil }
    guard queue.current == request else {
      queue.waiting.removeAll { $0.request == request }
      queues[stranger] = queue
      return nil
    }
    guard !queue.waiting.isEmpty else {
      queues[stranger] = nil
      return nil
    }
    let next = queue.waiting.removeFirst()
    queue.current = next.request
    queues[stranger] = queue
    return next.start
  }
}
