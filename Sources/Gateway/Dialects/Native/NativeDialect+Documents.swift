import ParleyGatewayPorts
import OTCore
import SocketMessages

/// Handling of document messages of `parley.v1` clients, such as join, change and select.
extension NativeDialect {
  /// Maximum bytes of a client's id: a few times the length of ids that gateways create.
  private static let clientIDBytesMax = 64

  private static func isClientID(_ id: String) -> Bool {
    (1...clientIDBytesMax).contains(id.utf8.count)
      && id.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }

  func check(documentID id: DocumentID) throws(MessageRefusal) {
    let bytesMax = settings.limits.documentIDBytesMax
    guard !id.text.isEmpty, id.text.utf8.count <= bytesMax else {
      throw MessageRefusal(.tooLarge, "a document's id has 1 to \(bytesMax) bytes")
    }
  }

  private func checkReading(of id: DocumentID, _ connection: Connection) throws(MessageRefusal) {
    guard connection.mayHave(.read, on: id) else {
      throw MessageRefusal(.notAllowed, "the token does not grant reading this document")
    }
  }

  func handle(
    _ join: ClientMessage.Join, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    try check(documentID: DocumentID(join.documentID))
    let documentsMax = settings.limits.documentsPerConnectionMax
    guard
      connection.subscriptions[DocumentID(join.documentID)] != nil
        || connection.subscriptions.count < documentsMax
    else {
      throw MessageRefusal(
        .tooMany, "a connection may follow \(documentsMax) documents; leave one first")
    }
    try checkReading(of: DocumentID(join.documentID), connection)
    if let former = join.unanswered?.clientID, !Self.isClientID(former) {
      throw MessageRefusal(
        .badMessage,
        "expected the clientId of unanswered as it was in a welcome: 1 to \(Self.clientIDBytesMax) visible "
          + "ASCII characters; leave unanswered out to join without it")
    }
    connection.knowsFormats = join.formats
    documents.join(
      DocumentID(join.documentID),
      DocumentJoining(
        resume: join.resume, unanswered: join.unanswered, pages: join.pages,
        formats: join.formats),
      messageID: ref, connection)
  }

  func handle(
    _ leave: ClientMessage.Leave, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let id = DocumentID(leave.documentID)
    // The answer repeats the id.
    try check(documentID: id)
    if let subscription = connection.subscriptions[id] {
      documents.followers.leave(subscription)
      leaveRoom(ofNote: id, connection)
    }
    send(.left(.init(documentID: leave.documentID)), ref: ref, to: connection)
  }

  /// Ends the subscription to a note's own room if only following the note granted it.
  func leaveRoom(ofNote id: DocumentID, _ connection: Connection) {
    let room = RoomName(Identity.noteRoomPrefix + id.text)
    guard connection.rooms.contains(room), !connection.verbs(on: .room(room)).contains(.read) else {
      return
    }
    lostReading(ofRoom: room, connection)
  }

  func handle(
    _ create: ClientMessage.Create, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let id = DocumentID(create.documentID)
    try check(documentID: id)
    let titleBytesMax = settings.limits.titleBytesMax
    guard create.title.utf8.count <= titleBytesMax else {
      throw MessageRefusal(
        .tooLarge,
        "a title may have \(titleBytesMax) bytes; this one has \(create.title.utf8.count)")
    }
    guard OneLine.isMet(by: create.title) else {
      throw MessageRefusal(.badMessage, OneLine.problem(of: "a title"))
    }
    let folder: FolderPath
    do throws(FolderPathError) {
      folder = try FolderPath(create.folder ?? "")
    } catch {
      throw MessageRefusal(error.isOfSize ? .tooLarge : .badMessage, error.description)
    }
    guard let right = StoreRight(making: id, in: folder, verbs: connection.verbs(on:)),
      let identity = connection.identity
    else {
      throw MessageRefusal(
        .notAllowed,
        "the token does not grant making this document in this folder; name one where it grants manage"
      )
    }
    guard !board.isDraining else {
      throw MessageRefusal(.unavailable, "the server is shutting down; retry after its restart")
    }
    creation.begin(
      NoteDraft(
        id: id, title: create.title, owner: identity.user, time: dependencies.clock.now,
        folder: folder, kind: create.kind ?? .plain),
      under: right, messageID: ref, connection)
  }

  func handle(
    _ history: ClientMessage.DocumentHistory, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    try check(documentID: DocumentID(history.documentID))
    try checkReading(of: DocumentID(history.documentID), connection)
    let limit = history.limit ?? settings.windowEntries
    guard limit > 0 else { throw MessageRefusal(.badMessage, "expected a limit from 1") }
    documents.readPage(
      HistoryPageRequest(resume: history.resume, limit: min(limit, settings.windowEntries)),
      of: DocumentID(history.documentID), messageID: ref, connection)
  }

  func handle(
    _ change: ClientMessage.Change, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let id = DocumentID(change.documentID)
    // `rejected` repeats the id.
    try check(documentID: id)
    func refuse(_ code: ErrorCode, _ message: String) {
      documents.refusals.refuse(change.sequence, code, message, of: id, ref: ref, to: connection)
    }
    guard let subscription = connection.subscriptions[id] else {
      return refuse(.notJoined, "join the document before changing it")
    }
    if let epoch = subscription.room.live?.epoch, epoch != Epoch(change.epoch) {
      return documents.refusals.refuseForItsEpoch(
        change.sequence, of: id, ref: ref, to: connection)
    }
    let format: ChangeFormat?
    do throws(MessageError) {
      format = try change.checkedFormat()
    } catch {
      return refuse(error.code, error.description)
    }
    var submission = LiveDocument.Submission(
      client: connection.client, sequence: change.sequence, revision: change.revision,
      operation: change.operation, format: format, knowsFormats: subscription.formats,
      author: connection.name, time: dependencies.clock.now)
    submission.isExact = change.isExact
    documents.submit(submission, messageID: ref, subscription)
  }

  func handle(_ select: ClientMessage.Select, _ connection: Connection) throws(MessageRefusal) {
    guard let subscription = connection.subscriptions[DocumentID(select.documentID)],
      let live = subscription.room.live
    else { throw MessageRefusal(.notJoined, "join the document first") }
    guard subscription.verbs.contains(.presence) else {
      throw MessageRefusal(.notAllowed, "the token does not grant presence in this document")
    }
    let selectionsMax = settings.limits.selectionsMax
    guard select.selections.count <= selectionsMax else {
      throw MessageRefusal(.tooMany, "a client may have \(selectionsMax) selections")
    }
    guard (live.oldestBase...live.durableRevision).contains(select.revision) else {
      throw MessageRefusal(
        select.revision > live.durableRevision ? .futureRevision : .historyGone,
        "expected a revision from \(live.oldestBase) to \(live.durableRevision), "
          + "\(select.revision) came; select again")
    }
    documents.people.select(select.selections, at: select.revision, subscription)
  }
}
