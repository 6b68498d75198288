/// The reason why a client's state does not match a message of the server.
public enum SynchronizerError: Error, Sendable, Equatable {
  /// The received revision is not the next one.
  case outOfOrder(expected: Int, found: Int)
  /// The acknowledged change is not in flight.
  case notInFlight(sequence: Int)
  /// An operation does not fit its text.
  case operation(OperationError)
}

/// A client's side of a plain-text note.
public typealias ClientSynchronizer = Synchronizer<TextOperation>

/// A client's side of a note with formatting.
public typealias RichSynchronizer = Synchronizer<RichOperation>

/// A client's side of one document: a queue of unconfirmed operations, which remote operations are
/// transformed over.
///
///     synchronised ──edit──▶ awaiting ──edit──▶ awaiting with more behind
///          ▲                    │ ▲                    │
///          └────acknowledged────┘ └────acknowledged────┘
///
/// At most the first operation of the queue is in flight; the waiting ones are sent together as one
/// change. At one position, committed inserts go left of unconfirmed ones.
///
/// The functions called for each keystroke are specialized for both operation types, for callers in
/// other modules; Embedded Swift specializes all functions.
public struct Synchronizer<Operation: SynchronizedOperation>: Sendable {
  /// A change as it is sent. After a lost connection it is sent again unaltered.
  public struct Change: Sendable, Hashable {
    /// The client's sequence number for the change, from 1.
    public let sequence: Int
    /// The revision to which the operation applies.
    public let revision: Int
    /// The operation.
    public let operation: Operation

    /// Creates a change as it was sent before.
    public init(sequence: Int, revision: Int, operation: Operation) {
      self.sequence = sequence
      self.revision = revision
      self.operation = operation
    }
  }

  /// The state of the connection.
  enum Line: Sendable {
    case connected
    case disconnected
    /// Disconnected after a restoration: the server may have later changes of this client.
    case restored
  }

  /// The id of the history that ``revision`` counts in.
  public internal(set) var epoch: String
  /// The newest revision known from the server.
  public internal(set) var revision: Int
  /// The limits of one change; a larger one is sent as several consecutive changes.
  public var limits = OperationLimits()
  /// Whether the last sent change contains only some of the waiting edits. Store the new state
  /// before the send: a process restored from an earlier state would assume that the change
  /// contained all of them.
  public private(set) var isPart = false
  var line = Line.connected
  var nextSequence: Int
  /// All unconfirmed edits, oldest first.
  var queue: [Pending<Operation>] = []

  /// Creates a synchroniser from a state that the server has sent.
  public init(epoch: String, revision: Int, nextSequence: Int = 1) {
    self.epoch = epoch
    self.revision = revision
    self.nextSequence = nextSequence
  }

  /// Whether changes can be sent.
  public var isConnected: Bool { line == .connected }

  /// Whether edits wait because the server has refused one; see ``refuse(sequence:)``.
  public var isHeld: Bool {
    if case .refused? = queue.first?.state { true } else { false }
  }

  /// The number of edits that the server has not acknowledged.
  public var unconfirmedCount: Int { queue.reduce(0) { $0 + $1.edits } }

  /// All unconfirmed edits as one operation on the server's text at ``revision``.
  ///
  /// - Complexity: O(unconfirmed components), plus the text copied.
  public var pending: Operation? { queue.composed() }

  /// Adds a local edit.
  ///
  /// - Returns: The change to send now; `nil` if the edit waits for another change or for a
  ///   connection.
  /// - Throws: `operation` if the edit does not start from the text after the earlier edits.
  ///   Nothing changes then.
  /// - Complexity: O(components of the edit · log *waiting edits*) amortised.
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

  /// Sends all waiting edits as one change, or its first part if it exceeds ``limits``.
  ///
  /// - Returns: The change to send; `nil` if another is in flight or refused, or nothing waits.
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

  /// Records that the change in flight has become a revision. An acknowledgement of a known
  /// revision is ignored: it answers a change that was sent again while its first acknowledgement
  /// was on its way.
  ///
  /// - Returns: The next change to send.
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
  /// - Returns: The operation to apply to the local text.
  /// - Complexity: O(unconfirmed components + *n* · log *waiting edits*), for *n* components.
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

  /// Records that the connection is lost; edits wait from now on.
  public mutating func disconnect() {
    if line == .connected { line = .disconnected }
  }

  /// Records that the connection is open and all missed changes were received. Refused edits are
  /// sent again, because the refusal may have concerned the old connection.
  ///
  /// - Returns: The change to send: the one in flight as it was first sent, or the waiting edits. A
  ///   change that a text has overtaken becomes a new change.
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
      // The server would transform an overtaken change as it was sent, which no longer matches it.
      case .overtaken, .refused, .sinceRestored: queue[index].state = .waiting
      }
    }
    return changeInFlight ?? send()
  }

  /// Whether the server's whole text has replaced the text to which the change in flight applies.
  /// The server has refused the change, or will refuse it. Joining again makes it a new change, see
  /// ``reconnect()``. If it was refused already, no other answer follows.
  public var isOvertaken: Bool {
    if case .overtaken? = queue.first?.state { true } else { false }
  }

  /// The sequence number of the next new change.
  package var numberOfNext: Int { nextSequence }

  /// The change in flight, as it was sent.
  public var changeInFlight: Change? { queue.first?.change }

  /// The change to send again unaltered, after a temporary refusal or a late answer. `nil` if no
  /// change is in flight, or if a text has overtaken it: with the text's epoch it would be another
  /// change under the same number.
  public func retry() -> Change? { isOvertaken ? nil : changeInFlight }
}

extension Array {
  /// Transforms all entries over a committed operation.
  ///
  /// - Parameter remote: The operation on the server's text; on return, on the local text.
  /// - Returns: The entries as they apply after it.
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
