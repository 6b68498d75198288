import GatewayPorts
import SocketMessages

/// Joining, changing and selecting in documents, as `parley.v1` clients ask for it.
extension NativeDialect {
  func handle(_ join: ClientMessage.Join, ref: String, _ connection: Connection) {
    let limits = settings.limits
    guard !join.documentID.isEmpty, join.documentID.utf8.count <= limits.documentIDBytesMax else {
      sendError(
        .tooLarge, "a document's id has 1 to \(limits.documentIDBytesMax) bytes", ref: ref,
        to: connection)
      return
    }
    guard
      connection.subscriptions[join.documentID] != nil
        || connection.subscriptions.count < limits.documentsPerConnectionMax
    else {
      sendError(
        .tooMany,
        "a connection may follow \(limits.documentsPerConnectionMax) documents; leave one first",
        ref: ref, to: connection)
      return
    }
    guard connection.verbs(on: .document(join.documentID)).contains(.read) else {
      sendError(
        .notAllowed, "the token does not grant reading this document", ref: ref, to: connection)
      return
    }
    documents.join(join.documentID, resume: join.resume, messageID: ref, connection)
  }

  func handle(_ change: ClientMessage.Change, ref: String, _ connection: Connection) {
    guard let subscription = connection.subscriptions[change.documentID] else {
      documents.refuse(
        change.sequence, .notJoined, "join the document before changing it",
        of: change.documentID, ref: ref, to: connection)
      return
    }
    if let epoch = subscription.room.live?.epoch, epoch != change.epoch {
      documents.refuseForItsEpoch(change.sequence, of: change.documentID, ref: ref, to: connection)
      return
    }
    documents.submit(
      LiveDocument.Submission(
        client: connection.client, sequence: change.sequence, revision: change.revision,
        operation: change.operation, author: connection.name, time: surroundings.clock.now),
      messageID: ref, subscription)
  }

  func handle(_ select: ClientMessage.Select, ref: String, _ connection: Connection) {
    guard let subscription = connection.subscriptions[select.documentID],
      let live = subscription.room.live
    else {
      sendError(.notJoined, "join the document first", ref: ref, to: connection)
      return
    }
    guard subscription.verbs.contains(.presence) else {
      sendError(
        .notAllowed, "the token does not grant presence in this document", ref: ref,
        to: connection)
      return
    }
    guard select.selections.count <= settings.limits.selectionsMax else {
      sendError(
        .tooMany, "a client may have \(settings.limits.selectionsMax) selections", ref: ref,
        to: connection)
      return
    }
    guard (live.oldestBase...live.durableRevision).contains(select.revision) else {
      sendError(
        select.revision > live.durableRevision ? .futureRevision : .historyGone,
        "expected a revision from \(live.oldestBase) to \(live.durableRevision), "
          + "\(select.revision) came; select again", ref: ref, to: connection)
      return
    }
    documents.select(select.selections, at: select.revision, subscription)
  }
}
