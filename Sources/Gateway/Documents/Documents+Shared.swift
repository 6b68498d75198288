import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Reading what other nodes append to a document's log.
///
/// No node owns a document: the log decides. A node reads the log after a lost race, a hint or a
/// commit of unknown outcome. It withdraws its tentative changes, adopts the new entries, and
/// resubmits those of its clients' changes that the log lacks.
///
///     a join that resumes ─▶ begin sessions ─▶ read the log ─▶ adopt ─▶ answer
///     a hint, the heads   ────────────────────▶ read the log ─▶ adopt ─▶ deliver
///     an answer was lost  ────────────────────▶ read the log ─▶ adopt ─▶ commit the rest again
///
/// During a read nothing is handed to the store, so that the entries read follow the known ones.
/// None of this applies to a document whose log has one owner.
extension Documents {
  // MARK: Asking

  /// Queues work that needs a read of the log that begins after this call.
  func ask(_ asking: WaitingWork, in room: DocumentRoom) {
    room.log.ask(asking)
    readNewEntries(of: room)
  }

  /// Handles a commit of unknown outcome: the log is read.
  func unsettle(_ error: StoreError, in room: DocumentRoom) {
    dependencies.log.write(
      .error, "commit has no known outcome; the log is read", [("error", error.logName)])
    metrics.unknownOutcomes += 1
    storeFailure = error
    room.live?.commitUnsettled()
    logs.unsettle(room)
    readNewEntries(of: room)
  }

  // MARK: Hints

  /// Subscribes to the hints for a document with a shared log.
  func followTopic(of room: DocumentRoom) {
    guard room.live?.isShared ?? false else { return }
    logs.use()
    act(.follow(topic: documents.topic(of: room.id)))
  }

  /// Unsubscribes from the hints.
  func leaveTopic(of room: DocumentRoom) {
    if room.live?.isShared ?? false { act(.leave(topic: documents.topic(of: room.id))) }
  }

  /// Notifies the other nodes that the log has grown.
  func hint(of room: DocumentRoom) {
    guard let live = room.live, live.isShared else { return }
    act(.publish(topic: documents.topic(of: room.id), Array(String(live.durableRevision).utf8)))
  }

  /// Handles a message from another node. A hint is not trusted: it only causes a read.
  func heard(_ topic: String, _ bytes: [UInt8]) {
    guard let room = documents.room(under: topic) else { return }
    if bytes.elementsEqual(DocumentRoom.moveHint) { return look(at: room) }
    guard bytes.count <= 20, let revision = Int(String(decoding: bytes, as: UTF8.self)) else {
      return people.hearOfPeople(topic, bytes, in: room)
    }
    room.log.hear(of: revision)
    readNewEntries(of: room)
  }

  /// Reads the heads of shared logs periodically, and retries for commits of unknown outcome.
  func readHeads(now: Int64) {
    for room in logs.stillUnsettled(in: documents) { readNewEntries(of: room) }
    guard logs.hasSharedLogs || settings.sharesStore else { return }
    let failures = storeFailure == nil ? board.storeFailures : nil
    let ids = logs.heads.next(now: now, pause: board.headsPause, failures: failures) {
      documents.values.filter { $0.live?.isShared ?? false }.map(\.id)
    }
    guard !ids.isEmpty else { return }
    store(.heads(ids: ids), under: .housekeeping, then: .heads(ids))
  }

  /// Compares stored heads with the known ones, and reads the logs whose heads differ.
  func compareHeads(of ids: [DocumentID], _ outcome: StoreOutcome<[LogHead?]>) {
    guard case .success(let heads) = outcome else { return logs.heads.sliceFailed() }
    defer { logs.heads.looked() }
    for (id, head) in zip(ids, heads) {
      guard let room = documents[id], let live = room.live, live.isShared else { continue }
      let known = LogHead(
        title: live.title, epoch: live.epoch, revision: live.durableRevision,
        chain: live.chain ?? LogChain(high: 0, low: 0), folder: live.folder)
      guard var head, head != known else {
        if head == nil { miss(room) }
        continue
      }
      // A reader that loses the right to read is removed before the log is read.
      take(head.folder, in: room)
      head.folder = known.folder
      if head == known { continue }
      if head.revision > known.revision, head.epoch == known.epoch,
        head.title.isExactly(known.title)
      {
        logs.heads.lacks(id, upTo: head.revision)
        // If the revision is that of the commit under way at this node, nothing is read.
        room.log.hear(of: head.revision)
        readNewEntries(of: room)
      } else {
        miss(room)
      }
    }
  }

