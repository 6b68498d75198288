/// A request to the store. All requests of a batch are committed together and synced once.
public enum StoreRequest: Sendable {
  /// Creates a note with an empty log. Fails with `exists` if the id is in use.
  case create(
    id: DocumentID, epoch: Epoch, title: String, time: Timestamp, folder: FolderPath = .none,
    kind: NoteKind = .plain)
  /// Changes a note's title.
  case rename(id: DocumentID, title: String, time: Timestamp)
  /// Deletes a note. With `keeping`, the note becomes a deleted note and can be restored
  /// (``DeletedRequest``). Without it, the note and its log are removed.
  case delete(id: DocumentID, keeping: Deletion? = nil)
  /// A request about retained deleted notes.
  case deleted(DeletedRequest)
  /// Reads the summary of a note.
  case note(id: DocumentID)
  /// Lists all notes, the newest change first.
  case list
  /// Lists at most `limit` notes in the order of ``NoteSortKey``, after a note or from the first.
  case notes(after: NoteSortKey?, limit: Int)
  /// Loads a document and at most `recentMax` of its newest log entries.
  case load(id: DocumentID, recentMax: Int)
  /// Loads entries `after < revision <= through`, oldest first.
  ///
  /// The reply ends early when the stored operations exceed `bytesMax`. The first entry is not
  /// counted, and at least two entries are returned if there are two.
  case entries(id: DocumentID, after: Int, through: Int, bytesMax: Int = .max)
  /// Appends all entries or none. The first revision must be the head's + 1.
  ///
  /// If another writer was first, so that the log has other entries at these revisions, nothing is
  /// appended, and the reply is ``StoreReply/lostRace(_:chain:)``.
  ///
  /// A shared log requires a condition: after a restore, the same revision may be another entry.
  /// For a shared log, the reply is ``StoreReply/appended(_:)``. The request fails with `notNext`
  /// if epoch or chain differ, and with `fenced` if a client has started a newer session. A lost
  /// race is reported before `fenced`.
  case append(
    id: DocumentID, epoch: Epoch, entries: [LogEntry], condition: AppendCondition? = nil)
  /// Reads a shared log's entries after a revision, if the log has this chain there, and the newest
  /// sessions of some clients. The result includes every commit and fence that was complete when
  /// the request was made. Fails with `compacted` if entries are missing.
  case news(id: DocumentID, epoch: Epoch, after: Int, chain: LogChain, clients: [String] = [])
  /// Reads the heads of shared logs; `nil` for missing ones.
  case heads(ids: [DocumentID])
  /// Starts a new session for each of the clients in a shared log. Entries of their earlier
  /// sessions are then rejected. A client without a session is in session 0.
  case fence(id: DocumentID, clients: [String])
  /// Offers a snapshot of the text, so that loading need not replay the whole log. A store that
  /// takes snapshots itself may ignore it.
  case snapshot(id: DocumentID, epoch: Epoch, revision: Int, text: String)
  /// Loads the text at a point of the history. Fails with `compacted` if that text is no longer
  /// stored.
  case text(id: DocumentID, at: HistoryPoint)
  /// Condenses the entries after a revision into at most `limit` groups. A group has one author, no
  /// pause longer than `pause` milliseconds, and at most ``HistoryGroup/entriesMax`` entries.
  case history(id: DocumentID, after: Int, limit: Int, pause: Timestamp)
  /// Reads a note's history for people: editing sessions and differences.
  case past(id: DocumentID, PastRequest)
  /// Lists the named versions, the newest revision first.
  case versions(id: DocumentID)
  /// Names a revision. Its text remains available when the log around it is compacted.
  case saveVersion(id: DocumentID, epoch: Epoch, version: NamedVersion)
  /// Removes a revision's name, if it has one.
  case deleteVersion(id: DocumentID, revision: Int)
  /// Replaces the epoch, because the log has lost entries that a client knows of.
  case renewEpoch(id: DocumentID, from: Epoch, to: Epoch)
  /// Removes the entries up to a revision. The text at that revision, the ``ClientMark`` of each
  /// client, and the texts of named versions remain.
  case compact(id: DocumentID, through: Int)
  /// A request about a room.
  case room(RoomRequest)
  /// A request about people in rooms.
  case people(PeopleRequest)
  /// A request about groups, likes or read positions.
  case groups(GroupRequest)
  /// A request about files of notes.
  case files(FileRequest)
  /// A request about the comments of a note.
  case comments(CommentRequest)
  /// A request about the sessions of signed-in users.
  case logins(SessionRequest)
  /// A request about links to notes.
  case links(LinkRequest)
  /// A request about folders of notes.
  case folders(FolderRequest)
  /// A request about notices.
  case notices(NoticeRequest)
  /// A request about the audit log.
  case audit(AuditRequest)
  /// Performs a request on a note if its folder satisfies a condition when the request is
  /// committed. Fails with `outOfReach` if the folder does not, or if there is no such note.
  indirect case within(FolderCondition, StoreRequest)
  /// Performs a request, and adds a record of it to the audit log in the same commit, unless the
  /// request fails or finds nothing to do. The store sets the record's outcome.
  indirect case audited(AuditRecord, StoreRequest)
  /// Performs a request, and adds notices about it in the same commit, if it has changed the store.
  indirect case notifying([NoticeDraft], StoreRequest)
  /// An idempotent request.
  case once(OnceRequest)
  /// Adds events to the outbox that do not result from a change of the store. A store without an
  /// outbox ignores them.
  case tell([OutboxDraft])
  /// Ensures that a failed commit does not reappear when the store is opened again, as it may after
  /// ``StoreReply/undecided(_:)``. After success, the failed commit is rolled back for good.
  case rollBackFailedCommits
  /// Commits nothing else, to test whether the store can commit.
  case probe
}

