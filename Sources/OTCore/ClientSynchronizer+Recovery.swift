// What happens to unconfirmed edits when something goes wrong: the server refuses one, forgets this
// client, cannot tell what was missed, or the client's own process ends.

extension ClientSynchronizer {
  /// The change in flight as it stands on the server's text at ``revision``; `nil` when none is.
  public var unacknowledged: TextOperation? { inFlight?.rebased }

  /// The change in flight was refused for good: it was not stored, and its number is free again.
  ///
  /// Its edits go back in front of the later ones and wait there, visible to their author, until
  /// ``release()``. What the author does meanwhile counts: taking back half of a paste that was too
  /// long makes the change short enough.
  ///
  /// - Throws: `notInFlight` when another change, or none, is in flight.
  public mutating func refuse(sequence: Int) throws(SynchronizerError) {
    guard let sent = inFlight, sent.change.sequence == sequence else {
      throw .notInFlight(sequence: sequence)
    }
    try unsend(sent)
    nextSequence = sequence
    isHeld = true
  }

  /// Tries again what was refused.
  ///
  /// - Returns: the change to send.
  public mutating func release() -> Change? {
    isHeld = false
    return sendBuffer()
  }

  /// The server has counted so many changes of this client: it knows the client under a new id from
  /// now on, or has refused a change as one that cannot go in as it was sent. To be called before
  /// ``reconnect()``, when everything missed has been received: a change in flight that was not among
  /// it is known not to be stored.
  ///
  /// - Throws: `operation` when in-flight change and later edits do not fit, which is a bug.
  public mutating func renumber(lastSequence: Int) throws(SynchronizerError) {
    if let sent = inFlight { try unsend(sent) }
    nextSequence = lastSequence + 1
  }

  /// The server cannot tell what was missed and has sent its whole text: moves unconfirmed edits
  /// onto it.
  ///
  /// The rule: whatever happened from the old text to the new one is taken as the difference of the
  /// two, in lines and words, see ``TextOperation/init(changing:into:)``. Unconfirmed edits pass
  /// through it as through any operation, so all that was inserted here stays, next to what is left
  /// of its surroundings. When the server has stored the change in flight (`lastSequence` says so),
  /// the new text has it already.
  ///
  /// On the same connection a change in flight that is not stored yet stays in flight, see
  /// ``isOvertaken``: the server refuses it, for it was made before the text. Joining again, or on a
  /// new connection at once, it goes out as a new change.
  ///
  /// A restored synchroniser may be older than what the server has: if that knows a change beyond
  /// those of the kept state, the text has all that waited then, and only what was typed since goes on.
  ///
  /// - Parameters:
  ///   - old: The server's text at ``revision``.
  ///   - new: The server's text at the new revision.
  ///   - lastSequence: The newest change that the server has of this client.
  ///   - isSameConnection: Whether the snapshot came unasked, on the connection that was there.
  /// - Returns: what to apply to the local text, and the change to send.
  /// - Throws: `operation` when `old` is not the text at ``revision``.
  /// - Complexity: O(*old* + *new*), and a bounded number of steps beyond.
  public mutating func rebase(
    from old: Document, to new: Document, epoch: String, revision: Int, lastSequence: Int,
    isSameConnection: Bool = false
  ) throws(SynchronizerError) -> (apply: TextOperation, send: Change?) {
    var moved = self
    do throws(OperationError) {
      var base = old
      if let sent = moved.inFlight, sent.change.sequence <= lastSequence {
        try base.apply(sent.rebased)
        moved.inFlight = nil
      }
      if isRestored, lastSequence >= nextSequence, let waiting = moved.buffer {
        try base.apply(waiting)
        moved.buffer = nil
        moved.bufferedEdits = 0
      }
      let difference = TextOperation(changing: base, into: new)
      var local = difference
      if let sent = moved.inFlight {
        if isSameConnection {
          let (localAfter, sentAfter) = try TextOperation.transform(local, sent.rebased)
          moved.inFlight?.rebased = sentAfter
          moved.inFlight?.isOvertaken = true
          local = localAfter
        } else {
          try moved.unsendOperation(sent)
        }
      }
      if let waiting = moved.buffer {
        let (localAfter, waitingAfter) = try TextOperation.transform(local, waiting)
        moved.buffer = waitingAfter
        local = localAfter
      }
      if let typed = moved.afterRestoring {
        let (localAfter, typedAfter) = try TextOperation.transform(local, typed)
        moved.afterRestoring = typedAfter
        local = localAfter
      }
      try moved.endRestoring()
      moved.epoch = epoch
      moved.revision = revision
      moved.nextSequence = max(lastSequence, moved.inFlight?.change.sequence ?? 0) + 1
      moved.isConnected = true
      moved.isHeld = false
      self = moved
      return (local, sendBuffer())
    } catch {
      throw .operation(error)
    }
  }

