/// Why a client's and the server's view do not fit together.
public enum SynchronizerError: Error, Sendable, Equatable {
  /// An operation came whose revision is not the next one.
  case outOfOrder(expected: Int, found: Int)
  /// An acknowledgement came for a change that is not in flight.
  case notInFlight(sequence: Int)
  /// An operation does not fit.
  case operation(OperationError)
}

/// A client's side of one document: what is in flight, what waits behind it, and how remote
/// operations pass through both.
///
///     synchronised ──edit──▶ awaiting ──edit──▶ awaiting with buffer
///          ▲                    │ ▲                    │
///          └────acknowledged────┘ └────acknowledged────┘
///
/// Remote operations go left of own ones: what is committed stays left.
public struct ClientSynchronizer: Sendable {
  /// A change as it is sent, and sent again unaltered after a lost connection.
  public struct Change: Sendable, Hashable {
    /// The client's number for it, from 1.
    public let sequence: Int
    /// The revision it was made on.
    public let revision: Int
    /// The operation on that revision.
    public let operation: TextOperation

    /// Makes a change as it was sent once.
    public init(sequence: Int, revision: Int, operation: TextOperation) {
      self.sequence = sequence
      self.revision = revision
      self.operation = operation
    }
  }

  struct InFlight: Sendable {
    let change: Change
    /// The change's operation on the server's text at ``revision``.
    var rebased: TextOperation
    /// Whether a text came in its way: the server refuses it, and it goes out anew after that.
    var isOvertaken = false
  }

  /// Names the history that ``revision`` counts.
  public internal(set) var epoch: String
  /// The server's newest revision known here.
  public internal(set) var revision: Int
  /// Whether changes can be sent.
  public internal(set) var isConnected = true
  /// Whether edits wait because the server refused one; see ``refuse(sequence:)``.
  public internal(set) var isHeld = false
  var nextSequence: Int
  var inFlight: InFlight?
  var buffer: TextOperation?
  var bufferedEdits = 0
  /// Whether it goes on from a kept state, and has not yet heard from the server what became of that.
  var isRestored = false
  /// What was typed since it was restored. The server may have had what stands before it.
  var afterRestoring: TextOperation?
  var editsAfterRestoring = 0

  /// Starts from a state that the server has sent.
  public init(epoch: String, revision: Int, nextSequence: Int = 1) {
    self.epoch = epoch
    self.revision = revision
    self.nextSequence = nextSequence
  }

  /// How many edits the server has not acknowledged.
  public var unconfirmedCount: Int {
    (inFlight == nil ? 0 : 1) + bufferedEdits + editsAfterRestoring
  }

  /// All unconfirmed edits as one operation on the server's text at ``revision``.
  public var pending: TextOperation? {
    var all: TextOperation?
    for part in [inFlight?.rebased, buffer, afterRestoring] {
      guard let part else { continue }
      guard let before = all else {
        all = part
        continue
      }
      guard let both = try? before.composed(with: part) else { return nil }
      all = both
    }
    return all
  }

  /// Takes a local edit.
  ///
  /// - Returns: a change to send now; `nil` when it waits behind another or for a connection.
  public mutating func edit(_ operation: TextOperation) throws(SynchronizerError) -> Change? {
    do throws(OperationError) {
      if isRestored {
        afterRestoring = try Self.join(afterRestoring, operation)
        editsAfterRestoring += 1
      } else {
        buffer = try Self.join(buffer, operation)
        bufferedEdits += 1
      }
    } catch {
      throw .operation(error)
    }
    return sendBuffer()
  }

  /// What waits, and an operation behind it.
  static func join(
    _ waiting: TextOperation?, _ operation: TextOperation
  ) throws(OperationError) -> TextOperation {
    guard let waiting else { return operation }
    return try waiting.composed(with: operation)
  }

  mutating func sendBuffer() -> Change? {
    guard isConnected, !isHeld, inFlight == nil, let waiting = buffer else { return nil }
    let change = Change(sequence: nextSequence, revision: revision, operation: waiting)
    nextSequence += 1
    inFlight = InFlight(change: change, rebased: waiting)
    buffer = nil
    bufferedEdits = 0
    return change
  }

  /// The change in flight has become a revision. An acknowledgement of a revision that was seen
  /// already says nothing new: it answers a change that was sent again while its first
  /// acknowledgement was under way.
  ///
  /// - Returns: the next change to send.
  public mutating func acknowledge(
    sequence: Int, revision: Int
  ) throws(SynchronizerError) -> Change? {
    guard revision > self.revision else { return nil }
    guard let inFlight, inFlight.change.sequence == sequence else {
      throw .notInFlight(sequence: sequence)
    }
    guard revision == self.revision + 1 else {
      throw .outOfOrder(expected: self.revision + 1, found: revision)
    }
    self.revision = revision
    self.inFlight = nil
    return sendBuffer()
  }

  /// Somebody else's operation has become a revision.
  ///
  /// - Returns: what to apply to the local text.
  public mutating func receive(
    _ operation: TextOperation, revision: Int
  ) throws(SynchronizerError) -> TextOperation {
    guard revision == self.revision + 1 else {
      throw .outOfOrder(expected: self.revision + 1, found: revision)
    }
    var remote = operation
    var newInFlight = inFlight
    var newBuffer = buffer
    var newAfterRestoring = afterRestoring
    do throws(OperationError) {
      if let sent = inFlight {
        let (remoteAfter, sentAfter) = try TextOperation.transform(remote, sent.rebased)
        newInFlight?.rebased = sentAfter
        remote = remoteAfter
      }
      if let waiting = buffer {
        let (remoteAfter, waitingAfter) = try TextOperation.transform(remote, waiting)
        newBuffer = waitingAfter
        remote = remoteAfter
      }
      if let typed = afterRestoring {
        let (remoteAfter, typedAfter) = try TextOperation.transform(remote, typed)
        newAfterRestoring = typedAfter
        remote = remoteAfter
      }
    } catch {
      throw .operation(error)
    }
    inFlight = newInFlight
    buffer = newBuffer
    afterRestoring = newAfterRestoring
    self.revision = revision
    return remote
  }

  /// The connection is gone: edits wait.
  public mutating func disconnect() { isConnected = false }

  /// The connection is back and what was missed has been received. A refusal is forgotten: it may
  /// have been about the connection.
  ///
  /// - Returns: the change to send: the one in flight as it was first sent, or the buffer. One that
  ///   a text has overtaken goes out as a new change.
  public mutating func reconnect() -> Change? {
    isConnected = true
    isHeld = false
    try? endRestoring()
    // What the server would make of it as it was sent is not what stands here.
    if let sent = inFlight, sent.isOvertaken, (try? unsendOperation(sent)) != nil {
      nextSequence = sent.change.sequence
    }
    return inFlight?.change ?? sendBuffer()
  }

  /// Whether a text has overtaken the change in flight: it was made on what is no more, and was or
  /// will be refused. Joining again makes it a new change, see ``reconnect()``; if it was refused
  /// already, no answer comes that could be waited for.
  public var isOvertaken: Bool { inFlight?.isOvertaken ?? false }

  /// The change in flight, as it was sent.
  public var changeInFlight: Change? { inFlight?.change }

  /// The change to send again as it was, when it was refused and may be tried again, or when its
  /// answer takes long; `nil` when none is in flight, and when a text has overtaken it: on the epoch
  /// that came with the text it would be another change, under the same number.
  public func retry() -> Change? { isOvertaken ? nil : changeInFlight }
}
