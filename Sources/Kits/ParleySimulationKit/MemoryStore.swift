public import ParleyGatewayPorts
public import OTCore

/// A document store in memory, which can simulate failures.
///
/// It stores undo steps of its newest commits, so that a simulation can lose them at a restart,
/// like a disk that has reported a sync without writing.
public final class MemoryStore: DocumentStore, Outbox {
  /// The number of next commits that fail. Their requests have no effect.
  public var commitsToFail = 0

  /// Whether every commit fails, until this is reset to `false`.
  public var isDiskFull = false

  /// The number of next commits that fail at their sync. The data of the first one is on the disk
  /// nevertheless, and a restart may replay it until another commit replaces it.
  public var syncsToFail = 0

  /// Documents whose logs are damaged, so that reads fail.
  public var damagedDocuments: Set<DocumentID> = []
  /// Documents whose logs are temporarily unreadable.
  public var unreadableDocuments: Set<DocumentID> = []

  /// The number of successful commits, including those that were lost later.
  public private(set) var commitCount = 0

  /// The number of successful commits that are not lost.
  public private(set) var keptCommitCount = 0

  /// Whether several nodes may append to its logs, which then have chains.
  public let isShared: Bool

  /// The number of failovers, which distinguishes timelines.
  private var life = 0

  /// The histories of rooms.
  package private(set) var rooms = MemoryRooms(firstEpoch: "first")

  /// Stored answers, and notes with ids that their creators chose.
  private var once = MemoryOnce()
  private var logins = MemorySessions()
  private var names = MemoryNames()
  private var audit = MemoryAudit()
  private var notices = MemoryNotices()

  /// The rules for recording events. With `nil`, no events are recorded; queued events remain.
  public var outboxRules: OutboxRules?
  private var outbox = MemoryOutbox()

  /// Entries that restarts have lost, by document, in the order of their loss.
  public private(set) var lostEntries: [DocumentID: [LogEntry]] = [:]

  private var records: [DocumentID: Record] = [:] { didSet { placesInOrder = nil } }
  /// All notes in the order of their creation, cached until a note is added or removed.
  private var placesInOrder: [Record]?
  /// Deleted notes that can be restored, by id; of each id the newest deletion first.
  private var deletedNotes: [DocumentID: [DeletedRecord]] = [:]
  /// The writes of a commit whose sync failed, until another commit replaces them.
  private var unsynced: [StoreRequest] = []
  /// The undo steps of the newest commits, each in the order of its changes.
  private var history: [[Undo]] = []
  private let historyMax: Int

  /// Creates an empty store.
  ///
  /// - Parameters:
  ///   - losableCommitsMax: The maximum commits that a restart can lose.
  ///   - isShared: Whether several nodes may append to its logs, through handles.
  public init(losableCommitsMax: Int = 64, isShared: Bool = false) {
    self.isShared = isShared
    historyMax = losableCommitsMax
  }

  /// Continues as after a restart, without the newest commits.
  ///
  /// Simulated failures end.
  ///
  /// - Parameters:
  ///   - count: The number of commits to lose, at most `losableCommitsMax`.
  ///   - findsUnsynced: Whether to replay a commit whose sync failed, if no commits are lost.
  /// - Returns: Whether a commit was replayed.
  @discardableResult
  public func restart(losingCommits count: Int = 0, findsUnsynced: Bool = false) -> Bool {
    commitsToFail = 0
    syncsToFail = 0
    isDiskFull = false
    damagedDocuments = []
    unreadableDocuments = []
    outboxRules = nil
    defer { unsynced = [] }
    for _ in 0..<min(max(count, 0), history.count) {
      keptCommitCount -= 1
      for step in history.removeLast().reversed() {
        if case .changed(let record, let state) = step {
          lostEntries[record.summary.id, default: []] +=
            record.entries[state.summary.revision...]
        }
        takeBack([step])
      }
    }
    guard count == 0, findsUnsynced, !unsynced.isEmpty else { return false }
    _ = perform(unsynced)
    return true
  }

  /// Continues as a promoted standby, without the newest commits.
  public func failOver(losingCommits count: Int = 0) {
    life += 1
    restart(losingCommits: count)
  }

  /// Returns all entries of a document's log; `nil` if there is no such document.
  public func log(of id: DocumentID) -> [LogEntry]? { records[id]?.entries }

  /// Returns the fold of a document's log; `nil` if there is no such document.
  public func document(_ id: DocumentID) -> Document? { records[id]?.head().text }

