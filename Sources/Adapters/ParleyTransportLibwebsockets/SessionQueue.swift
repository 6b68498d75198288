/// Sessions in the order in which they are written to.
struct SessionQueue {
  private var sessions: [Session] = []
  /// The number of sessions at the beginning that were removed.
  private var head = 0

  /// The number of sessions.
  var count: Int { sessions.count - head }

  /// Whether there are no sessions.
  var isEmpty: Bool { head == sessions.count }

  /// Adds a session behind all others.
  mutating func append(_ session: Session) { sessions.append(session) }

  /// Adds sessions behind the first ones, of which there are so many.
  ///
  /// - Complexity: O(*n*).
  mutating func insert(_ more: ArraySlice<Session>, behind count: Int) {
    sessions.insert(contentsOf: more, at: head + count)
  }

  /// Removes and returns the first session.
  ///
  /// - Complexity: O(1) over many calls.
  mutating func popFirst() -> Session? {
    guard head < sessions.count else { return nil }
    let session = sessions[head]
    head += 1
    if head == sessions.count {
      // One that wrote to a crowd once keeps little.
      sessions.removeAll(keepingCapacity: head <= 1_024)
      head = 0
    } else if head >= 64, head * 2 >= sessions.count {
      sessions.removeFirst(head)
      head = 0
    }
    return session
  }
}
