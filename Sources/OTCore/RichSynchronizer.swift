extension Synchronizer where Operation == RichOperation {
  /// Removes the formatting of all unconfirmed edits, because the server does not know formatting.
  /// A change in flight is sent again without it.
  public mutating func dropFormats() {
    for index in queue.indices {
      queue[index].operation = RichOperation(queue[index].operation.text)
      switch queue[index].state {
      case .sent(let change): queue[index].state = .sent(change.withoutFormat)
      case .overtaken(let change): queue[index].state = .overtaken(change.withoutFormat)
      case .refused, .waiting, .sinceRestored: break
      }
    }
  }

  /// Lets the first unconfirmed edit with formatting make the note a rich one, because the server
  /// has lost the change that had made it one. Without it, the server would refuse the edit.
  ///
  /// Call it before ``rebase(from:to:epoch:revision:lastSequence:formerSequence:isSameConnection:)``:
  /// a change in flight is not altered, and becomes a new change there.
  ///
  /// - Returns: Whether an unconfirmed edit has formatting.
  public mutating func makeRichAgain() -> Bool {
    guard let index = queue.firstIndex(where: { $0.operation.format != nil }) else { return false }
    queue[index].operation.makesRich = true
    return true
  }
}

extension RichSynchronizer.Change {
  fileprivate var withoutFormat: Self {
    Self(sequence: sequence, revision: revision, operation: RichOperation(operation.text))
  }
}
