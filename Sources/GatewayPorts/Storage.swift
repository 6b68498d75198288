public import OTCore

/// The name of a document: an opaque string.
public typealias DocumentID = String

/// Milliseconds since 1970-01-01T00:00:00Z.
public typealias Timestamp = Int64

/// One operation as it stands in a document's log.
public struct LogEntry: Sendable, Equatable {
  /// The revision that this entry brings the document to; the first entry's is 1.
  public var revision: Int
  /// Who sent it: the client's id, minted by the server.
  public var client: String
  /// The client's own number for it, counting up from 1 for each client and document; 0 if the client
  /// numbers nothing and never sends a change again, which leaves no mark then.
  public var sequence: Int
  /// What the client sent, condensed, so that a second use of a sequence is told from a re-send.
  public var digest: UInt64
  /// The operation after rebasing, applying to revision - 1.
  public var operation: TextOperation
  /// The author's name as shown to people.
  public var author: String
  /// When the server accepted it.
  public var time: Timestamp

  /// Makes an entry.
  public init(
    revision: Int, client: String, sequence: Int, digest: UInt64, operation: TextOperation,
    author: String, time: Timestamp
  ) {
    self.revision = revision
    self.client = client
    self.sequence = sequence
    self.digest = digest
    self.operation = operation
    self.author = author
    self.time = time
  }
}

/// What a list of notes shows of one.
public struct NoteSummary: Sendable, Equatable {
  /// The document's name.
  public var id: DocumentID
  /// The title shown to people.
  public var title: String
  /// The durable revision.
  public var revision: Int
  /// When it was made.
  public var createdAt: Timestamp
  /// When text or title last changed.
  public var updatedAt: Timestamp

  /// Makes a summary.
  public init(
    id: DocumentID, title: String, revision: Int, createdAt: Timestamp, updatedAt: Timestamp
  ) {
    self.id = id
    self.title = title
    self.revision = revision
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }
}

/// A note's place among all notes, which stand in the order in which they were made, the newest first.
/// It stays whatever becomes of the note.
public struct NotePlace: Sendable, Hashable {
  /// When the note was made.
  public var createdAt: Timestamp
  /// Its name: of two made at one time, the one stands first whose name is greater, byte by byte.
  public var id: DocumentID

  /// Names a place.
  public init(createdAt: Timestamp, id: DocumentID) {
    self.createdAt = createdAt
    self.id = id
  }

  /// The place of a note.
  public init(_ note: NoteSummary) { self.init(createdAt: note.createdAt, id: note.id) }

  /// Whether this place comes after another.
  public func isAfter(_ other: Self) -> Bool {
    createdAt == other.createdAt
      ? id.utf8.lexicographicallyPrecedes(other.id.utf8) : createdAt < other.createdAt
  }
}

/// The last operation of one client that a document's log holds.
public struct ClientMark: Sendable, Equatable {
  /// The client's number for it.
  public var sequence: Int
  /// The revision it became.
  public var revision: Int
  /// The digest of what was sent.
  public var digest: UInt64

  /// Makes a mark.
  public init(sequence: Int, revision: Int, digest: UInt64) {
    self.sequence = sequence
    self.revision = revision
    self.digest = digest
  }
}

/// A document as it comes out of the store.
public struct StoredDocument: Sendable {
  /// Title, times and head revision.
  public var summary: NoteSummary
  /// A random string minted with the log; another one means another history.
  public var epoch: String
  /// The text at the head revision.
  public var text: String
  /// The newest entries, oldest first, ending at the head revision; at most as many as asked for.
  public var recent: [LogEntry]
  /// The last operation of each client that the log knows.
  public var marks: [String: ClientMark]

  /// Makes a stored document.
  public init(
    summary: NoteSummary, epoch: String, text: String, recent: [LogEntry],
    marks: [String: ClientMark]
  ) {
    self.summary = summary
    self.epoch = epoch
    self.text = text
    self.recent = recent
    self.marks = marks
  }
}

