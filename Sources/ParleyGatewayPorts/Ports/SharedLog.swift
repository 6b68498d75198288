/// A checksum over a document's log up to a revision: logs that agree on it there are one log up to it.
///
/// Only the store computes it; others compare it. After a failover two logs may have the same epoch and
/// the same number of entries, and not the same entries.
public struct LogChain: Sendable, Hashable {
  /// The first half.
  public var high: UInt64
  /// The second half.
  public var low: UInt64
  /// The life of the database that it was read from: another one once a standby has taken its place,
  /// which may lack the newest commits, and the sessions that began with them.
  ///
  /// A chain of an earlier life is not trusted, even if the entries are the same: a node has to read its
  /// documents again and send them again.
  public var life: Int

  /// Makes a checksum.
  public init(high: UInt64, low: UInt64, life: Int = 0) {
    self.high = high
    self.low = low
    self.life = life
  }
}

/// The state of a shared log that an append requires, beside its epoch and revision.
public struct AppendCondition: Sendable, Equatable {
  /// The chain at the revision before the first entry.
  public var chain: LogChain
  /// The session in which each client among the entries sent its change; 0 for clients that are not named.
  ///
  /// A store refuses the whole append with `fenced` when a client's session is a newer one by now.
  public var sessions: [String: Int]

  /// Makes a condition.
  public init(chain: LogChain, sessions: [String: Int] = [:]) {
    self.chain = chain
    self.sessions = sessions
  }
}

/// The news of a shared log for a node that holds it up to a revision.
public enum LogNews: Sendable, Equatable {
  /// The same history continues with these entries, or with none.
  case entries(LogStretch)
  /// Another epoch, a head before that revision, or another chain at it: the node's copy is not of this
  /// log.
  case otherHistory
}

/// Entries of a shared log that follow a node's copy.
public struct LogStretch: Sendable, Equatable {
  /// The note's title.
  public var title: String
  /// The entries, oldest first: about ``StoreReply/lostRaceBytesMax`` bytes of operations at most.
  public var entries: [LogEntry]
  /// The chain at the last of the entries, or where the node is if there are none.
  public var chain: LogChain
  /// The head revision, beyond the last of the entries if there are more.
  public var headRevision: Int
  /// The newest session of each client that was asked for.
  public var sessions: [String: Int]
  /// The session of clients without a session in the store.
  ///
  /// A store may drop sessions of clients that have changed nothing, whose ids may be made up. The floor is at least
  /// as high as each of those: a change that was sent before a dropped session is still refused. Entries without a
  /// sequence are appended whatever the floor is: they are never sent again.
  public var sessionFloor: Int
  /// The folder that the note is in.
  public var folder: FolderPath

  /// Makes a stretch.
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

/// The end of a shared log.
public struct LogHead: Sendable, Equatable {
  /// The note's title.
  public var title: String
  /// The log's epoch.
  public var epoch: String
  /// The newest revision.
  public var revision: Int
  /// The chain at it.
  public var chain: LogChain
  /// The folder that the note is in.
  public var folder: FolderPath

  /// Makes a head.
  public init(
    title: String, epoch: String, revision: Int, chain: LogChain, folder: FolderPath = .none
  ) {
    self.title = title
    self.epoch = epoch
    self.revision = revision
    self.chain = chain
    self.folder = folder
  }
}
