import ParleyGatewayPorts

extension Subscription {
  /// Moves the person's carets over changes: own inserts push them, others' leave them.
  func moveSelections(over entries: ArraySlice<LogEntry>) {
    guard !selections.isEmpty else { return }
    for entry in entries { Carets.move([self], over: entry) }
  }

  /// Forgets message ids of changes that no longer need a reply.
  func forgetMessageIDs(through revision: Int) {
    guard !messageIDs.isEmpty else { return }
    messageIDs = messageIDs.filter { $0.key > revision }
  }
}