/// Work for the store. What one batch holds is committed together, then synced once.
public enum StoreRequest: Sendable {
  /// Makes a note with an empty log. Fails with `exists` if the name is taken.
  case create(id: DocumentID, epoch: String, title: String, time: Timestamp)
  /// Changes a note's title.
  case rename(id: DocumentID, title: String, time: Timestamp)
  /// Removes a note with its log.
  case delete(id: DocumentID)
  /// Says what is known of one note beside its text.
  case note(id: DocumentID)
  /// Lists all notes, the newest change first.
  case list
  /// Lists at most `limit` notes in the order of ``NotePlace``, those after a place or the first.
  case notes(after: NotePlace?, limit: Int)
  /// Loads a document and the newest `recentMax` entries of its log.
  case load(id: DocumentID, recentMax: Int)
  /// Loads entries `after < revision <= through`, oldest first.
  case entries(id: DocumentID, after: Int, through: Int)
  /// Appends entries, whose first revision is the head's + 1. All or none.
  case append(id: DocumentID, epoch: String, entries: [LogEntry])
  /// Offers the text at a revision, so that loading need not replay the log from its start. A store
  /// that takes snapshots by itself need not keep it.
  case snapshot(id: DocumentID, epoch: String, revision: Int, text: String)
  /// Loads the text at a moment of the past. Fails with `compacted` where it is no longer known.
  case text(id: DocumentID, at: HistoryPoint)
  /// Condenses the entries after a revision into at most `limit` groups: one author's, with no pause
  /// longer than `pause` milliseconds between them, at most ``HistoryGroup/entriesMax``.
  case history(id: DocumentID, after: Int, limit: Int, pause: Timestamp)
  /// Lists the named versions, the newest revision first.
  case versions(id: DocumentID)
  /// Names a revision. Its text stays known when the log around it is compacted away.
  case saveVersion(id: DocumentID, epoch: String, version: NamedVersion)
  /// Takes a revision's name away, if it has one.
  case deleteVersion(id: DocumentID, revision: Int)
  /// Goes on under another epoch, because a part of the history was lost that somebody knows of.
  case renewEpoch(id: DocumentID, from: String, to: String)
  /// Forgets the entries up to a revision. The text at it, the marks of all clients, and the texts
  /// of named versions stay.
  case compact(id: DocumentID, through: Int)
  /// Works with a room.
  case room(RoomRequest)
  /// Works with what people do in rooms.
  case people(PeopleRequest)
  /// Does work once, however often it is asked for.
  case once(OnceRequest)
  /// Keeps what is to be told outside of what is not in the store. A store without an outbox need
  /// not.
  case tell([OutboxDraft])

  /// Whether the store changes by it: such requests stand or fall with their batch's commit.
  public var isWriting: Bool {
    switch self {
    case .create, .rename, .delete, .append, .snapshot, .saveVersion, .deleteVersion,
      .renewEpoch, .compact, .tell:
      true
    case .note, .list, .notes, .load, .entries, .text, .history, .versions: false
    case .room(let request): request.isWriting
    case .people(let request): request.isWriting
    case .once(let request): request.isWriting
    }
  }

  /// Whether it may be answered beside the work with commits, on a connection of its own.
  ///
  /// Such a reply shows at least every commit that was over when the request was made. Replies that
  /// have to come in one order with those of commits are not among them: a document that is loaded
  /// goes on from its head, and a subscriber of a room from the newest publication.
  public var isAside: Bool {
    switch self {
    case .note, .list, .notes, .entries, .text, .history, .versions: true
    case .create, .rename, .delete, .load, .append, .snapshot, .saveVersion, .deleteVersion,
      .renewEpoch, .compact, .room, .people, .once, .tell:
      false
    }
  }
}

/// What became of one request.
public enum StoreReply: Sendable {
  /// Done, with nothing to say.
  case done
  /// The note as it now stands.
  case note(NoteSummary)
  /// All notes.
  case notes([NoteSummary])
  /// A document.
  case document(StoredDocument)
  /// Entries of a log.
  case entries([LogEntry])
  /// A text of the past.
  case text(HistoricText)
  /// A part of a log in groups.
  case history(HistoryPage)
  /// Named versions.
  case versions([NamedVersion])
  /// What became of work with a room.
  case room(RoomReply)
  /// What became of work with what people do in rooms.
  case people(PeopleReply)
  /// What became of work that is done once.
  case once(OnceReply)
  /// Not done.
  case failed(StoreError)
}

/// Why the store did not do as asked.
public enum StoreError: Error, Sendable, Equatable {
  /// No document has this name.
  case unknownDocument
  /// The name is taken.
  case exists
  /// The entry does not follow the head: another revision, another epoch, or an operation that
  /// starts from another length.
  case notNext(headRevision: Int)
  /// The entries or the text asked for have been compacted away; the oldest that is left is named.
  case compacted(oldestRevision: Int)
  /// The disk is full, or could not be written or synced. Trying again later may succeed.
  case unavailable(String)
  /// What was read is not what was once written.
  case damaged(String)

  /// Whether the same request may succeed later.
  public var isRetryable: Bool {
    switch self {
    case .unavailable: true
    case .unknownDocument, .exists, .notNext, .compacted, .damaged: false
    }
  }
}

/// A store of documents: one owner, one thread, batch by batch.
///
/// `perform` returns after the batch is durable: everything it wrote has been synced to disk. If
/// the commit fails, every writing request of the batch is answered `failed(.unavailable)` and
/// none of them has happened. A request that fails on its own (`unknownDocument`, `notNext`, …)
/// leaves the rest of its batch alone.
public protocol DocumentStore: AnyObject {
  /// Does a batch of work and returns a reply for each request, in order.
  func perform(_ batch: [StoreRequest]) -> [StoreReply]

  /// Does a piece of housekeeping that nobody waits for: snapshots, checkpoints, the rest of what
  /// was deleted. To be called when no batch is waiting.
  ///
  /// - Returns: Whether there is more to do.
  func maintain() -> Bool
}

extension DocumentStore {
  /// Does nothing.
  public func maintain() -> Bool { false }
}