  /// Performs a batch of requests. Either all of its writes are committed, or none.
  public func perform(_ batch: [StoreRequest]) -> [StoreReply] {
    var undo: [Undo] = []
    let replies = batch.map { request in
      do throws(StoreError) {
        let reply = try reply(to: request, &undo)
        record(request, reply, &undo)
        return reply
      } catch {
        return .failed(error)
      }
    }
    guard batch.contains(where: \.isWriting) else { return replies }
    if isDiskFull || commitsToFail > 0 || syncsToFail > 0 {
      var failure = StoreReply.failed(
        .unavailable("the disk is full; free space on it, then send again"))
      if !isDiskFull, commitsToFail == 0 {
        syncsToFail -= 1
        // A later commit fails until the data of the failed commit are wiped.
        if unsynced.isEmpty {
          unsynced = batch.filter(\.isWriting)
          failure = .undecided(.unavailable("the disk could not be synced"))
        }
      }
      commitsToFail = max(0, commitsToFail - 1)
      takeBack(undo)
      return batch.map { request in
        // Reads may have seen writes that were rolled back: read again.
        request.isWriting ? failure : perform([request])[0]
      }
    }
    unsynced = []
    commitCount += 1
    keptCommitCount += 1
    history.append(undo)
    if history.count > historyMax { history.removeFirst() }
    return replies
  }

  /// Records the events of a request, in the same commit.
  private func record(_ request: StoreRequest, _ reply: StoreReply, _ undo: inout [Undo]) {
    guard let outboxRules, request.isWriting, reply.isDone else { return }
    let drafts = outboxRules.recorder.drafts(for: request, reply)
    guard !drafts.isEmpty else { return }
    undo.append(.outbox(outbox))
    for draft in drafts { outbox.add(draft, outboxRules) }
  }

  /// Performs an outbox request as a separate commit.
  public func perform(_ request: OutboxRequest) -> OutboxReply {
    if isDiskFull { return .failed(.unavailable("the disk is full; free space on it")) }
    history.append([.outbox(outbox)])
    if history.count > historyMax { history.removeFirst() }
    commitCount += 1
    keptCommitCount += 1
    return outbox.reply(to: request, outboxRules)
  }

  /// Returns the state of all queues.
  public func takeOutboxChanges() -> [OutboxTarget: OutboxQueueState] {
    Dictionary(
      uniqueKeysWithValues: OutboxTarget.allCases.map { ($0, outbox.standing(of: $0)) })
  }

