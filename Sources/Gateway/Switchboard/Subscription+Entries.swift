import ParleyGatewayPorts

extension Subscription {
  /// Moves the person's carets over changes. An insert at a caret moves it only if it is the
  /// person's own.
  func moveSelections(over entries: ArraySlice<LogEntry>) {
    guard !selections.isEmpty else { return }
    for entry in entries { Carets.move([self], over: entry) }
  }

  /// Discards the message ids of changes that need no reply.
  func forgetMessageIDs(through revision: Int) {
    guard !messageIDs.isEmpty else { return }
    messageIDs = messageIDs.filter { $0.key > revision }
  }
}
