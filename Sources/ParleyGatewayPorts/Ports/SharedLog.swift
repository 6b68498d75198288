/// A checksum of a document's log up to a revision. If two logs have the same chain at a revision,
/// they are equal up to it.
///
/// Only the store computes chains; nodes compare them. After a failover, two logs may have the same
/// epoch and number of entries, but different entries.
public struct LogChain: Sendable, Hashable {
  /// The first 64 bits.
  public var high: UInt64
  /// The second 64 bits.
  public var low: UInt64
  /// The life of the database that computed the chain. A promoted standby begins a new life, and
  /// may lack the newest commits and the sessions that started with them.
  ///
  /// So a chain of an earlier life is not trusted, even if the entries are equal: a node has to
  /// reload its documents and resend its changes.
  public var life: Int

  /// Creates a chain from its halves, by default in life 0.
  public init(high: UInt64, low: UInt64, life: Int = 0) {
    self.high = high
    self.low = low
    self.life = life
  }
}

/// The state that an append requires of a shared log, in addition to epoch and revision.
public struct AppendCondition: Sendable, Equatable {
  /// The chain at the revision before the first entry.
  public var chain: LogChain
  /// The session in which each client of the entries sent its change; 0 for unlisted clients.
  ///
  /// The store rejects the whole append with `fenced` if a client has started a newer session.
  public var sessions: [String: Int]

  /// Creates a condition, by default with all clients in session 0.
  public init(chain: LogChain, sessions: [String: Int] = [:]) {
    self.chain = chain
    self.sessions = sessions
  }
}

/// The changes of a shared log since a node's copy of it.
public enum LogChanges: Sendable, Equatable {
  /// The entries after the node's copy, or none.
  case entries(LogRange)
  /// The node's copy is of another history: epoch or chain differ, or the head is before its
  /// revision.
  case otherHistory
}

/// Entries of a shared log that follow a node's copy.
public struct LogRange: Sendable, Equatable {
  /// The note's title.
  public var title: String
  /// The entries, oldest first; about ``StoreReply/lostRaceBytesMax`` bytes of operations at most.
  public var entries: [LogEntry]
  /// The chain at the last of the entries, or at the node's revision without entries.
  public var chain: LogChain
  /// The head revision. It is greater than the last entry's revision if more entries follow.
  public var headRevision: Int
  /// The newest session of each requested client.
  public var sessions: [String: Int]
  /// The session of clients without a stored session.
  ///
  /// A store may drop the sessions of clients that have changed nothing, because anyone can invent
  /// client ids. The floor is at least as high as each dropped session, so a change of an earlier
  /// session is still rejected. Entries without a sequence are always appended: they are never
  /// resent.
  public var sessionFloor: Int
  /// The folder that the note is in.
  public var folder: FolderPath

  /// Creates a range, by default of a note in no folder and without sessions.
  public init(
    title: String, entries: [LogEntry], chain: LogChain, headRevision: Int,
    sessions: [String: Int] = [:], sessionFloor: Int = 0, folder: FolderPath = .none
  ) {
    self.title = title
    self.entries = entries
    self.chain = chain
    self.headRevision = headRevision
    self.sessions = sessions
    self.sessionFloor = sessionFloor
    self.folder = folder
  }
}

/// The newest state of a shared log.
public struct LogHead: Sendable, Equatable {
  /// The note's title.
  public var title: String
  /// The log's epoch.
  public var epoch: Epoch
  /// The newest revision.
  public var revision: Int
  /// The chain at the newest revision.
  public var chain: LogChain
  /// The folder that the note is in.
  public var folder: FolderPath

  /// Creates a head, by default of a note in no folder.
  public init(
    title: String, epoch: Epoch, revision: Int, chain: LogChain, folder: FolderPath = .none
  ) {
    self.title = title
    self.epoch = epoch
    self.revision = revision
    self.chain = chain
    self.folder = folder
  }
}
