import GatewayPorts
import OTCore
import SocketMessages

/// Speaking with the Whaler family.
///
/// Such a client numbers nothing: it counts frames. So each gets every operation once, in order,
/// as a frame of its own, its own changes with its own message ids. What it cannot be told in
/// words is told by its one way back to a known state, an unsolicited `resourceConnectionConf`.
extension Gateway {
  func receivedWhaler(
    _ bytes: UnsafeRawBufferPointer, excess: Excess? = nil, on connection: Connection
  ) {
    let message: WhalerClientMessage
    let messageID: String
    do {
      (messageID, message) = try WhalerClientMessage.decode(
        bytes, operationComponentsMax: settings.limits.operationComponentsMax)
    } catch {
      metrics.received["malformed", default: 0] += 1
      surroundings.log.write(
        .debug, "message not understood", [("code", error.code.rawValue)])
      if excess != nil {
        owedStates.insert(connection.id)
        return
      }
      // It may have been a change; the client waits for it until it is given a new state.
      for subscription in connection.subscriptions.values.map(\.self) {
        resyncWhaler(subscription)
      }
      return
    }
    metrics.received[message.metricName, default: 0] += 1
    guard excess == nil else {
      putOff(message, connection)
      return
    }
    switch message {
    case .resourceConnection(let resource):
      joinWhaler(resource.resourceID, messageID: messageID, connection)
    case .docChange(let change): handle(change, messageID: messageID, connection)
    case .unknown: break
    }
  }

  /// Does not do what was too much. A change is answered with a new state as soon as the client may
  /// send again; for a resource that it has not got it has to come back.
  private func putOff(_ message: WhalerClientMessage, _ connection: Connection) {
    switch message {
    case .docChange(let change) where connection.subscriptions[change.resourceID] != nil:
      owedStates.insert(connection.id)
    case .docChange, .resourceConnection:
      close(connection, .tooFast, "too much at once; come back later")
    case .unknown: break
    }
  }

  private func joinWhaler(_ id: DocumentID, messageID: String, _ connection: Connection) {
    let limits = settings.limits
    guard !id.isEmpty, id.utf8.count <= limits.documentIDBytesMax,
      connection.subscriptions[id] != nil
        || connection.subscriptions.count < limits.documentsPerConnectionMax
    else {
      close(connection, .tooMany, "too many documents, or a name that is too long")
      return
    }
    guard verbs(of: connection, on: .document(id)).contains(.read) else {
      // It has no word for a refusal.
      close(connection, .unauthorised, "the token does not grant reading this document")
      return
    }
    join(id, resume: nil, messageID: messageID, connection)
  }

  private func handle(
    _ change: WhalerClientMessage.DocChange, messageID: String, _ connection: Connection
  ) {
    guard let subscription = connection.subscriptions[change.resourceID] else {
      // It has not joined; joining sends it the state, from which it starts anew.
      joinWhaler(change.resourceID, messageID: pushID(), connection)
      return
    }
    submit(
      LiveDocument.Submission(
        client: connection.client, sequence: 0, revision: change.revision,
        operation: change.operation, author: connection.name,
        time: surroundings.clock.now, isResendable: false),
      messageID: messageID, subscription)
  }

  /// Sends the state from which such a client starts anew; what it has not had acknowledged is
  /// gone on its side.
  func resyncWhaler(_ subscription: Subscription) {
    guard let live = subscription.room.live else { return }
    metrics.resyncs["whaler", default: 0] += 1
    subscription.revision = live.durableRevision
    subscription.isLagging = false
    subscription.messageIDs.removeAll()
    sendWhalerState(subscription, live, messageID: pushID())
  }

  func sendWhalerState(_ subscription: Subscription, _ live: LiveDocument, messageID: String) {
    send(
      whalerFrame(
        .resourceConnectionConf(
          .init(
            resourceID: live.id, initialState: live.durableDocument.text,
            revision: live.durableRevision)),
        messageID: messageID), to: subscription.connection)
  }

  func whalerFrame(_ message: WhalerServerMessage, messageID: String) -> Frame {
    Frame { message.encode(senderID: self.processName, messageID: messageID, into: &$0) }
  }

  func whalerFrame(_ entry: LogEntry, of id: DocumentID, messageID: String) -> Frame {
    whalerFrame(
      .docChangeReturnOps(.init(resourceID: id, operation: entry.operation)),
      messageID: messageID)
  }
}