  /// Reads a log that differs from the one in memory in more than new entries.
  private func miss(_ room: DocumentRoom) {
    logs.heads.lacks(room.id, upTo: .max)
    look(at: room)
  }

  /// Whether other nodes' changes are still unread after failures of the store.
  var isBehind: Bool {
    guard logs.hasSharedLogs || settings.sharesStore else { return false }
    return logs.heads.isBehind(after: board.storeFailures) { documents[$0]?.live?.durableRevision }
  }

  /// Reads a log, even if no newer revision is known.
  private func look(at room: DocumentRoom) {
    room.log.requestRead()
    readNewEntries(of: room)
  }

  // MARK: Reading

  /// Reads what other nodes have appended, if a read is requested and nothing prevents it.
  ///
  /// A commit under way prevents a read. A commit about to begin prevents a read that only a hint
  /// requests, as its result contains the same entries.
  func readNewEntries(of room: DocumentRoom) {
    guard room.pause != .storingEpoch, let live = room.live, live.isShared, !live.isCommitting,
      room.log.isWanted(by: live)
    else { return }
    let asking = room.log.takeAsking()
    let clients = clientsThatBegin(asking, in: room)
    if clients.isEmpty {
      readLog(of: room, for: asking, sessions: [:])
    } else {
      let ticket = store(
        .fence(id: room.id, clients: clients), under: .housekeeping, then: .fences(room.id))
      room.log.begin(ticket, for: asking)
    }
  }

  /// Returns the clients that begin a new session with their joins: clients with an unanswered
  /// change, and returning clients that may have one. After the answer, the store rejects copies of
  /// the change that are still in transit through other nodes.
  private func clientsThatBegin(
    _ asking: [WaitingWork], in room: DocumentRoom
  ) -> [String] {
    var clients: ExactSet = []
    for case .join(let id, _, let joining) in asking {
      guard let connection = connections[id] else { continue }
      if joining.unanswered != nil || joining.resume == nil, connection.isReturning {
        clients.insert(connection.client)
      }
      // It is unknown here whether the former id belongs to the same user. If another user's client
      // has it, that client joins again without loss.
      if let former = joining.unanswered?.clientID,
        connection.verbs(in: room).contains(.write)
      {
        clients.insert(former)
      }
    }
    return clients.sorted()
  }

  /// Handles the result of beginning sessions.
  func fenced(_ id: DocumentID, _ outcome: StoreOutcome<[String: Int]>, _ ticket: StoreTicket) {
    guard let room = documents[id], let read = room.log.read(ticket) else { return }
    switch outcome {
    case .success(let sessions):
      metrics.sessionsBegun += sessions.count
      // Changes of these clients at this node are settled before the clients are answered.
      for (client, session) in sessions { room.live?.raise(session: session, of: client) }
      readLog(of: room, for: read.asking, sessions: sessions)
    case .failure(let error): couldNotRead(room, read, error)
    }
  }

  private func readLog(
    of room: DocumentRoom, for asking: [WaitingWork], sessions: [String: Int]
  ) {
    guard let live = room.live, let chain = live.chain else { return }
    var clients: ExactSet = []
    for case .join(let id, _, _) in asking {
      guard let client = connections[id]?.client, sessions[client] == nil else { continue }
      clients.insert(client)
    }
    // The read supersedes earlier hints, which may be wrong. Hints that arrive from now on may be
    // newer than the read.
    room.log.forgetHints()
    let ticket = store(
      .news(
        id: room.id, epoch: live.epoch, after: live.durableRevision, chain: chain,
        clients: clients.sorted()),
      under: .housekeeping, then: .news(room.id))
    room.log.begin(ticket, for: asking, sessions: sessions)
  }

