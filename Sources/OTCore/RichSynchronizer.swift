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
}

extension RichSynchronizer.Change {
  fileprivate var withoutFormat: Self {
    Self(sequence: sequence, revision: revision, operation: RichOperation(operation.text))
  }
}