  private func reply(
    to request: StoreRequest, _ undo: inout [Undo]
  ) throws(StoreError) -> StoreReply {
    switch request {
    case .create(let id, let epoch, let title, let time, let folder, let kind):
      guard records[id] == nil else { throw .exists }
      let record = Record(
        NoteSummary(
          id: id, title: title, revision: 0, createdAt: time, updatedAt: time, folder: folder,
          kind: kind),
        epoch: epoch)
      records[id] = record
      undo.append(.created(id))
      undo.append(.once(once))
      once.forget(id)
      undo.append(.logins(logins))
      logins.endLinks(of: id)
      return .note(record.summary)
    case .rename(let id, let title, let time):
      let record = try record(id)
      undo.append(.changed(record, record.state))
      record.summary.title = title
      record.summary.updatedAt = TimeOrder.following(record.summary.updatedAt, time)
      return .note(record.summary)
    case .delete(let id, let deletion):
      let record = try record(id)
      undo.append(.deleted(id, record))
      records[id] = nil
      undo.append(.once(once))
      once.noteDeletion(of: id)
      guard let deletion else {
        removeTraces(of: record, &undo)
        return .done
      }
      undo.append(.deletedNotes(id, deletedNotes[id]))
      deletedNotes[id, default: []].append(
        DeletedRecord(record: record, deletion: deletion))
      deletedNotes[id]?.sort { $1.place.isAfter($0.place) }
      return .done
    case .deleted(let request): return try reply(to: request, &undo)
    case .note(let id):
      return .note(try readable(id).summary)
    case .list:
      return .notes(list())
    case .notes(let place, let limit):
      let all = recordsInOrder()
      var (first, end) = (0, all.count)
      while let place, first < end {
        let middle = (first + end) / 2
        if NoteSortKey(all[middle].summary).isAfter(place) {
          end = middle
        } else {
          first = middle + 1
        }
      }
      return .notes(all[first...].prefix(max(limit, 0)).map(\.summary))
    case .load(let id, let recentMax):
      let record = try readable(id)
      return .document(
        StoredDocument(
          summary: record.summary, epoch: record.state.epoch, content: record.head(),
          recent: Array(record.recent(recentMax)), marks: record.marks,
          chain: isShared ? record.chain(at: record.entries.count, in: life) : nil,
          sessionFloor: record.sessionFloor))
    case .entries(let id, let after, let through, let bytesMax):
      let entries = try readable(id).entries(after: after, through: through)
      var bytes = 0
      // The first entry is returned regardless of its size, which is not counted.
      let last = entries.dropFirst().firstIndex {
        bytes += 1 + $0.operation.insertedBytes + 2 * $0.operation.componentCount
        return bytes > bytesMax
      }
      return .entries(Array(last.map { entries[...$0] } ?? entries))
    case .append(let id, let epoch, let entries, let condition):
      return try append(entries, epoch: epoch, condition, to: record(id), &undo)
    case .news(let id, let epoch, let after, let chain, let clients):
      return .news(
        try news(of: readable(id), epoch: epoch, after: after, chain: chain, clients: clients))
    case .heads(let ids):
      return .heads(ids.map { isShared ? records[$0]?.head(in: life) : nil })
    case .fence(let id, let clients):
      return .sessions(try fence(clients, in: record(id), &undo))
    case .snapshot(let id, let epoch, let revision, let text):
      try check(text, at: revision, epoch: epoch, of: record(id))
      return .done
    case .text(let id, let point):
      return .text(try readable(id).text(at: point))
    case .history(let id, let after, let limit, let pause):
      let record = try readable(id)
      var builder = HistoryPage.Builder(limit: limit, pause: pause)
      for entry in try record.entries(after: after, through: .max) { builder.take(entry) }
      return .history(builder.page(head: record.entries.count))
    case .past(let id, .sessions(let before, let limit, let pause)):
      return .editingSessions(
        try readable(id).editingSessions(before: before, limit: limit, pause: pause))
    case .past(let id, .difference(let from, let to)):
      return .difference(try readable(id).difference(from: from, to: to))
    case .versions(let id):
      return .versions(
        try record(id).state.versions.values.sorted { $0.revision > $1.revision })
    case .saveVersion(let id, let epoch, let version):
      let record = try record(id)
      guard epoch == record.state.epoch, (0...record.entries.count).contains(version.revision)
      else { throw .notNext(headRevision: record.entries.count) }
      try record.checkText(at: version.revision)
      undo.append(.changed(record, record.state))
      record.state.versions[version.revision] = version
      return .done
    case .deleteVersion(let id, let revision):
      let record = try record(id)
      undo.append(.changed(record, record.state))
      record.state.versions[revision] = nil
      return .done
    case .renewEpoch(let id, let from, let to):
      let record = try record(id)
      guard from == record.state.epoch else {
        throw .notNext(headRevision: record.entries.count)
      }
      undo.append(.changed(record, record.state))
      record.state.epoch = to
      return .done
    case .compact(let id, let through):
      let record = try record(id)
      undo.append(.changed(record, record.state))
      let comments = MemoryComments(
        record.state.comments, epoch: record.state.epoch, base: record.state.base,
        in: record.summary.folder,
        entries: record.entries)
      try comments.storeAnchors(of: comments.moved(through: min(through, record.entries.count)))
      record.state.comments = comments.kept
      record.compact(through: through)
      return .done
    case .room(let request):
      if request.traits.isWriting { undo.append(.rooms(rooms)) }
      return .room(rooms.reply(to: request))
    case .people(let request):
      if request.traits.isWriting { undo.append(.rooms(rooms)) }
      return .people(rooms.reply(to: request))
    case .groups(let request):
      if request.traits.isWriting { undo.append(.rooms(rooms)) }
      return .groups(rooms.reply(to: request))
    case .files(let request): return .files(try reply(to: request, &undo))
    case .comments(let request): return .comments(try reply(to: request, &undo))
    case .logins(let request):
      undo.append(.logins(logins))
      return .logins(logins.reply(to: request))
    case .links(.names(let request)):
      undo.append(.names(names))
      let reply = try names.reply(to: request) { id in
        records[id].map { (owner: ObjectIdentifier($0), summary: $0.summary) }
      }
      return .links(.names(reply))
    case .links(let request):
      undo.append(.logins(logins))
      return .links(try logins.reply(to: request) { records[$0]?.summary })
    case .folders(let request): return .folders(try reply(to: request, &undo))
    case .within(let condition, let work):
      let key = condition.id
      let record = condition.isOfDeleted ? deletedNotes[key]?.first?.record : records[key]
      guard let note = record?.summary,
        condition.rights.cover(note.folder, madeAt: note.createdAt)
      else { throw .outOfReach }
      return try reply(to: work, &undo)
    case .notices(.audience(let note, let thread)):
      let record = try readable(note)
      let writers = record.state.comments.values.compactMap { comment in
        thread != nil && (comment.id == thread || comment.thread == thread) ? comment.person : nil
      }
      return .notices(
        .audience(
          folder: record.summary.folder, createdAt: record.summary.createdAt,
          writers: Array(Set(writers))))
    case .notices(let request):
      undo.append(.notices(notices))
      return .notices(notices.reply(to: request, liveNote))
    case .notifying(let drafts, let work):
      let reply = try reply(to: work, &undo)
      undo.append(.notices(notices))
      notices.add(drafts, of: reply, liveNote)
      return reply
    case .audit(let request):
      undo.append(.audit(audit))
      return .audit(audit.reply(to: request))
    case .audited(let record, let work):
      let reply = try reply(to: work, &undo)
      undo.append(.audit(audit))
      audit.add(record, of: reply)
      return reply
    case .once(let request): return try reply(to: request, &undo)
    case .tell(let drafts):
      undo.append(.outbox(outbox))
      for draft in drafts { outbox.add(draft, outboxRules) }
      return .done
    case .rollBackFailedCommits, .probe: return .done
    }
  }

