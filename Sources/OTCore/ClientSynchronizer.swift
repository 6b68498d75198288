/// Why a client's and the server's view do not fit together.
public enum SynchronizerError: Error, Sendable, Equatable {
  /// An operation came whose revision is not the next one.
  case outOfOrder(expected: Int, found: Int)
  /// An acknowledgement came for a change that is not in flight.
  case notInFlight(sequence: Int)
  /// An operation does not fit.
  case operation(OperationError)
}

/// A client's side of a note whose text is all that it has.
public typealias ClientSynchronizer = Synchronizer<TextOperation>

/// A client's side of a note with formatting.
public typealias RichSynchronizer = Synchronizer<RichOperation>

/// A client's side of one document: a queue of unconfirmed operations, and how remote operations
/// pass through it.
///
///     synchronised ──edit──▶ awaiting ──edit──▶ awaiting with more behind
///          ▲                    │ ▲                    │
///          └────acknowledged────┘ └────acknowledged────┘
///
/// At most the first operation of the queue is in flight; what waits behind it goes out as one
/// change. Remote operations go left of own ones: what is committed stays left.
///
/// The calls of each keystroke are compiled for both kinds of operations, for callers in other modules;
/// Embedded Swift compiles for the used kind anyway.
public struct Synchronizer<Operation: SynchronizedOperation>: Sendable {
  /// A change as it is sent, and sent again unaltered after a lost connection.
  public struct Change: Sendable, Hashable {
    /// The client's number for it, from 1.
    public let sequence: Int
    /// The revision it was made on.
    public let revision: Int
    /// The operation on that revision.
    public let operation: Operation

    /// Makes a change as it was sent once.
    public init(sequence: Int, revision: Int, operation: Operation) {
      self.sequence = sequence
      self.revision = revision
      self.operation = operation
    }
  }

  /// The connection, as far as it matters here.
  enum Line: Sendable {
    case connected
    case disconnected
    /// Disconnected, after restoring a stored state: the server may have newer changes of this
    /// client.
    case restored
  }

  /// Names the history that ``revision`` counts.
  public internal(set) var epoch: String
  /// The server's newest revision known here.
  public internal(set) var revision: Int
  /// The limits of one change; a larger one is sent as several, one after the other.
  public var limits = OperationLimits()
  /// Whether the change sent last contains only some of the waiting edits. A new process that
  /// restores a state from before the send assumes that all of them were sent in one change: store
  /// the new state first.
  public private(set) var isPart = false
  var line = Line.connected
  var nextSequence: Int
  /// All unconfirmed edits, oldest first.
  var queue: [Pending<Operation>] = []

  /// Starts from a state that the server has sent.
  public init(epoch: String, revision: Int, nextSequence: Int = 1) {
    self.epoch = epoch
    self.revision = revision
    self.nextSequence = nextSequence
  }

  /// Whether changes can be sent.
  public var isConnected: Bool { line == .connected }

  /// Whether edits wait because the server refused one; see ``refuse(sequence:)``.
  public var isHeld: Bool {
    if case .refused? = queue.first?.state { true } else { false }
  }

  /// The number of edits that the server has not acknowledged.
  public var unconfirmedCount: Int { queue.reduce(0) { $0 + $1.edits } }

  /// All unconfirmed edits as one operation on the server's text at ``revision``.
  ///
  /// - Complexity: O(components of all), plus the text copied.
  public var pending: Operation? { queue.composed() }

  /// Takes a local edit.
  ///
  /// - Returns: a change to send now; `nil` when it waits behind another or for a connection.
  /// - Throws: `operation` when it does not start from what the edits before leave; nothing has
  ///   changed then.
  /// - Complexity: O(components of the edit · log *edits that wait*) amortised.
  #if !hasFeature(Embedded)
    @specialized(where Operation == TextOperation)
    @specialized(where Operation == RichOperation)
  #endif
  public mutating func edit(_ operation: Operation) throws(SynchronizerError) -> Change? {
    if let last = queue.last, last.operation.targetLength != operation.baseLength {
      throw .operation(
        .lengthMismatch(expected: last.operation.targetLength, found: operation.baseLength))
    }
    queue.push(
      Pending(state: line == .restored ? .sinceRestored : .waiting, operation: operation))
    return send()
  }

