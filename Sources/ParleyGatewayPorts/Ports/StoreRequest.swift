/// Work for the store. The work of one batch is committed together, then synced once.
public enum StoreRequest: Sendable {
  /// Makes a note with an empty log. Fails with `exists` if the name is taken.
  case create(
    id: DocumentID, epoch: String, title: String, time: Timestamp, folder: FolderPath = .none,
    kind: NoteKind = .plain)
  /// Changes a note's title.
  case rename(id: DocumentID, title: String, time: Timestamp)
  /// Hides a note. With a deletion, it is kept and may be restored (``DeletedRequest``); without one, it is
  /// removed with its log.
  case delete(id: DocumentID, keeping: Deletion? = nil)
  /// Works with deleted notes that are kept.
  case deleted(DeletedRequest)
  /// Reads everything about one note except its text.
  case note(id: DocumentID)
  /// Lists all notes, the newest change first.
  case list
  /// Lists at most `limit` notes in the order of ``NotePlace``, those after a place or the first.
  case notes(after: NotePlace?, limit: Int)
  /// Loads a document and the newest `recentMax` entries of its log.
  case load(id: DocumentID, recentMax: Int)
  /// Loads entries `after < revision <= through`, oldest first.
  ///
  /// Beyond `bytesMax` of operations as they are stored it ends early; the first entry does not count, and
  /// at least two are returned, if there are so many.
  case entries(id: DocumentID, after: Int, through: Int, bytesMax: Int = .max)
  /// Appends entries, whose first revision is the head's + 1. All or none.
  ///
  /// If another writer of the store was first, so that the log has other entries at these revisions,
  /// nothing is appended, and the reply is ``StoreReply/lostRace(_:)``.
  ///
  /// A shared log is appended to under a condition, since the revision alone may be of another history. It
  /// replies with ``StoreReply/appended(_:)``; with `notNext` where epoch or chain differ, and with
  /// `fenced` where a client has begun a newer session. A lost race is reported before `fenced`.
  case append(
    id: DocumentID, epoch: String, entries: [LogEntry], condition: AppendCondition? = nil)
  /// Reads a shared log's entries after a revision, if it is the log that has this chain there, and the
  /// newest sessions of some clients. It shows every commit that was over when the request was made, and
  /// each fence. Fails with `compacted` where entries are missing.
  case news(id: DocumentID, epoch: String, after: Int, chain: LogChain, clients: [String] = [])
  /// Reads the heads of many shared logs; `nil` for missing ones.
  case heads(ids: [DocumentID])
  /// Begins a new session of clients in a shared log: entries that were sent in an earlier one are no
  /// longer appended. A client without a session is in session 0.
  case fence(id: DocumentID, clients: [String])
  /// Offers the text at a revision, so that loading need not replay the log from its start. A store
  /// that takes snapshots by itself need not keep it.
  case snapshot(id: DocumentID, epoch: String, revision: Int, text: String)
  /// Loads the text at a moment of the past. Fails with `compacted` where it is no longer known.
  case text(id: DocumentID, at: HistoryPoint)
  /// Condenses the entries after a revision into at most `limit` groups: one author's, with no pause
  /// longer than `pause` milliseconds between them, at most ``HistoryGroup/entriesMax``.
  case history(id: DocumentID, after: Int, limit: Int, pause: Timestamp)
  /// Reads a note's past for people: sessions, and differences.
  case past(id: DocumentID, PastRequest)
  /// Lists the named versions, the newest revision first.
  case versions(id: DocumentID)
  /// Names a revision. Its text stays known when the log around it is compacted away.
  case saveVersion(id: DocumentID, epoch: String, version: NamedVersion)
  /// Removes a revision's name, if it has one.
  case deleteVersion(id: DocumentID, revision: Int)
  /// Continues under another epoch, because a part of the history was lost that a client knows of.
  case renewEpoch(id: DocumentID, from: String, to: String)
  /// Forgets the entries up to a revision. The text at it, the marks of all clients, and the texts
  /// of named versions stay.
  case compact(id: DocumentID, through: Int)
  /// Works with a room.
  case room(RoomRequest)
  /// Works for people in rooms.
  case people(PeopleRequest)
  /// Works with groups, likes, and what people have read.
  case groups(GroupRequest)
  /// Works with the files of notes.
  case files(FileRequest)
  /// Works with the comments of a note.
  case comments(CommentRequest)
  /// Works with the sessions of signed-in users.
  case logins(SessionRequest)
  /// Works with links to notes.
  case links(LinkRequest)
  /// Works with the folders of notes.
  case folders(FolderRequest)
  /// Does other work if a note is in one of some folders at that moment. Fails with `outOfReach` if the
  /// note is in another folder, or missing.
  indirect case within(FolderCondition, StoreRequest)
  /// Does work once, however often it is asked for.
  case once(OnceRequest)
  /// Keeps events about what is not in the store. A store without an outbox need not.
  case tell([OutboxDraft])
  /// Makes sure that nothing of a commit that failed turns up when the store is opened again, as it may
  /// after ``StoreReply/undecided(_:)``. Once it is done, that commit has not happened.
  case wipeFailedCommits
  /// Commits nothing but itself, to see whether the store commits.
  case probe
}

