import ParleyGatewayPorts
import OTCore

extension DocumentRoom {
  /// Replaces the waiting changes of a leaving connection by server edits if its client cannot
  /// resend them.
  ///
  /// - Complexity: O(*n*) waiting work items.
  func adoptChanges(of connection: Connection) {
    // The byte count of an edit equals the byte count of its change.
    waiting.replace { work in work.edit(insteadOf: connection).map { .edit($0) } }
  }
}

extension WaitingWork {
  /// Returns the edit that replaces a change of the connection; `nil` if its client can resend it.
  func edit(insteadOf connection: Connection) -> ServerEdit? {
    guard case .change(connection.id, _, let submission) = self, !submission.isResendable,
      submission.rules == .native,
      let identity = connection.identity
    else { return nil }
    return ServerEdit(
      grant: .bearer(identity),
      content: .change(
        .init(
          operation: submission.operation, format: submission.format,
          knowsFormats: submission.knowsFormats, revision: submission.revision)),
      author: submission.author)
  }

  /// Returns the edit that replaces a change whose connection was closed by an earlier message;
  /// otherwise the work unchanged.
  func adopted(on board: Switchboard) -> Self {
    guard case .change(let id, _, _) = self, let connection = board.connections[id],
      !connection.isReady
    else { return self }
    return edit(insteadOf: connection).map { .edit($0) } ?? self
  }
}