  private func reply(
    to request: OnceRequest, _ undo: inout [Undo]
  ) throws(StoreError) -> StoreReply {
    switch request {
    case .answer(let asked, _): return .once(once.answer(to: asked))
    case .perform(let work, let drafts, let retention):
      var own: [Undo] = []
      let reply = try reply(to: work, &own)
      guard reply.isDone else { return reply }
      own.append(.once(once))
      var elsewhere: [Int] = []
      for (place, draft) in drafts.enumerated() {
        guard let answer = draft.write(reply), !once.keep(answer, to: draft.request, retention)
        else {
          continue
        }
        elsewhere.append(place)
      }
      guard elsewhere.isEmpty else {
        takeBack(own)
        throw .answeredElsewhere(elsewhere)
      }
      undo += own
      return reply
    case .create(let draft, let epoch, let restMax):
      if let record = records[draft.id] {
        return .once(once.isOrigin(draft) ? .found(record.summary) : .taken)
      }
      if once.rests(draft.id, at: draft.time) { return .once(.deleted) }
      let made = try reply(
        to: .create(
          id: draft.id, epoch: epoch, title: draft.title, time: draft.time, folder: draft.folder,
          kind: draft.kind),
        &undo)
      guard case .note(let note) = made else { return made }
      once.begin(draft, restMax: restMax)
      return .once(.created(note))
    }
  }

  private func reply(
    to request: FileRequest, _ undo: inout [Undo]
  ) throws(StoreError) -> FileReply {
    switch request {
    case .put(let id, let draft, let room):
      let record = try record(id)
      undo.append(.changed(record, record.state))
      return record.state.files.put(draft, room)
    case .list(let id): return .files(try readable(id).state.files.list)
    case .read(let id, let hash, let withBytes):
      return try readable(id).state.files.file(hash, withBytes: withBytes)
    case .unsettled(let time, let id, let limit):
      let found = records.values.filter {
        !$0.state.files.unsettled(before: time, base: $0.state.base).isEmpty
      }.map(\.summary.id).sorted()
      let rest = found.filter { id ?? "" < $0 }
      return .notes(Array(rest.prefix(max(limit, 0))))
    case .search(let id, let time):
      let record = try readable(id)
      let base = record.state.base
      var uses = FileUses(head: record.entries.count, newest: [:])
      for hash in record.state.files.unsettled(before: time, base: base) {
        func names(_ revision: Int) -> Bool {
          let content = record.content(at: revision)
          return content.text.text.utf8.contains(hash.digits)
            || content.formatJSON.contains(hash.digits)
        }
        let isKept = record.state.versions.keys.contains { $0 < base && names($0) }
        uses.newest[hash] = .some(
          (base...record.entries.count).last(where: names) ?? (isKept ? base : nil))
      }
      return .uses(uses)
    case .settle(let id, let uses, let time):
      let record = try record(id)
      undo.append(.changed(record, record.state))
      return record.state.files.settle(uses, head: record.entries.count, before: time)
    }
  }

  private func reply(
    to request: CommentRequest, _ undo: inout [Undo]
  ) throws(StoreError) -> CommentReply {
    let record = try request.traits.isWriting ? record(request.note) : readable(request.note)
    let comments = MemoryComments(
      record.state.comments, epoch: record.state.epoch, base: record.state.base,
      in: record.summary.folder,
      entries: record.entries)
    let reply = try comments.reply(to: request.work)
    guard request.traits.isWriting else { return reply }
    undo.append(.changed(record, record.state))
    record.state.comments = comments.kept
    return reply
  }