  /// Sends all that waits as one change, or the first part of it when it exceeds ``limits``.
  ///
  /// - Returns: the change to send; `nil` when another is in flight or held, or nothing waits.
  mutating func send() -> Change? {
    guard isConnected, case .waiting? = queue.first?.state, let all = queue.composed() else {
      return nil
    }
    var parts = all.split(within: limits)[...]
    let change = Change(
      sequence: nextSequence, revision: revision, operation: parts.removeFirst())
    nextSequence += 1
    queue.removeAll(keepingCapacity: true)
    queue.append(Pending(state: .sent(change), operation: change.operation))
    isPart = !parts.isEmpty
    for part in parts { queue.append(Pending(state: .waiting, operation: part)) }
    return change
  }

  /// The change in flight has become a revision. An acknowledgement of a revision that was seen
  /// already says nothing new: it answers a change that was sent again while its first
  /// acknowledgement was under way.
  ///
  /// - Returns: the next change to send.
  #if !hasFeature(Embedded)
    @specialized(where Operation == TextOperation)
    @specialized(where Operation == RichOperation)
  #endif
  public mutating func acknowledge(
    sequence: Int, revision: Int
  ) throws(SynchronizerError) -> Change? {
    guard revision > self.revision else { return nil }
    guard changeInFlight?.sequence == sequence else {
      throw .notInFlight(sequence: sequence)
    }
    guard revision == self.revision + 1 else {
      throw .outOfOrder(expected: self.revision + 1, found: revision)
    }
    self.revision = revision
    queue.removeFirst()
    return send()
  }

  /// Receives another client's operation, which has become a revision.
  ///
  /// - Returns: what to apply to the local text.
  /// - Complexity: O(components that are unconfirmed + *n* · log *edits that wait*).
  #if !hasFeature(Embedded)
    @specialized(where Operation == TextOperation)
    @specialized(where Operation == RichOperation)
  #endif
  public mutating func receive(
    _ operation: Operation, revision: Int
  ) throws(SynchronizerError) -> Operation {
    guard revision == self.revision + 1 else {
      throw .outOfOrder(expected: self.revision + 1, found: revision)
    }
    var remote = operation
    do throws(OperationError) {
      queue = try queue.passed(by: &remote)
    } catch {
      throw .operation(error)
    }
    self.revision = revision
    return remote
  }

  /// The connection is gone: edits wait.
  public mutating func disconnect() {
    if line == .connected { line = .disconnected }
  }

  /// The connection is back and what was missed has been received. A refusal is forgotten: it may
  /// have been about the connection.
  ///
  /// - Returns: the change to send: the one in flight as it was first sent, or what waits. One that
  ///   a text has overtaken goes out as a new change.
  #if !hasFeature(Embedded)
    @specialized(where Operation == TextOperation)
    @specialized(where Operation == RichOperation)
  #endif
  public mutating func reconnect() -> Change? {
    line = .connected
    if case .overtaken(let change)? = queue.first?.state { nextSequence = change.sequence }
    for index in queue.indices {
      switch queue[index].state {
      case .sent, .waiting: break
      // The server rebases an overtaken change as it was sent, not as it is here.
      case .overtaken, .refused, .sinceRestored: queue[index].state = .waiting
      }
    }
    return changeInFlight ?? send()
  }

  /// Whether a text has overtaken the change in flight: it was made on what is no more, and was or
  /// will be refused. Joining again makes it a new change, see ``reconnect()``; if it was refused
  /// already, no answer comes that could be waited for.
  public var isOvertaken: Bool {
    if case .overtaken? = queue.first?.state { true } else { false }
  }

  /// The number of the next change that is not sent yet.
  package var numberOfNext: Int { nextSequence }

  /// The change in flight, as it was sent.
  public var changeInFlight: Change? { queue.first?.change }

  /// The change to send again as it was, when it was refused and may be tried again, or when its
  /// answer takes long; `nil` when none is in flight, and when a text has overtaken it: on the epoch
  /// that came with the text it would be another change, under the same number.
  public func retry() -> Change? { isOvertaken ? nil : changeInFlight }
}

extension Array {
  /// Transforms all entries over an operation that has the left side.
  ///
  /// - Parameter remote: It starts from the server's text; afterwards from the local one.
  /// - Returns: the entries as they apply behind it.
  func passed<Operation>(
    by remote: inout Operation
  ) throws(OperationError) -> [Pending<Operation>] where Element == Pending<Operation> {
    var passing = remote
    var moved: [Pending<Operation>] = []
    moved.reserveCapacity(count)
    for var entry in self {
      (passing, entry.operation) = try Operation.transform(passing, entry.operation)
      moved.push(entry)
    }
    remote = passing
    return moved
  }
}
