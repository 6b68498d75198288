import ParleyGatewayPorts
import OTCore
import SocketMessages

/// Handling of Whaler messages.
extension WhalerDialect {
  /// Handles a message over the rate limit. A change in a joined document is answered with a new
  /// state as soon as the client may send again; any other request closes the connection.
  func putOff(_ message: WhalerClientMessage, _ connection: Connection) {
    switch message {
    case .docChange(let change) where connection.subscriptions[DocumentID(change.resourceID)] != nil:
      owe(connection)
    case .docChange, .resourceConnection:
      close(connection, .tooFast, "rate limit exceeded; reconnect later")
    case .unknown: break
    }
  }

  func join(_ id: DocumentID, messageID: String, _ connection: Connection) {
    let limits = settings.limits
    guard !id.text.isEmpty, id.text.utf8.count <= limits.documentIDBytesMax,
      connection.subscriptions[id] != nil
        || connection.subscriptions.count < limits.documentsPerConnectionMax
    else {
      close(connection, .tooMany, "too many documents, or a name that is too long")
      return
    }
    guard connection.mayHave(.read, on: id) else {
      // The protocol has no error message.
      close(connection, .unauthorised, "the token does not grant reading this document")
      return
    }
    documents.join(id, DocumentJoining(), messageID: messageID, connection)
  }

  func handle(
    _ change: WhalerClientMessage.DocChange, messageID: String, _ connection: Connection
  ) {
    guard let subscription = connection.subscriptions[DocumentID(change.resourceID)] else {
      // The client has not joined: joining sends the state from which it restarts.
      join(DocumentID(change.resourceID), messageID: pushID(), connection)
      return
    }
    documents.submit(
      LiveDocument.Submission(
        client: connection.client, sequence: 0, revision: change.revision,
        operation: change.operation, author: connection.name,
        time: dependencies.clock.now, isResendable: false),
      messageID: messageID, subscription)
  }
}
