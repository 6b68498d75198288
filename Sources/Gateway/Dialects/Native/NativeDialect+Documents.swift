import GatewayPorts
import SocketMessages

/// Joining, changing and selecting in documents, as `parley.v1` clients ask for it.
extension NativeDialect {
  /// Bytes that a client's id may have: a few times those of the ids that gateways make.
  private static let clientIDBytesMax = 64

  private static func isClientID(_ id: String) -> Bool {
    (1...clientIDBytesMax).contains(id.utf8.count)
      && id.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }

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
    guard connection.mayHave(.read, on: join.documentID) else {
      sendError(
        .notAllowed, "the token does not grant reading this document", ref: ref, to: connection)
      return
    }
    if let former = join.unanswered?.clientID, !Self.isClientID(former) {
      sendError(
        .badMessage,
        "expected the clientId of unanswered as it was in a welcome: 1 to \(Self.clientIDBytesMax) visible "
          + "ASCII characters; leave unanswered out to join without it", ref: ref, to: connection)
      return
    }
    documents.join(
      join.documentID,
      DocumentJoining(resume: join.resume, unanswered: join.unanswered, pages: join.pages),
      messageID: ref, connection)
  }

  /// Ends the subscription to a note's own room that only following the note allowed.
  func leaveRoom(ofNote id: DocumentID, _ connection: Connection) {
    let room = Identity.noteRoomPrefix + id
    guard connection.rooms.contains(room), !connection.verbs(on: .room(room)).contains(.read) else {
      return
    }
    lostReading(ofRoom: room, connection)
  }

  func handle(_ create: ClientMessage.Create, ref: String, _ connection: Connection) {
    let limits = settings.limits
    let id = create.documentID
    guard !id.isEmpty, id.utf8.count <= limits.documentIDBytesMax else {
      sendError(
        .tooLarge, "a document's id has 1 to \(limits.documentIDBytesMax) bytes", ref: ref,
        to: connection)
      return
    }
    guard create.title.utf8.count <= limits.titleBytesMax else {
      sendError(
        .tooLarge,
        "a title may have \(limits.titleBytesMax) bytes; this one has \(create.title.utf8.count)",
        ref: ref, to: connection)
      return
    }
    guard OneLine.isMet(by: create.title) else {
      sendError(.badMessage, OneLine.problem(of: "a title"), ref: ref, to: connection)
      return
    }
    let folder: FolderPath
    do throws(FolderPathError) {
      folder = try FolderPath(create.folder ?? "")
    } catch {
      sendError(
        error.isOfSize ? .tooLarge : .badMessage, error.description, ref: ref, to: connection)
      return
    }
    guard connection.verbs(on: .document(id, in: folder)).contains(.manage),
      let identity = connection.identity
    else {
      sendError(
        .notAllowed,
        "the token does not grant making this document in this folder; name one where it grants manage",
        ref: ref, to: connection)
      return
    }
    guard !board.isDraining else {
      sendError(
        .unavailable, "the server is going down; ask again when it is back", ref: ref,
        to: connection)
      return
    }
    documents.make(
      NoteDraft(
        id: id, title: create.title, owner: identity.user, time: surroundings.clock.now,
        folder: folder),
      messageID: ref, connection)
  }

  func handle(
    _ history: ClientMessage.DocumentHistory, ref: String, _ connection: Connection
  ) {
    let limits = settings.limits
    guard !history.documentID.isEmpty,
      history.documentID.utf8.count <= limits.documentIDBytesMax
    else {
      sendError(
        .tooLarge, "a document's id has 1 to \(limits.documentIDBytesMax) bytes", ref: ref,
        to: connection)
      return
    }
    guard connection.mayHave(.read, on: history.documentID) else {
      sendError(
        .notAllowed, "the token does not grant reading this document", ref: ref, to: connection)
      return
    }
    let limit = history.limit ?? settings.windowEntries
    guard limit > 0 else {
      sendError(.badMessage, "expected a limit from 1", ref: ref, to: connection)
      return
    }
    documents.readPage(
      HistoryPageRequest(resume: history.resume, limit: min(limit, settings.windowEntries)),
      of: history.documentID, messageID: ref, connection)
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
