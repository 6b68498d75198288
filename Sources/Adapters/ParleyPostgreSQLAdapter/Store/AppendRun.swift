package import ParleyGatewayPorts

/// The procedure for a batch of appends that are sent in one statement, each with its own outcome:
/// connect, send, and find out why a log rejected its append. A rejected statement has no effect.
/// If a reply is lost, the log shows whether the statement took effect.
///
/// A state machine without I/O: each event returns the next action.
///
/// ```
/// connect ─▶ send ─▶ judge ─▶ finish
///    ▲        │        │
///    └────────┴────────┘   a race, a lost connection, a log that would take its append now
/// ```
package struct AppendRun {
  /// The next step for the owner. Numbers are indices of appends in the batch.
  package enum Action: Equatable {
    /// Ensure that there is a connection. If `isUndecided`, a sent statement may have succeeded.
    case connect(isUndecided: Bool)
    /// Send the appends of these that follow their heads.
    case send([Int])
    /// Find out why these appends were rejected, or whether an earlier attempt has succeeded.
    case judge([Int])
    /// Send these appends in two batches, to isolate an append that the database rejects.
    case split([Int], [Int])
    /// Every append has a reply.
    case finish
  }

  private enum State {
    /// No reply was lost. Next: any state.
    case decided(attempts: Int)
    /// The reply to a sent statement was lost. Next: `undecided`, `finished`.
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

  /// The maximum attempts for a batch. In a store that is not shared, an undecided batch is retried
  /// until its outcome is known.
  private static let attemptsMax = 5

  /// The replies so far, one for each append; `nil` while it is open.
  package private(set) var replies: [StoreReply?]
  private let isShared: Bool
  private var state = State.decided(attempts: 0)

  /// - Parameter isShared: Whether other processes may append to the same logs.
  package init(count: Int, isShared: Bool) {
    replies = Array(repeating: nil, count: count)
    self.isShared = isShared
  }

  private var open: [Int] { replies.indices.filter { replies[$0] == nil } }

  /// Returns the first action.
  package func begin() -> Action { .connect(isUndecided: false) }

  /// A connection is established.
  package func connected() -> Action { .send(open) }

  /// No connection could be established; `error` is the reply to the open appends.
  package mutating func notConnected(_ error: StoreError) -> Action { finish(failing: error) }

  /// The reply to the statement was received, or nothing was sent.
  ///
  /// - Parameter done: The replies to the appends that succeeded.
  package mutating func sent(_ done: [(place: Int, reply: StoreReply)]) -> Action {
    take(done)
    let open = open
    return open.isEmpty ? finish() : .judge(open)
  }

  /// Sending has failed, or reading the heads before it.
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
  ///   - replies: The replies to the appends that their logs reject; the others are sent again.
  ///   - error: The error of reading a log.
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

  /// The appends were sent in two batches.
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

  /// Fails the open appends.
  private mutating func finish(failing error: StoreError) -> Action {
    take(open.map { ($0, .failed(error)) })
    return finish()
  }
}
