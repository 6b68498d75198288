// A client's state as plain values, for edits that outlive the process.

extension Synchronizer {
  /// The whole state of a synchroniser as plain values, for storing unconfirmed edits beyond the
  /// life of the process. The caller stores the local text with it.
  public struct Kept: Sendable, Hashable {
    /// Names the history that `revision` counts.
    public var epoch: String
    /// The server's newest revision known here.
    public var revision: Int
    /// The number of the next change.
    public var nextSequence: Int
    /// The change in flight, as it was sent.
    public var inFlight: Change?
    /// The change in flight on the server's text at `revision`.
    public var rebased: Operation?
    /// The operation that waits behind it.
    public var buffer: Operation?
    /// The number of edits in `buffer`.
    public var bufferedEdits: Int
    /// The edits typed after an earlier restoration, and before the server was heard.
    public var afterRestoring: Operation?
    /// The number of edits in `afterRestoring`.
    public var editsAfterRestoring: Int

    /// Makes a state, for ``Synchronizer/init(_:)``.
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

  /// The state to keep.
  ///
  /// A change that a text has overtaken is kept as one that waits: it will not be stored as it was sent.
  ///
  /// - Complexity: O(components that are unconfirmed), plus the text copied.
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

  /// Restores a stored state, disconnected. Store the new state before sending what ``reconnect()``
  /// or ``rebase(from:to:epoch:revision:lastSequence:formerSequence:isSameConnection:)`` returns:
  /// after that the server may have the text typed since.
  ///
  /// An operation that does not start where the one before it ends is left out, with those behind it:
  /// such a state was not made by ``kept``.
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