/// A question about a note's past.
public enum PastRequest: Sendable {
  /// Condenses the changes before a revision into at most `limit` sessions, the newest first: the changes of all people
  /// with no pause longer than `pause` milliseconds between them. At most ``EditingSessionPage/changesMax`` changes are
  /// read.
  case sessions(before: Int, limit: Int, pause: Timestamp)
  /// Compares the texts at two revisions, of which the second is not older. Fails with `compacted` where one of them is
  /// no longer known, and with `notNext` where there is no such revision yet.
  case difference(from: Int, to: Int)
}

/// The reply to a comparison of two revisions.
public enum DifferenceReply: Sendable, Equatable {
  /// The difference.
  case difference(TextDifference)
  /// The difference exceeds ``TextDifference/bytesMax``.
  case tooLong
}

/// The reply to one request.
public enum StoreReply: Sendable {
  /// Nothing was appended, for another writer was first. These are the log's entries from the first
  /// revision that was to be appended, oldest first: at least one, and about ``lostRaceBytesMax`` bytes of
  /// operations at most; then there may be more. With the chain at the last of them in a shared log.
  case lostRace([LogEntry], chain: LogChain? = nil)
  /// Appended to a shared log, which has this chain at its head now.
  case appended(LogChain)
  /// The news of a shared log.
  case news(LogNews)
  /// The heads of shared logs, in the order in which they were asked for.
  case heads([LogHead?])
  /// The sessions that have begun, by client.
  case sessions([String: Int])
  /// Done, without a result.
  case done
  /// The note as it is now.
  case note(NoteSummary)
  /// All notes.
  case notes([NoteSummary])
  /// Deleted notes.
  case deletedNotes([DeletedNote])
  /// A document.
  case document(StoredDocument)
  /// Entries of a log.
  case entries([LogEntry])
  /// A text of the past.
  case text(HistoricText)
  /// A part of a log in groups.
  case history(HistoryPage)
  /// A page of editing sessions.
  case editingSessions(EditingSessionPage)
  /// The difference of two revisions.
  case difference(DifferenceReply)
  /// Named versions.
  case versions([NamedVersion])
  /// The reply to a request about a room.
  case room(RoomReply)
  /// The reply to a request about people in rooms.
  case people(PeopleReply)
  /// The reply to a request about groups.
  case groups(GroupReply)
  /// The reply to a request about files.
  case files(FileReply)
  /// The reply to a request about comments.
  case comments(CommentReply)
  /// The reply to a request about sessions.
  case logins(SessionReply)
  /// The reply to a request about links.
  case links(LinkReply)
  /// The reply to a request about folders.
  case folders(FolderReply)
  /// The reply to a request that is done once.
  case once(OnceReply)
  /// Not done.
  case failed(StoreError)
  /// The work is not done, unless it turns up when the store is opened again: its commit reached the disk
  /// in part, and could not be wiped. It will not once ``StoreRequest/wipeFailedCommits`` or any other
  /// commit has succeeded.
  case undecided(StoreError)

  /// The approximate bytes of operations that come with a lost race.
  public static let lostRaceBytesMax = 1 << 20

  /// Why the work was not done, as far as the store knows; `nil` also for a lost race.
  public var failure: StoreError? {
    switch self {
    case .failed(let error), .undecided(let error): error
    default: nil
    }
  }

  /// Whether the work was done.
  public var isDone: Bool {
    switch self {
    case .failed, .undecided, .lostRace: false
    case .done, .appended, .note, .notes, .deletedNotes, .document, .entries, .news, .heads,
      .sessions, .text, .history, .editingSessions, .difference, .versions, .room, .people, .groups,
      .files,
      .comments, .folders, .logins, .links, .once:
      true
    }
  }
}