  private func reply(
    to request: FolderRequest, _ undo: inout [Undo]
  ) throws(StoreError) -> FolderReply {
    switch request {
    case .move(let id, let folder, let title, let time):
      let record = try record(id)
      undo.append(.changed(record, record.state))
      record.summary.folder = folder
      if let title {
        record.summary.title = title
        record.summary.updatedAt = TimeOrder.following(record.summary.updatedAt, time)
      }
      return .note(record.summary)
    case .notes(let folder, let place, let limit):
      let rest = list().filter { note in
        note.folder == folder && place.map { NoteSortKey(note).isAfter($0) } ?? true
      }
      return .notes(
        Array(rest.sorted { NoteSortKey($1).isAfter(NoteSortKey($0)) }.prefix(max(limit, 0))))
    case .list(let place, let limit, let counting, let work):
      return folders(after: place, limit: limit, counting, work: max(1, work))
    case .of(let ids): return .of(ids.map { records[$0]?.summary.folder })
    case .moveAll(let old, let new, let limit):
      let (move, limit) = (FolderMove(from: old, to: new), max(limit, 0))
      let below = list().filter { $0.folder.isWithin(old) }
        .sorted {
          $0.folder == $1.folder
            ? NoteSortKey($0).isAfter(NoteSortKey($1)) : $0.folder < $1.folder
        }
      let others = below.filter { note in
        move.successor.map { !note.folder.isWithin($0) } ?? true
      }
      let isTooMany = below.count - others.count > limit
      let (portion, hasMore) =
        isTooMany
        ? (Array(others.prefix(limit)), others.count > limit)
        : move.portion(of: below, limit: limit) { $0.folder }
      var moved: [NoteSummary] = []
      for var note in portion {
        do throws(FolderPathError) {
          note.folder = try note.folder.moved(from: old, to: new)
        } catch {
          return .unfit(error)
        }
        moved.append(note)
      }
      for note in moved {
        let record = try record(note.id)
        undo.append(.changed(record, record.state))
        record.summary.folder = note.folder
      }
      return .moved(moved, hasMore: hasMore, rest: isTooMany && !hasMore ? move.rest : nil)
    }
  }

  /// Counts the notes of folders, in one step of bounded work.
  private func folders(
    after place: FolderListPosition?, limit: Int, _ counting: FolderCounting, work: Int
  ) -> FolderReply {
    let notes = list().sorted {
      $0.folder == $1.folder
        ? NoteSortKey($0).isAfter(NoteSortKey($1)) : $0.folder < $1.folder
    }.filter { note in
      guard let place else { return true }
      guard note.folder == place.folder else { return place.folder < note.folder }
      return place.partial.map { $0.last.isAfter(NoteSortKey(note)) } ?? false
    }
    var found: [FolderCount] = []
    var open = place.flatMap { place in
      place.partial.map { FolderCount(folder: place.folder, notes: $0.notes) }
    }
    func end() {
      if let open, open.notes > 0 { found.append(open) }
    }
    for (index, note) in notes.enumerated() {
      if index == work, let open {
        let last = NoteSortKey(notes[index - 1])
        return .folders(
          found,
          next: FolderListPosition(
            open.folder, partial: FolderListPosition.Partial(notes: open.notes, last: last)))
      }
      if note.folder != open?.folder {
        end()
        if found.count >= limit {
          return .folders(found, next: open.map { FolderListPosition($0.folder) })
        }
        open = FolderCount(folder: note.folder, notes: 0)
      }
      let counts =
        counting.includesAll(of: note.folder) || counting.includes(note.id, madeAt: note.createdAt)
      open?.notes += counts ? 1 : 0
    }
    end()
    return .folders(found, next: nil)
  }

  private func reply(
    to request: DeletedRequest, _ undo: inout [Undo]
  ) throws(StoreError) -> StoreReply {
    switch request {
    case .list(let place, let limit):
      let rest = deletedInOrder.lazy.map {
        DeletedNote(note: $0.record.summary, deletion: $0.deletion)
      }.filter { note in place.map { NoteSortKey(note).isAfter($0) } ?? true }
      return .deletedNotes(Array(rest.prefix(max(limit, 0))))
    case .bringBack(let id):
      guard let record = deletedNotes[id]?.first?.record else { throw .unknownDocument }
      guard records[id] == nil else { throw .exists }
      removeDeleted(id, &undo)
      records[id] = record
      undo.append(.created(id))
      undo.append(.once(once))
      once.noteReturn(of: id)
      return .note(record.summary)
    case .remove(let id):
      guard let record = deletedNotes[id]?.first?.record else { throw .unknownDocument }
      removeDeleted(id, &undo)
      removeTraces(of: record, &undo)
      return .done
    case .removeOlder(let time, let limit):
      let older = deletedInOrder.reversed().prefix { $0.deletion.time < time }
      for deleted in older.prefix(max(limit, 0)) {
        let key = deleted.place.id
        undo.append(.deletedNotes(key, deletedNotes[key]))
        deletedNotes[key]?.removeAll { $0.place == deleted.place }
        if deletedNotes[key]?.isEmpty == true { deletedNotes[key] = nil }
        removeTraces(of: deleted.record, &undo)
      }
      return .done
    }
  }