  /// An own change that is not in flight has become a revision: this synchroniser goes on from a kept
  /// state older than that change, which therefore has in it whatever waited then. What was typed since
  /// stays, and goes out as a new change.
  ///
  /// - Parameters:
  ///   - old: The server's text at ``revision``.
  ///   - new: The server's text with the change.
  ///   - sequence: The change's number.
  ///   - revision: The revision that it has become.
  /// - Returns: what to apply to the local text.
  /// - Complexity: O(*old* + *new*), and a bounded number of steps beyond.
  public mutating func supersede(
    from old: Document, to new: Document, sequence: Int, revision: Int
  ) throws(SynchronizerError) -> TextOperation {
    guard revision == self.revision + 1 else {
      throw .outOfOrder(expected: self.revision + 1, found: revision)
    }
    do throws(OperationError) {
      var base = old
      if let sent = inFlight { try base.apply(sent.rebased) }
      if let waiting = buffer { try base.apply(waiting) }
      var local = TextOperation(changing: base, into: new)
      if let typed = afterRestoring {
        let (localAfter, typedAfter) = try TextOperation.transform(local, typed)
        afterRestoring = typedAfter
        local = localAfter
      }
      inFlight = nil
      buffer = nil
      bufferedEdits = 0
      nextSequence = sequence + 1
      self.revision = revision
      return local
    } catch {
      throw .operation(error)
    }
  }

  /// What became of the kept state is known: what was typed since waits like anything else.
  mutating func endRestoring() throws(OperationError) {
    isRestored = false
    guard let typed = afterRestoring else { return }
    buffer = try Self.join(buffer, typed)
    bufferedEdits += editsAfterRestoring
    afterRestoring = nil
    editsAfterRestoring = 0
  }

  private mutating func unsend(_ sent: InFlight) throws(SynchronizerError) {
    do throws(OperationError) {
      try unsendOperation(sent)
    } catch {
      throw .operation(error)
    }
  }

  /// Puts the change in flight in front of what waits.
  mutating func unsendOperation(_ sent: InFlight) throws(OperationError) {
    if let waiting = buffer {
      buffer = try sent.rebased.composed(with: waiting)
    } else {
      buffer = sent.rebased
    }
    inFlight = nil
    bufferedEdits += 1
  }
}

extension ClientSynchronizer {
  /// A synchroniser's whole state, as plain values: for keeping unconfirmed edits where they
  /// outlive the process. Whoever keeps it keeps the local text beside it.
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
    public var rebased: TextOperation?
    /// What waits behind it.
    public var buffer: TextOperation?
    /// How many edits are in `buffer`.
    public var bufferedEdits: Int
    /// What was typed after an earlier restoration, and before the server was heard.
    public var afterRestoring: TextOperation?
    /// How many edits are in `afterRestoring`.
    public var editsAfterRestoring: Int

    /// Makes a state, for ``ClientSynchronizer/init(_:)``.
    public init(
      epoch: String, revision: Int, nextSequence: Int, inFlight: Change? = nil,
      rebased: TextOperation? = nil, buffer: TextOperation? = nil, bufferedEdits: Int = 0,
      afterRestoring: TextOperation? = nil, editsAfterRestoring: Int = 0
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
  public var kept: Kept {
    var unsent = self
    if let sent = inFlight, sent.isOvertaken, (try? unsent.unsendOperation(sent)) != nil {
      unsent.nextSequence = sent.change.sequence
      return unsent.kept
    }
    return Kept(
      epoch: epoch, revision: revision, nextSequence: nextSequence, inFlight: inFlight?.change,
      rebased: inFlight?.rebased, buffer: buffer, bufferedEdits: bufferedEdits,
      afterRestoring: afterRestoring, editsAfterRestoring: editsAfterRestoring)
  }

  /// Goes on from a kept state, disconnected. Keep the state anew before what ``reconnect()`` or
  /// ``rebase(from:to:epoch:revision:lastSequence:isSameConnection:)`` returns is sent: from then on the
  /// server may have what was typed since.
  public init(_ kept: Kept) {
    self.init(epoch: kept.epoch, revision: kept.revision, nextSequence: kept.nextSequence)
    if let change = kept.inFlight {
      inFlight = InFlight(change: change, rebased: kept.rebased ?? change.operation)
    }
    buffer = kept.buffer
    bufferedEdits = kept.buffer == nil ? 0 : max(1, kept.bufferedEdits)
    afterRestoring = kept.afterRestoring
    editsAfterRestoring = kept.afterRestoring == nil ? 0 : max(1, kept.editsAfterRestoring)
    isConnected = false
    isRestored = true
  }
}

extension TextOperation {
  /// The operation that replaces what lies between the two texts' common beginning and end.
  ///
  /// - Complexity: O(*old* + *new*).
  public init(replacing old: Document, by new: Document) {
    let from = old.utf8Bytes
    let to = new.utf8Bytes
    let shorter = min(from.count, to.count)
    var start = 0
    while start < shorter, from[start] == to[start] { start += 1 }
    // Back to where a scalar begins, in both: up to here they are equal.
    while start > 0,
      start < from.count && from[start] & 0xc0 == 0x80
        || start < to.count && to[start] & 0xc0 == 0x80
    { start -= 1 }
    var end = 0
    while end < shorter - start, from[from.count - 1 - end] == to[to.count - 1 - end] { end += 1 }
    // Forward to where one begins: the common end must not start inside a scalar.
    while end > 0, from[from.count - end] & 0xc0 == 0x80 { end -= 1 }

    func scalars(_ bytes: ArraySlice<UInt8>) -> Int {
      var count = 0
      for byte in bytes where byte & 0xc0 != 0x80 { count += 1 }
      return count
    }
    self.init()
    retain(scalars(from[..<start]))
    let inserted = to[start..<(to.count - end)]
    if !inserted.isEmpty { insert(String(decoding: inserted, as: UTF8.self)) }
    delete(scalars(from[start..<(from.count - end)]))
    retain(scalars(from[(from.count - end)...]))
  }
}

extension Document {
  var utf8Bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8Count)
    forEachChunk { bytes.append(contentsOf: $0) }
    return bytes
  }
}