  /// Handles the result of a read of the log.
  func heard(of id: DocumentID, _ outcome: StoreOutcome<LogChanges>, _ ticket: StoreTicket) {
    guard let room = documents[id], let read = room.log.read(ticket) else { return }
    switch outcome {
    case .success(.entries(let stretch)):
      logs.heads.hasRead(id)
      room.log.end()
      take(stretch, read, in: room)
    case .failure(.unknownDocument): deleted(id)
    case .success(.otherHistory), .failure(.compacted): readAgain(room)
    case .failure(let error): couldNotRead(room, read, error)
    }
  }

  private func take(_ stretch: LogRange, _ read: LogReading.Read, in room: DocumentRoom) {
    // Hold no copy of the document here: changing the document would then copy its arrays.
    guard stretch.entries.isEmpty || room.live?.isFollowed(by: stretch.entries) ?? false else {
      room.log.requeue(read.asking)
      return fail(.damaged("the log has another history"), in: room)
    }
    storeFailure = nil
    room.log.settle()
    room.live?.raise(sessionFloor: stretch.sessionFloor)
    // Apply the folder first, so that a reader that loses the right to read is not sent the
    // entries.
    take(stretch.folder, in: room)
    if let title = room.live?.title, !stretch.title.isExactly(title) {
      renamed(room.id, to: stretch.title)
    }
    if !stretch.entries.isEmpty {
      overtaken(by: stretch.entries, chain: stretch.chain, in: room)
    }
    if room.live?.durableRevision ?? 0 < stretch.headRevision {
      room.log.hear(of: stretch.headRevision)
      room.log.requeue(read.asking)
    } else {
      answer(read.asking, in: room, read.sessions.merging(stretch.sessions) { own, _ in own })
    }
    proceed(room)
  }

  /// Continues the work that waited for a read of the log.
  private func answer(
    _ asking: [WaitingWork], in room: DocumentRoom, _ sessions: [String: Int]
  ) {
    for asking in asking {
      switch asking {
      case .join(let id, let messageID, var joining):
        guard let connection = connections[id], connection.isReady else { continue }
        joining.isFresh = true
        joining.session = sessions[connection.client]
        join(room.id, joining, messageID: messageID, connection)
      case .edit(var edit):
        edit.isFresh = true
        guard mayBegin(.edit(edit), in: room) else {
          room.waiting.append(.edit(edit))
          continue
        }
        submit(edit, to: room)
      case .page(let id, let messageID, var page):
        guard let connection = connections[id], connection.isReady else { continue }
        page.isFresh = true
        readPage(page, of: room, messageID: messageID, connection)
      case .change, .version: break  // This work never waits for a read.
      }
    }
  }

  /// Handles a failed read of the log: the waiting clients are asked to retry.
  private func couldNotRead(
    _ room: DocumentRoom, _ read: LogReading.Read, _ error: StoreError
  ) {
    dependencies.log.write(.error, "log not readable", [("error", error.logName)])
    room.log.end()
    failed(error)
    for asking in read.asking { refusals.refuseUnread(asking, in: room) }
    guard room.log.isUnsettled else {
      // The next comparison of heads will find what the hints announced.
      room.log.forgetHints()
      commit(room)
      storeEpoch(of: room)
      // A read may have been requested meanwhile.
      readNewEntries(of: room)
      return
    }
    if room.log.giveUp() { fail(error, in: room) }
  }

  /// Discards a document that differs from its log; all clients join again.
  func readAgain(_ room: DocumentRoom) {
    fail(.notNext(headRevision: room.live?.durableRevision ?? 0), in: room)
  }

  // MARK: Sessions

  /// Drops the changes of clients that have begun newer sessions, most likely at other nodes, and
  /// closes their connections here.
  ///
  /// - Returns: Whether a change was dropped.
  func drop(_ clients: [String], in room: DocumentRoom) -> Bool {
    var fenced: ExactSet = []
    for client in clients { fenced.insert(client) }
    var dropped: ExactDictionary<Int> = [:]
    resubmit(in: room) { submission in
      guard fenced.contains(submission.client) else { return false }
      metrics.changesFenced += 1
      dropped[submission.client] = submission.session
      return true
    }
    for subscription in room.subscriptions {
      let connection = subscription.connection
      guard let session = dropped[connection.client], session >= subscription.session else {
        continue
      }
      close(connection, .rejoin, "the client is connected to another node now; join again")
    }
    return !dropped.isEmpty
  }
}