  /// Withdraws the names of a permanently deleted note, and removes the notices about it.
  private func removeTraces(of record: Record, _ undo: inout [Undo]) {
    undo.append(.names(names))
    names.remove(ObjectIdentifier(record))
    undo.append(.notices(notices))
    notices.remove(ObjectIdentifier(record))
  }

  private func liveNote(_ id: DocumentID) -> MemoryNotices.LiveNote? {
    records[id].map { (owner: ObjectIdentifier($0), summary: $0.summary) }
  }

  private var deletedInOrder: [DeletedRecord] {
    deletedNotes.values.flatMap(\.self).sorted { $1.place.isAfter($0.place) }
  }

  /// Deletes the newest deleted note with an id.
  private func removeDeleted(_ key: DocumentID, _ undo: inout [Undo]) {
    undo.append(.deletedNotes(key, deletedNotes[key]))
    deletedNotes[key]?.removeFirst()
    if deletedNotes[key]?.isEmpty == true { deletedNotes[key] = nil }
  }

  private func readable(_ id: DocumentID) throws(StoreError) -> Record {
    let record = try record(id)
    guard !damagedDocuments.contains(id) else { throw .damaged("an entry, as ordered") }
    guard !unreadableDocuments.contains(id) else {
      throw .unavailable("the disk does not answer, as ordered; try again")
    }
    return record
  }

  private func record(_ id: DocumentID) throws(StoreError) -> Record {
    guard let record = records[id] else { throw .unknownDocument }
    return record
  }

  private func recordsInOrder() -> [Record] {
    if let placesInOrder { return placesInOrder }
    let all = records.values.sorted { NoteSortKey($1.summary).isAfter(NoteSortKey($0.summary)) }
    placesInOrder = all
    return all
  }

  private func list() -> [NoteSummary] {
    records.values.map(\.summary).sorted { left, right in
      left.updatedAt == right.updatedAt
        ? left.id < right.id
        : left.updatedAt > right.updatedAt
    }
  }

  private func append(
    _ entries: [LogEntry], epoch: Epoch, _ condition: AppendCondition?, to record: Record,
    _ undo: inout [Undo]
  ) throws(StoreError) -> StoreReply {
    let headRevision = record.entries.count
    guard epoch == record.state.epoch else { throw .notNext(headRevision: headRevision) }
    if let condition, let first = entries.first {
      guard (1...(headRevision + 1)).contains(first.revision),
        record.chain(at: first.revision - 1, in: life) == condition.chain
      else { throw .notNext(headRevision: headRevision) }
    }
    if let first = entries.first, 0 < first.revision, first.revision <= headRevision {
      return .lostRace(
        Array(try record.entries(after: first.revision - 1, through: .max)),
        chain: isShared ? record.chain(at: headRevision, in: life) : nil)
    }
    if let condition {
      let numbered = Set(entries.filter { $0.sequence > 0 }.map(\.client))
      let fenced = Set(entries.map(\.client)).filter { client in
        let newest =
          record.sessions[client] ?? (numbered.contains(client) ? record.session(of: client) : 0)
        return newest > condition.sessions[client, default: 0]
      }
      guard fenced.isEmpty else { throw .fenced(fenced.sorted()) }
    }
    var length = record.length
    for (index, entry) in entries.enumerated() {
      guard
        entry.revision == headRevision + index + 1, entry.operation.baseLength == length
      else { throw .notNext(headRevision: headRevision) }
      length = entry.operation.targetLength
    }
    undo.append(.changed(record, record.state))
    for entry in entries {
      if entry.sequence > 0 {
        if record.marks[entry.client] == nil, record.sessionFloor > 0 {
          undo.append(.fenced(record, record.sessions))
          record.sessions[entry.client] = record.session(of: entry.client)
        }
        undo.append(.marked(record, entry.client, record.marks[entry.client]))
        record.marks[entry.client] = ClientMark(
          sequence: entry.sequence, revision: entry.revision, digest: entry.digest)
      }
      record.summary.updatedAt = TimeOrder.following(record.summary.updatedAt, entry.time)
      if entry.format?.makesRich == true { record.summary.kind = .rich }
    }
    record.entries.append(contentsOf: entries)
    record.summary.revision = record.entries.count
    return isShared ? .appended(record.chain(at: record.entries.count, in: life)) : .done
  }

