/// Opens the store that a server works with.
///
/// A server has the store open once for its commits, and once for reading beside them; each of the
/// two belongs to a thread of its own, to which it is sent.
public protocol StoreProvisioning: Sendable {
  /// Whether there is a store yet, without opening it.
  ///
  /// - Throws: What prevents a store there.
  func exists() throws -> Bool

  /// Opens the store to work with it, making it if there is none.
  ///
  /// - Throws: The reason, and what to do.
  func open() throws -> sending any ServerStore

  /// Opens a store that another thread or process may have open, to read from it; as a
  /// ``ServerStore``, it does chores too.
  ///
  /// - Throws: The reason, and what to do.
  func openForReading() throws -> sending any DocumentStore

  /// Opens the index of words that belongs to the store, making it if there is none that fits.
  ///
  /// - Throws: The reason, and what to do.
  func openIndex() throws -> any SearchIndex
}

/// A server's store: documents, an outbox, and what a server needs beside requests.
///
/// One connection belongs to one thread at a time.
public protocol ServerStore: Outbox {
  /// Returns a secret that is made on first use, and kept from then on.
  ///
  /// - Parameters:
  ///   - name: Its purpose.
  ///   - byteCount: Random bytes of a new one.
  func secret(named name: String, byteCount: Int) throws(StoreError) -> [UInt8]

  /// Removes the records of rooms that hold nothing and in which nothing was published for long; before the
  /// first client connects, for their positions begin again.
  ///
  /// - Returns: How many were removed.
  @discardableResult
  func removeEmptyRooms(idleSince time: Timestamp) throws(StoreError) -> Int

  /// The store's promise, and its counters since it was opened.
  var state: StoreState { get }

  /// Checks the store while it is idle, about once a second; ``state`` has the result.
  func look()

  /// A remark about the store as it was found when it was opened, for the log; `nil` for none.
  var openingRemark: StoreRemark? { get }

  /// Returns a call, for any thread, that ends all waiting for an unreachable database: requests then fail
  /// at once. Nothing that was acknowledged depends on it.
  func interruption() -> @Sendable () -> Void

  /// Ends work with the store, so that it may be copied as it is.
  ///
  /// - Returns: What prevents that, for the log; `nil` for nothing.
  func settle() -> StoreRemark?

  /// Keeps revocations for the other nodes of this store, and returns those since a place.
  ///
  /// - Parameters:
  ///   - revocations: New revocations of this node.
  ///   - place: The place of the last call's result; 0 at first.
  /// - Returns: `nil` where there are no other nodes.
  func exchange(_ revocations: [Revocation], after place: Int) throws(StoreError) -> RevocationPage?

  // MARK: Chores

  /// Whether chores are done on another connection; if not, `maintain` does them.
  var hasHelper: Bool { get set }

  /// Takes the work that is to be done beside the commits.
  func takeChores() -> [StoreChore]

  /// Does a chore on a connection for reading; `nil` if nothing is left to do.
  ///
  /// - Throws: Why the log could not be read. The chore is to be postponed.
  func work(on chore: StoreChore) throws(StoreError) -> StoreChore.Result?

  /// Keeps the result of a chore.
  ///
  /// - Throws: The disk's error. Nothing is lost: the chore is to be postponed.
  func keep(_ result: StoreChore.Result) throws(StoreError)

  /// Sets a chore aside that has failed, until ``retryChores()``.
  func postpone(_ chore: StoreChore)

  /// Whether chores have failed since the last ``retryChores()``, in `maintain` or beside the commits.
  var hasFailedChores: Bool { get }

  /// Makes the chores due that have failed.
  func retryChores()
}

extension ServerStore {
  /// Returns `nil`: the database's server reports its own state.
  public var openingRemark: StoreRemark? { nil }

  /// Does nothing: requests notice an unreachable database.
  public func look() {}

  /// Returns a call that does nothing: a file is always reachable.
  public func interruption() -> @Sendable () -> Void { {} }

  /// Returns `nil`: a store has one node by default.
  public func exchange(
    _ revocations: [Revocation], after place: Int
  ) throws(StoreError) -> RevocationPage? { nil }
}

/// Revocations that the nodes of one store share.
public struct RevocationPage: Sendable {
  /// Revocations since the place that was asked for, this node's own among them.
  public var revocations: [Revocation]
  /// The place behind the last of them.
  public var place: Int
  /// Whether there are more.
  public var hasMore: Bool
  /// The newest place of the list. A place before the requested one says that the list has lost its end.
  public var newest: Int
  /// The life of the database: another one once a standby has taken its place, or an older backup.
  public var life: Int
  /// Whether this node's own were added; if not, they are to be sent again.
  public var isShared: Bool

  /// Makes a page.
  public init(
    revocations: [Revocation], place: Int, hasMore: Bool, newest: Int, life: Int,
    isShared: Bool = true
  ) {
    self.revocations = revocations
    self.place = place
    self.hasMore = hasMore
    self.newest = newest
    self.life = life
    self.isShared = isShared
  }
}

/// The promise of a store, and its counters.
public struct StoreState: Sendable, Equatable {
  /// The number of machines that have a commit on their disks before it is acknowledged, according to the
  /// store's settings: 1, or 2 for two and more.
  public var machines: Int
  /// The number of times at which a lost connection was restored.
  public var reconnections: Int
  /// Why nothing is written although no commit has failed, and what to do, for operators; `nil` if all is well.
  public var problem: String?

  /// Makes a state.
  public init(machines: Int = 1, reconnections: Int = 0, problem: String? = nil) {
    self.machines = machines
    self.reconnections = reconnections
    self.problem = problem
  }

  /// The promise in words.
  public var promise: String { "durable on \(machines > 1 ? "two machines" : "one machine")" }
}

/// Work on one document beside the commits, such as folding a long log into a text.
///
///     committing   batch … takeChores        batch … keep
///     reading                  └▶ work(on:) ────────┘
public struct StoreChore: Sendable {
  /// The outcome of a chore.
  public struct Result: Sendable {
    /// The store's own words for it.
    public let content: any Sendable

    /// Wraps a store's own value.
    public init(_ content: any Sendable) { self.content = content }
  }

  /// The document.
  public let id: DocumentID
  /// The store's own words for it.
  public let content: any Sendable

  /// Wraps a store's own value.
  public init(_ id: DocumentID, _ content: any Sendable) {
    self.id = id
    self.content = content
  }
}

/// A remark about a store for its operator.
public struct StoreRemark: Sendable {
  /// The fact.
  public var message: String
  /// Why.
  public var reason: String
  /// The remedy.
  public var hint: String

  /// Makes a remark.
  public init(message: String, reason: String, hint: String) {
    self.message = message
    self.reason = reason
    self.hint = hint
  }
}