/// A request about a note's history.
public enum PastRequest: Sendable {
  /// Condenses the changes before a revision into at most `limit` editing sessions, the newest
  /// first. A session contains the changes of all people without a pause longer than `pause`
  /// milliseconds. At most ``EditingSessionPage/changesMax`` changes are read.
  case sessions(before: Int, limit: Int, pause: Timestamp)
  /// Compares the texts at two revisions, `from` ≤ `to`. Fails with `compacted` if one of the texts
  /// is no longer stored, and with `notNext` if a revision is beyond the head.
  case difference(from: Int, to: Int)
}

/// The reply to a comparison of two revisions.
public enum DifferenceReply: Sendable, Equatable {
  /// The difference from the older text to the newer one.
  case difference(TextDifference)
  /// The difference exceeds ``TextDifference/bytesMax``.
  case tooLong
}

/// The reply to one request.
public enum StoreReply: Sendable {
  /// Nothing was appended, because another writer was first. Contains the log's entries from the
  /// first revision of the append, oldest first: at least one, and at most about
  /// ``lostRaceBytesMax`` bytes of operations. The log may have more. For a shared log, `chain` is
  /// the chain after the last of these entries.
  case lostRace([LogEntry], chain: LogChain? = nil)
  /// The entries were appended to a shared log. Contains the chain at the new head.
  case appended(LogChain)
  /// The changes of a shared log.
  case news(LogChanges)
  /// The heads of shared logs, in the order of the request.
  case heads([LogHead?])
  /// The new sessions, by client.
  case sessions([String: Int])
  /// The request succeeded, without a result.
  case done
  /// The note's summary after the request.
  case note(NoteSummary)
  /// Notes in the requested order.
  case notes([NoteSummary])
  /// Deleted notes.
  case deletedNotes([DeletedNote])
  /// The document, with its newest log entries.
  case document(StoredDocument)
  /// Entries of a log, oldest first.
  case entries([LogEntry])
  /// A text of the history.
  case text(HistoricText)
  /// A part of a log in groups.
  case history(HistoryPage)
  /// A page of editing sessions.
  case editingSessions(EditingSessionPage)
  /// The difference of two revisions.
  case difference(DifferenceReply)
  /// Named versions, the newest revision first.
  case versions([NamedVersion])
  /// The reply to ``StoreRequest/room(_:)``.
  case room(RoomReply)
  /// The reply to ``StoreRequest/people(_:)``.
  case people(PeopleReply)
  /// The reply to ``StoreRequest/groups(_:)``.
  case groups(GroupReply)
  /// The reply to ``StoreRequest/files(_:)``.
  case files(FileReply)
  /// The reply to ``StoreRequest/comments(_:)``.
  case comments(CommentReply)
  /// The reply to ``StoreRequest/logins(_:)``.
  case logins(SessionReply)
  /// The reply to ``StoreRequest/links(_:)``.
  case links(LinkReply)
  /// The reply to ``StoreRequest/folders(_:)``.
  case folders(FolderReply)
  /// The reply to ``StoreRequest/notices(_:)``.
  case notices(NoticeReply)
  /// The reply to ``StoreRequest/audit(_:)``.
  case audit(AuditReply)
  /// The reply to ``StoreRequest/once(_:)``.
  case once(OnceReply)
  /// The request failed.
  case failed(StoreError)
  /// The request failed, but its commit may become visible when the store is opened again: part of
  /// the commit is on the disk and could not be erased. It cannot reappear after
  /// ``StoreRequest/rollBackFailedCommits`` or any other commit has succeeded.
  case undecided(StoreError)

  /// Approximate maximum bytes of operations in a lost race.
  public static let lostRaceBytesMax = 1 << 20

  /// The error of a failed request; `nil` also for a lost race.
  public var failure: StoreError? {
    switch self {
    case .failed(let error), .undecided(let error): error
    default: nil
    }
  }

  /// Whether the request succeeded.
  public var isDone: Bool {
    switch self {
    case .failed, .undecided, .lostRace: false
    case .done, .appended, .note, .notes, .deletedNotes, .document, .entries, .news, .heads,
      .sessions, .text, .history, .editingSessions, .difference, .versions, .room, .people, .groups,
      .files,
      .comments, .folders, .logins, .links, .notices, .audit, .once:
      true
    }
  }
}
