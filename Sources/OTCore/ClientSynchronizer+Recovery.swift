// Recovery of unconfirmed edits after the server has refused one, has forgotten this client, or no
// longer has the missed changes.

extension Synchronizer {
  /// The operation of the change in flight, rebased on the server's text at ``revision``; `nil` if
  /// no change is in flight.
  public var unacknowledged: Operation? {
    !queue.isEmpty && queue[0].isSent ? queue[0].operation : nil
  }

  /// Records a final refusal: the change in flight was not stored, and its number is free again.
  ///
  /// Its edits remain visible to their author, before the later ones, and wait for ``release()``.
  /// Later edits are composed with them, so that a user can delete half of an oversized paste, and
  /// the change then fits.
  ///
  /// - Throws: `notInFlight` if this change is not in flight.
  public mutating func refuse(sequence: Int) throws(SynchronizerError) {
    guard changeInFlight?.sequence == sequence else { throw .notInFlight(sequence: sequence) }
    queue[0].state = .refused
    nextSequence = sequence
  }

  /// Makes a refused change ready to be sent again.
  ///
  /// - Returns: The change to send; `nil` if missing, or without a connection.
  public mutating func release() -> Change? {
    if isHeld { queue[0].state = .waiting }
    return send()
  }

  /// Continues numbering after the last change of this client that the server has stored. Needed
  /// when the client has a new id, or when the server refused its change. Call this before
  /// ``reconnect()``, after all missed changes were received: a change in flight that was not among
  /// them is then known not to be stored.
  public mutating func renumber(lastSequence: Int) {
    if !queue.isEmpty, queue[0].isSent { queue[0].state = .waiting }
    nextSequence = lastSequence + 1
  }

  /// Moves unconfirmed edits onto the server's whole text, which was sent because the missed
  /// changes are not available.
  ///
  /// The rule: the changes between the old and the new text are represented by the texts'
  /// difference in lines and words, see ``TextOperation/init(changing:into:)``. Unconfirmed edits
  /// are transformed over it like over any operation, so all text inserted here remains, beside
  /// whatever remains of the text around it. If the server has stored the change in flight
  /// (according to `lastSequence`), the new text already contains it.
  ///
  /// A change in flight that is not stored becomes a new change: on a new connection at once; on
  /// the same connection after joining again. Until then it remains in flight, and the server will
  /// refuse it, see ``isOvertaken``.
  ///
  /// A restored synchroniser may be older than the server's state: if the server has a later change
  /// than the stored state, its text contains all edits that waited in that state, and only edits
  /// made since the restoration are sent.
  ///
  /// - Parameters:
  ///   - old: The server's text at ``revision``.
  ///   - new: The server's text at the new revision.
  ///   - lastSequence: The sequence of this client's last change on the server.
  ///   - formerSequence: The sequence of the last change on the server under the former client id,
  ///     if the unconfirmed edits were sent under another id than the present one; else `nil`.
  ///   - isSameConnection: Whether the server sent the text unrequested on the open connection.
  /// - Returns: The operation to apply to the local text, and the change to send.
  /// - Throws: `operation` if `old` is not the text at ``revision``. Nothing changes then.
  /// - Complexity: O(*old* + *new*), and a bounded number of further steps.
  public mutating func rebase(
    from old: Operation.Content, to new: Operation.Content, epoch: String, revision: Int,
    lastSequence: Int, formerSequence: Int? = nil, isSameConnection: Bool = false
  ) throws(SynchronizerError) -> (apply: Operation, send: Change?) {
    let moved = try moving(from: old, to: new) { entry in
      if isStored(entry, lastSequence: formerSequence ?? lastSequence) { return nil }
      if isSameConnection, let change = entry.change { return .overtaken(change) }
      return .waiting
    }
    queue = moved.queue
    self.epoch = epoch
    self.revision = revision
    nextSequence = max(lastSequence, changeInFlight?.sequence ?? 0) + 1
    line = .connected
    return (moved.apply, send())
  }

  /// Moves the entries that are missing in the server's new text onto it.
  ///
  /// - Parameter state: The new state of an entry; `nil` when the new text contains the entry.
  private func moving(
    from old: Operation.Content, to new: Operation.Content,
    state: (Pending<Operation>) -> Pending<Operation>.State?
  ) throws(SynchronizerError) -> (queue: [Pending<Operation>], apply: Operation) {
    var left: [Pending<Operation>] = []
    do throws(OperationError) {
      var base = old
      for var entry in queue {
        if let state = state(entry) {
          entry.state = state
          left.append(entry)
        } else {
          try entry.operation.apply(to: &base)
        }
      }
      var local = Operation(changing: base, into: new)
      left = try left.passed(by: &local)
      return (left, local)
    } catch {
      throw .operation(error)
    }
  }

  /// Whether the server's text contains an entry, given the last sequence of this client on the
  /// server. The entries that it contains are the first of the queue.
  private func isStored(_ entry: Pending<Operation>, lastSequence: Int) -> Bool {
    switch entry.state {
    case .sent(let change), .overtaken(let change): change.sequence <= lastSequence
    case .refused, .waiting: line == .restored && lastSequence >= nextSequence
    case .sinceRestored: false
    }
  }

  /// Handles a revision that is this client's own change, although that change is not in flight.
  /// The stored state is older than the change, so the change contains all edits that waited in
  /// that state. Edits made since the restoration remain, and are sent as a new change.
  ///
  /// - Parameters:
  ///   - old: The server's text at ``revision``.
  ///   - new: The server's text with the change.
  ///   - sequence: The change's number.
  ///   - revision: The revision that the change has become.
  /// - Returns: The operation to apply to the local text.
  /// - Throws: `outOfOrder`, or `operation` if `old` is not the text at ``revision``. Nothing
  ///   changes then.
  /// - Complexity: O(*old* + *new*), and a bounded number of further steps.
  public mutating func supersede(
    from old: Operation.Content, to new: Operation.Content, sequence: Int, revision: Int
  ) throws(SynchronizerError) -> Operation {
    guard revision == self.revision + 1 else {
      throw .outOfOrder(expected: self.revision + 1, found: revision)
    }
    let moved = try moving(from: old, to: new) { entry in
      if case .sinceRestored = entry.state { .sinceRestored } else { nil }
    }
    queue = moved.queue
    nextSequence = sequence + 1
    self.revision = revision
    return moved.apply
  }
}
