import ParleyGatewayPorts

/// Long reads of the store, which take many steps. Each rate-limited client has one in progress;
/// its others wait.
///
///     begin(a) ─▶ started     begin(b) ─▶ waits     end(a) ─▶ starts b
///
/// So one client's reads cannot fill the queue of reads, however many requests it sends. Requests
/// of unlimited clients, such as those of this machine in the open demo, never wait.
struct LongReads {
  /// The result of a request to begin.
  enum Admission: Equatable {
    /// The read has begun.
    case started
    /// The read begins after earlier ones of the same client.
    case waits
    /// The read is refused: too many are in progress or waiting, in total or for the client.
    case refused
  }

  /// Maximum reads in progress and waiting. One client can have at most half of them.
  static let readsMax = 512

  private struct Queue {
    var current: RequestID
    /// The waiting reads, oldest first.
    var waiting: [(request: RequestID, first: StoreTask)] = []
  }

  private var shares = FairShares<LimitedClient>(capacity: readsMax)
  private var queues: [LimitedClient: Queue] = [:]
  private var limitedClients: [RequestID: LimitedClient?] = [:]

  /// The number of reads in progress and waiting.
  var count: Int { limitedClients.count }

  /// Whether a request's read is in progress or waiting.
  func contains(_ request: RequestID) -> Bool { limitedClients[request] != nil }

  /// Begins a read, or queues it.
  ///
  /// - Parameter first: The first step, which ``end(_:)`` returns later if the read waits.
  mutating func begin(
    _ request: RequestID, by limitedClient: LimitedClient?, _ first: StoreTask
  ) -> Admission {
    guard shares.take(1, for: limitedClient) == nil else { return .refused }
    limitedClients.updateValue(limitedClient, forKey: request)
    guard let limitedClient else { return .started }
    guard queues[limitedClient] != nil else {
      queues[limitedClient] = Queue(current: request)
      return .started
    }
    queues[limitedClient]?.waiting.append((request, first))
    return .waits
  }

  /// Ends a read that was answered or cancelled.
  ///
  /// - Returns: The first step of the client's next read; `nil` if none waits.
  /// - Complexity: O(1), and O(*n*) in the client's waiting reads.
  mutating func end(_ request: RequestID) -> StoreTask? {
    guard let found = limitedClients.removeValue(forKey: request) else { return nil }
    shares.give(1, for: found)
    guard let limitedClient = found, var queue = queues[limitedClient] else { return nil }
    guard queue.current == request else {
      queue.waiting.removeAll { $0.request == request }
      queues[limitedClient] = queue
      return nil
    }
    guard !queue.waiting.isEmpty else {
      queues[limitedClient] = nil
      return nil
    }
    let next = queue.waiting.removeFirst()
    queue.current = next.request
    queues[limitedClient] = queue
    return next.first
  }
}
