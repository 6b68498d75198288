// Recovery of unconfirmed edits: the server refuses one, forgets this client, or cannot tell what
// was missed.

extension Synchronizer {
  /// The change in flight, applied to the server's text at ``revision``; `nil` when no change is in
  /// flight.
  public var unacknowledged: Operation? {
    !queue.isEmpty && queue[0].isSent ? queue[0].operation : nil
  }

  /// The change in flight was refused for good: it was not stored, and its number is free again.
  ///
  /// Its edits stay in front of the later ones and wait there, visible to their author, until
  /// ``release()``. What the author does meanwhile counts: taking back half of a paste that was too
  /// long makes the change short enough.
  ///
  /// - Throws: `notInFlight` when another change, or none, is in flight.
  public mutating func refuse(sequence: Int) throws(SynchronizerError) {
    guard changeInFlight?.sequence == sequence else { throw .notInFlight(sequence: sequence) }
    queue[0].state = .refused
    nextSequence = sequence
  }

  /// Tries again what was refused.
  ///
  /// - Returns: the change to send.
  public mutating func release() -> Change? {
    if isHeld { queue[0].state = .waiting }
    return send()
  }

  /// The server has counted so many changes of this client: it knows the client under a new id from
  /// now on, or has refused a change as one that cannot go in as it was sent. To be called before
  /// ``reconnect()``, when everything missed has been received: a change in flight that was not among
  /// it is known not to be stored.
  public mutating func renumber(lastSequence: Int) {
    if !queue.isEmpty, queue[0].isSent { queue[0].state = .waiting }
    nextSequence = lastSequence + 1
  }

  /// The server cannot tell what was missed and has sent its whole text: moves unconfirmed edits
  /// onto it.
  ///
  /// The rule: whatever happened from the old text to the new one is taken as the difference of the
  /// two, in lines and words, see ``TextOperation/init(changing:into:)``. Unconfirmed edits pass
  /// through it as through any operation, so all that was inserted here stays, next to what is left
  /// of its surroundings. When the server has stored the change in flight (`lastSequence` says so),
  /// the new text contains it already.
  ///
  /// On the same connection a change in flight that is not stored yet stays in flight, see
  /// ``isOvertaken``: the server refuses it, for it was made before the text. Joining again, or on a
  /// new connection at once, it goes out as a new change.
  ///
  /// A restored synchroniser may be older than the server's knowledge of it: if the server has a
  /// change beyond those of the stored state, its text contains all edits that were waiting then,
  /// and only what was typed since is sent.
  ///
  /// - Parameters:
  ///   - old: The server's text at ``revision``.
  ///   - new: The server's text at the new revision.
  ///   - lastSequence: The newest change that the server has of this client.
  ///   - formerSequence: The newest change that the server has under the id that this client had when it
  ///     sent what is unconfirmed, where it has another one now; `nil` where it is the same.
  ///   - isSameConnection: Whether the snapshot came unasked, on the connection that was there.
  /// - Returns: what to apply to the local text, and the change to send.
  /// - Throws: `operation` when `old` is not the text at ``revision``; nothing has changed then.
  /// - Complexity: O(*old* + *new*), and a bounded number of steps beyond.
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

  /// Moves the entries that the server's new text lacks onto it.
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

  /// Whether the server's text has an entry, when it has so many changes of this client. Those that
  /// it has are the first of the queue.
  private func isStored(_ entry: Pending<Operation>, lastSequence: Int) -> Bool {
    switch entry.state {
    case .sent(let change), .overtaken(let change): change.sequence <= lastSequence
    case .refused, .waiting: line == .restored && lastSequence >= nextSequence
    case .sinceRestored: false
    }
  }

  /// An own change that is not in flight has become a revision: the stored state is older than that
  /// change, which therefore contains all edits that were waiting then. What was typed since
  /// remains, and is sent as a new change.
  ///
  /// - Parameters:
  ///   - old: The server's text at ``revision``.
  ///   - new: The server's text with the change.
  ///   - sequence: The change's number.
  ///   - revision: The revision that it has become.
  /// - Returns: what to apply to the local text.
  /// - Throws: `outOfOrder`, or `operation` when `old` is not the text at ``revision``; nothing has
  ///   changed then.
  /// - Complexity: O(*old* + *new*), and a bounded number of steps beyond.
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
