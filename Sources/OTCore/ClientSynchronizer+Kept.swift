// A client's state as plain values, so that unconfirmed edits can be stored.

extension Synchronizer {
  /// The complete state of a synchroniser as plain values, for storing unconfirmed edits across
  /// processes. The caller stores the local text with it.
  public struct Kept: Sendable, Hashable {
    /// The id of the history that `revision` counts in.
    public var epoch: String
    /// The newest revision known from the server.
    public var revision: Int
    /// The sequence number of the next change.
    public var nextSequence: Int
    /// The change in flight, as it was sent.
    public var inFlight: Change?
    /// The operation of the change in flight, rebased on the server's text at `revision`.
    public var rebased: Operation?
    /// The waiting operation, after the change in flight.
    public var buffer: Operation?
    /// The number of edits in `buffer`.
    public var bufferedEdits: Int
    /// The edits typed after an earlier restoration, before the server has answered.
    public var afterRestoring: Operation?
    /// The number of edits in `afterRestoring`.
    public var editsAfterRestoring: Int

    /// Creates a state, for ``Synchronizer/init(_:)``.
    public init(
      epoch: String, revision: Int, nextSequence: Int, inFlight: Change? = nil,
      rebased: Operation? = nil, buffer: Operation? = nil, bufferedEdits: Int = 0,
      afterRestoring: Operation? = nil, editsAfterRestoring: Int = 0
    ) {
      self.epoch = epoch
      self.revision = revision
      self.nextSequence = nextSequence
      self.inFlight = inFlight
      self.rebased = rebased
      self.buffer = buffer
      self.bufferedEdits = bufferedEdits
      self.afterRestoring = afterRestoring
      self.editsAfterRestoring = editsAfterRestoring
    }
  }

  /// The state to store.
  ///
  /// A change in flight that the server's whole text has overtaken is stored as a waiting one: the
  /// server will refuse it.
  ///
  /// - Complexity: O(unconfirmed components), plus the text copied.
  public var kept: Kept {
    var kept = Kept(epoch: epoch, revision: revision, nextSequence: nextSequence)
    var waiting: [Pending<Operation>] = []
    var sinceRestored: [Pending<Operation>] = []
    for entry in queue {
      switch entry.state {
      case .sent(let change):
        kept.inFlight = change
        kept.rebased = entry.operation
      case .overtaken(let change):
        kept.nextSequence = change.sequence
        waiting.append(entry)
      case .refused, .waiting: waiting.append(entry)
      case .sinceRestored: sinceRestored.append(entry)
      }
    }
    kept.buffer = waiting.composed()
    kept.bufferedEdits = waiting.reduce(0) { $0 + $1.edits }
    kept.afterRestoring = sinceRestored.composed()
    kept.editsAfterRestoring = sinceRestored.reduce(0) { $0 + $1.edits }
    return kept
  }

  /// Restores a stored state, disconnected. Store the new state before you send a change that
  /// ``reconnect()`` or
  /// ``rebase(from:to:epoch:revision:lastSequence:formerSequence:isSameConnection:)`` returns:
  /// after the send, the server may then have text that was typed since the restoration.
  ///
  /// An operation whose base length is not the target length of the previous one is dropped, with
  /// all later ones; ``kept`` never returns such a state.
  public init(_ kept: Kept) {
    self.init(epoch: kept.epoch, revision: kept.revision, nextSequence: kept.nextSequence)
    line = .restored
    if let change = kept.inFlight {
      queue.append(Pending(state: .sent(change), operation: kept.rebased ?? change.operation))
    }
    var entries: [Pending<Operation>] = []
    if let buffer = kept.buffer {
      entries.append(
        Pending(state: .waiting, operation: buffer, edits: max(1, kept.bufferedEdits)))
    }
    if let typed = kept.afterRestoring {
      entries.append(
        Pending(state: .sinceRestored, operation: typed, edits: max(1, kept.editsAfterRestoring)))
    }
    for entry in entries {
      if let last = queue.last, last.operation.targetLength != entry.operation.baseLength { return }
      queue.append(entry)
    }
  }
}