  private func news(
    of record: Record, epoch: Epoch, after: Int, chain: LogChain, clients: [String]
  ) throws(StoreError) -> LogChanges {
    let headRevision = record.entries.count
    guard epoch == record.state.epoch, (0...headRevision).contains(after),
      record.chain(at: after, in: life) == chain
    else { return .otherHistory }
    let sessions = Dictionary(
      clients.map { ($0, record.session(of: $0)) }, uniquingKeysWith: { first, _ in first })
    return .entries(
      LogRange(
        title: record.summary.title,
        entries: Array(try record.entries(after: after, through: .max)),
        chain: record.chain(at: headRevision, in: life), headRevision: headRevision,
        sessions: sessions, sessionFloor: record.sessionFloor, folder: record.summary.folder))
  }

  private func fence(
    _ clients: [String], in record: Record, _ undo: inout [Undo]
  ) throws(StoreError) -> [String: Int] {
    undo.append(.fenced(record, record.sessions))
    var begun: [String: Int] = [:]
    for client in clients {
      record.sessions[client] = record.session(of: client) + 1
      begun[client] = record.sessions[client]
    }
    return begun
  }

  /// Deletes the sessions of clients without changes in a document, as a store does after a while.
  public func dropIdleSessions(of id: DocumentID) { records[id]?.dropIdleSessions() }

  /// Verifies a snapshot, which this store does not need to store.
  private func check(
    _ text: String, at revision: Int, epoch: Epoch, of record: Record
  ) throws(StoreError) {
    guard epoch == record.state.epoch, (0...record.entries.count).contains(revision),
      revision < record.entries.count || text.unicodeScalars.count == record.length
    else { throw .notNext(headRevision: record.entries.count) }
    guard record.content(at: revision).text == Document(text) else {
      throw .damaged("the snapshot of revision \(revision) is not the fold of the log")
    }
  }

  // MARK: Undo

  private enum Undo {
    case created(DocumentID)
    case deleted(DocumentID, Record)
    case deletedNotes(DocumentID, [DeletedRecord]?)
    case changed(Record, Record.State)
    case marked(Record, String, ClientMark?)
    case fenced(Record, [String: Int])
    case rooms(MemoryRooms)
    case outbox(MemoryOutbox)
    case once(MemoryOnce)
    case logins(MemorySessions)
    case names(MemoryNames)
    case audit(MemoryAudit)
    case notices(MemoryNotices)
  }

  private func takeBack(_ undo: [Undo]) {
    for step in undo.reversed() {
      switch step {
      case .created(let key): records[key] = nil
      case .deleted(let key, let record): records[key] = record
      case .deletedNotes(let key, let earlier): deletedNotes[key] = earlier
      case .changed(let record, let state): record.takeBack(to: state)
      case .marked(let record, let client, let mark): record.marks[client] = mark
      case .fenced(let record, let earlier): record.sessions = earlier
      case .rooms(let earlier): rooms = earlier
      case .outbox(let earlier): outbox = earlier
      case .once(let earlier): once = earlier
      case .logins(let earlier): logins = earlier
      case .names(let earlier): names = earlier
      case .audit(let earlier): audit = earlier
      case .notices(let earlier): notices = earlier
      }
    }
  }
}

/// A deleted document that can be restored.
private struct DeletedRecord {
  let record: Record
  let deletion: Deletion

  var place: NoteSortKey { NoteSortKey(time: deletion.time, id: record.summary.id) }
}

private final class Record {
  /// The state of a document except for its log and marks.
  struct State {
    var summary: NoteSummary
    var epoch: Epoch
    var versions: [Int: NamedVersion] = [:]
    /// Entries up to this revision can no longer be read.
    var base = 0
    /// Revisions before the base whose texts can be read.
    var kept: Set<Int> = [0]
    var files = MemoryFiles()
    var comments: [CommentID: Comment] = [:]
  }

  var state: State
  /// The whole log, including compacted entries: simulations check it all.
  var entries: [LogEntry] = []
  var marks: [String: ClientMark] = [:]
  /// The newest session of each client that has begun one.
  var sessions: [String: Int] = [:]
  /// The newest of the deleted sessions.
  private(set) var sessionFloor = 0
  /// The chains of revisions, computed when first requested.
  private var chains = [LogChain(high: 0, low: 0)]

  var summary: NoteSummary {
    get { state.summary }
    set { state.summary = newValue }
  }

  /// Cached folds at some revisions, ascending, starting with the empty text.
  private var folds: [(revision: Int, content: NoteContent)] = [(0, NoteContent())]
  private static let foldSpacing = 256

  init(_ summary: NoteSummary, epoch: Epoch) {
    state = State(summary: summary, epoch: epoch)
  }

  /// Returns the newest session of a client.
  func session(of client: String) -> Int {
    sessions[client] ?? (marks[client] == nil ? sessionFloor : 0)
  }

  func dropIdleSessions() {
    for (client, session) in sessions where marks[client] == nil {
      sessions[client] = nil
      sessionFloor = max(sessionFloor, session)
    }
  }

