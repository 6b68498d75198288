/// A queue of sessions to be written to, in order.
struct SessionQueue {
  private var sessions: [Session] = []
  /// The number of removed sessions at the beginning of the array.
  private var head = 0

  /// The number of sessions.
  var count: Int { sessions.count - head }

  /// Whether there are no sessions.
  var isEmpty: Bool { head == sessions.count }

  /// Appends a session.
  mutating func append(_ session: Session) { sessions.append(session) }

  /// Inserts sessions after the first `count` ones.
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
      // Do not retain the capacity of a single large broadcast.
      sessions.removeAll(keepingCapacity: head <= 1_024)
      head = 0
    } else if head >= 64, head * 2 >= sessions.count {
      sessions.removeFirst(head)
      head = 0
    }
    return session
  }
}
