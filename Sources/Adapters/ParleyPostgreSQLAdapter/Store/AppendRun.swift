package import ParleyGatewayPorts

/// The course of a batch of appends that one statement makes, each decided by itself: connect, send, and find out why
/// a log did not take its append. A refused statement has done nothing; one whose answer was lost is found in the log.
///
/// A state machine without I/O: each event returns what to do next.
///
/// ```
/// connect ─▶ send ─▶ judge ─▶ finish
///    ▲        │        │
///    └────────┴────────┘   a race, a lost connection, a log that would take its append now
/// ```
package struct AppendRun {
  /// The next step for the owner. Numbers are indices of appends in the batch.
  package enum Action: Equatable {
    /// Make sure of a connection. If the outcome is undecided, something was sent that may be done, or may yet be done.
    case connect(isUndecided: Bool)
    /// Send these appends, those that follow their heads.
    case send([Int])
    /// Find out why these appends were not taken, or whether an earlier attempt has made them.
    case judge([Int])
    /// Make these appends in two batches: one of them is refused, and fails by itself.
    case split([Int], [Int])
    /// Every append has its reply.
    case finish
  }

  private enum State {
    /// No answer was lost. Next: any.
    case decided(attempts: Int)
    /// The answer to something that was sent was lost. Next: `undecided`, `finished`.
    case undecided(attempts: Int)
    /// Final.
    case finished

    var isUndecided: Bool {
      switch self {
      case .undecided: true
      case .decided, .finished: false
      }
    }
  }

  /// Attempts before a batch fails; an undecided one of a store that no other process shares is retried until its
  /// outcome is known.
  private static let attemptsMax = 5

  /// The replies so far, one for each append.
  package private(set) var replies: [StoreReply?]
  private let isShared: Bool
  private var state = State.decided(attempts: 0)

  /// - Parameter isShared: Whether other processes may settle what is undecided.
  package init(count: Int, isShared: Bool) {
    replies = Array(repeating: nil, count: count)
    self.isShared = isShared
  }

  private var open: [Int] { replies.indices.filter { replies[$0] == nil } }

  /// The first thing to do.
  package func begin() -> Action { .connect(isUndecided: false) }

  /// There is a connection.
  package func connected() -> Action { .send(open) }

  /// There is no connection; `error` is the reason for the callers.
  package mutating func notConnected(_ error: StoreError) -> Action { finish(failing: error) }

  /// The statement was answered, or there was nothing to send.
  ///
  /// - Parameter done: The replies to those appends that were made.
  package mutating func sent(_ done: [(place: Int, reply: StoreReply)]) -> Action {
    take(done)
    let open = open
    return open.isEmpty ? finish() : .judge(open)
  }

  /// Sending failed, or reading the heads before it.
  package mutating func notSent(_ failure: PostgresFailure, wasSending: Bool) -> Action {
    switch state {
    case .decided(let attempts) where wasSending && failure.isConnection:
      state = .undecided(attempts: attempts + 1)
    case .decided(let attempts): state = .decided(attempts: attempts + 1)
    case .undecided(let attempts): state = .undecided(attempts: attempts + 1)
    case .finished: return .finish
    }
    switch state {
    case .decided(let attempts):
      if mayPass(failure), attempts < Self.attemptsMax { return .connect(isUndecided: false) }
      let open = open
      guard failure.storeError.isOfOneRequest, open.count > 1 else {
        return finish(failing: failure.storeError)
      }
      return .split(
        Array(open.prefix(open.count / 2)), Array(open.dropFirst(open.count / 2)))
    case .undecided(let attempts):
      guard mayPass(failure), attempts < Self.attemptsMax || !isShared else {
        return finish(failing: failure.unknownOutcome)
      }
      return .connect(isUndecided: true)
    case .finished: return .finish
    }
  }

  /// The logs were read.
  ///
  /// - Parameters:
  ///   - replies: The replies to those appends that their logs do not take; the others are sent again.
  ///   - error: Why not all logs could be read.
  package mutating func judged(
    _ replies: [(place: Int, reply: StoreReply)], error: StoreError? = nil
  ) -> Action {
    take(replies)
    if let error {
      return finish(
        failing: state.isUndecided
          ? .unknownOutcome("an answer of PostgreSQL was lost; read what it has") : error)
    }
    return open.isEmpty ? finish() : .connect(isUndecided: state.isUndecided)
  }

  /// The appends were made in two batches.
  package mutating func split(_ replies: [(place: Int, reply: StoreReply)]) -> Action {
    take(replies)
    return finish()
  }

  private func mayPass(_ failure: PostgresFailure) -> Bool {
    failure.isRace || failure.isConnection
  }

  private mutating func take(_ new: [(place: Int, reply: StoreReply)]) {
    for (place, reply) in new { replies[place] = reply }
  }

  private mutating func finish() -> Action {
    state = .finished
    return .finish
  }

  /// Fails what has no reply yet; made appends remain.
  private mutating func finish(failing error: StoreError) -> Action {
    take(open.map { ($0, .failed(error)) })
    return finish()
  }
}