  func entries(after: Int, through: Int) throws(StoreError) -> ArraySlice<LogEntry> {
    let after = max(after, 0)
    let through = min(through, entries.count)
    guard after < through else { return [] }
    guard after >= state.base else { throw .compacted(oldestRevision: state.base + 1) }
    return entries[after..<through]
  }

  func recent(_ count: Int) -> ArraySlice<LogEntry> {
    entries[max(state.base, entries.count - max(count, 0))...]
  }

  func checkText(at revision: Int) throws(StoreError) {
    guard revision >= state.base || state.kept.contains(revision) else {
      throw .compacted(oldestRevision: state.base)
    }
  }

  func editingSessions(before: Int, limit: Int, pause: Timestamp) -> EditingSessionPage {
    var builder = EditingSessionPage.Builder(limit: limit, pause: pause)
    for entry in entries.dropFirst(state.base).prefix(max(before - 1 - state.base, 0)).reversed() {
      guard !builder.isFull else { break }
      builder.take(
        ChangeAmount(
          revision: entry.revision, author: entry.author, time: entry.time, entry.operation))
    }
    return builder.page(head: entries.count, oldest: state.base)
  }

  func difference(from: Int, to: Int) throws(StoreError) -> DifferenceReply {
    guard to <= entries.count else { throw .notNext(headRevision: entries.count) }
    let (old, new) = (try text(at: .revision(from)), try text(at: .revision(to)))
    return TextDifference(from: old, to: new).map { .difference($0) } ?? .tooLong
  }

  func text(at point: HistoryPoint) throws(StoreError) -> HistoricText {
    var revision: Int
    switch point {
    case .revision(let asked): revision = max(0, min(asked, entries.count))
    case .time(let time):
      revision = entries.last { $0.time <= time }?.revision ?? 0
      if revision < state.base { throw .compacted(oldestRevision: state.base) }
    }
    try checkText(at: revision)
    var authorship = Authorship()
    for entry in entries[..<revision] {
      authorship.apply(entry.operation, by: entry.author)
    }
    return HistoricText(
      revision: revision, time: revision == 0 ? summary.createdAt : entries[revision - 1].time,
      content: content(at: revision), authors: authorship.runs)
  }

  func compact(through: Int) {
    let through = min(through, entries.count)
    guard through > state.base else { return }
    let named = Set(state.versions.keys)
    state.kept = state.kept.union(state.base...through).intersection(named).union([0])
    state.base = through
  }

  var length: Int { entries.last?.operation.targetLength ?? 0 }

  func head() -> NoteContent {
    let content = content(at: entries.count)
    // Replace the newest fold, but retain one every few hundred revisions.
    if folds.count > 1, let last = folds.last,
      last.revision / Self.foldSpacing == entries.count / Self.foldSpacing
    {
      folds.removeLast()
    }
    if folds.last?.revision != entries.count { folds.append((entries.count, content)) }
    return content
  }

  func content(at revision: Int) -> NoteContent {
    let start = folds.last { $0.revision <= revision } ?? (0, NoteContent())
    var content = start.content
    for entry in entries[start.revision..<revision] { content.apply(logged: entry) }
    return content
  }

  func chain(at revision: Int, in life: Int) -> LogChain {
    while chains.count <= revision {
      chains.append(chains[chains.count - 1].following(entries[chains.count - 1]))
    }
    var chain = chains[revision]
    chain.life = life
    return chain
  }

  func head(in life: Int) -> LogHead {
    LogHead(
      title: summary.title, epoch: state.epoch, revision: entries.count,
      chain: chain(at: entries.count, in: life), folder: summary.folder)
  }

  func takeBack(to earlier: State) {
    state = earlier
    let revision = earlier.summary.revision
    entries.removeLast(entries.count - revision)
    if chains.count > revision + 1 { chains.removeLast(chains.count - revision - 1) }
    folds.removeAll { $0.revision > revision }
  }
}

extension LogChain {
  /// Returns the chain after one more entry.
  fileprivate func following(_ entry: LogEntry) -> LogChain {
    var high = FNV1a(continuing: high)
    var low = FNV1a(continuing: low)
    func mix(_ word: UInt64) {
      high.combine(word)
      low.combine(~word)
    }
    mix(UInt64(entry.revision))
    for byte in entry.client.utf8 { mix(UInt64(byte)) }
    mix(UInt64(entry.sequence))
    mix(entry.digest)
    mix(UInt64(bitPattern: entry.time))
    if let format = entry.format {
      var json: [UInt8] = []
      format.appendJSON(to: &json)
      for byte in json { mix(UInt64(byte)) }
    }
    return LogChain(high: high.value, low: low.value, life: life)
  }
}
