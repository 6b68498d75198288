/// Opens a server's store and search index.
///
/// A server opens the store twice: for commits, and for parallel reading. Each has its own thread.
public protocol StoreProvisioning: Sendable {
  /// Returns whether the store exists, without opening it.
  ///
  /// - Throws: The reason why no store can be there.
  func exists() throws -> Bool

  /// Opens the store for commits. A missing store is created.
  ///
  /// - Throws: An error that names the reason and the remedy.
  func open() throws -> sending any ServerStore

  /// Opens a store for reading, while another thread or process may have it open. A ``ServerStore``
  /// also performs chores on this handle.
  ///
  /// - Throws: An error that names the reason and the remedy.
  func openForReading() throws -> sending any DocumentStore

  /// Opens the store's search index. A missing or unsuitable index is replaced by an empty one.
  ///
  /// - Throws: An error that names the reason and the remedy.
  func openIndex() throws -> any SearchIndex
}

/// A server's store: documents, an outbox, and functions that are not requests.
///
/// A handle is used by one thread at a time.
public protocol ServerStore: Outbox {
  /// Returns a stored secret. The first call creates it.
  ///
  /// - Parameters:
  ///   - name: The purpose of the secret.
  ///   - byteCount: The number of random bytes of a new secret.
  func secret(named name: String, byteCount: Int) throws(StoreError) -> [UInt8]

  /// Removes the records of rooms that contain nothing and have had no publication since a time.
  /// Call it before the first client connects, because the positions of these rooms restart.
  ///
  /// - Returns: The number of removed rooms.
  @discardableResult
  func removeEmptyRooms(idleSince time: Timestamp) throws(StoreError) -> Int

  /// The store's durability, and its counters since it was opened.
  var state: StoreState { get }

  /// Checks the store while it is idle, about once a second. ``state`` contains the result.
  func look()

  /// A remark for the log about the state in which the store was opened; `nil` for none.
  var openingRemark: CloseWarning? { get }

  /// Returns a function, callable from any thread, that stops all waiting for an unreachable
  /// database: requests then fail at once. No acknowledged change is lost.
  func interruption() -> @Sendable () -> Void

  /// Finishes work with the store, so that its files may be copied.
  ///
  /// - Returns: The obstacle, for the log; `nil` on success.
  func settle() -> CloseWarning?

  /// Stores revocations for the store's other nodes, and returns the revocations after a number.
  ///
  /// - Parameters:
  ///   - revocations: New revocations of this node.
  ///   - place: The `place` of the last result; 0 at first.
  /// - Returns: `nil` for a store without other nodes.
  func exchange(_ revocations: [Revocation], after place: Int) throws(StoreError) -> RevocationPage?

  // MARK: Chores

  /// Whether chores are performed on another connection. If not, `maintain` performs them.
  var runsChoresElsewhere: Bool { get set }

  /// Removes and returns the chores to be performed in parallel to commits.
  func takeChores() -> [StoreChore]

  /// Performs a chore on a handle for reading; `nil` if nothing remains to be done.
  ///
  /// - Throws: The reason why the log cannot be read. The caller has to postpone the chore.
  func work(on chore: StoreChore) throws(StoreError) -> StoreChore.Result?

  /// Stores the result of a chore.
  ///
  /// - Throws: The disk's error. Nothing is lost; the caller has to postpone the chore.
  func keep(_ result: StoreChore.Result) throws(StoreError)

  /// Postpones a failed chore until ``retryChores()``.
  func postpone(_ chore: StoreChore)

  /// Whether chores have failed since the last ``retryChores()``, on whichever connection.
  var hasFailedChores: Bool { get }

  /// Makes the failed chores due again.
  func retryChores()
}

extension ServerStore {
  /// Returns `nil`: the database's server reports its state itself.
  public var openingRemark: CloseWarning? { nil }

  /// Does nothing: requests detect an unreachable database.
  public func look() {}

  /// Returns a function that does nothing: a file is always reachable.
  public func interruption() -> @Sendable () -> Void { {} }

  /// Returns `nil`: by default, a store has one node.
  public func exchange(
    _ revocations: [Revocation], after place: Int
  ) throws(StoreError) -> RevocationPage? { nil }
}

/// A page of the revocations that the nodes of a store share.
public struct RevocationPage: Sendable {
  /// Revocations after the requested number, including this node's own.
  public var revocations: [Revocation]
  /// The number of the last of them.
  public var place: Int
  /// Whether more revocations follow.
  public var hasMore: Bool
  /// The number of the newest stored revocation. If it is smaller than the requested number, the
  /// store has lost revocations.
  public var newest: Int
  /// The life of the database. A promoted standby or a restored backup begins a new life.
  public var life: Int
  /// Whether the node's revocations were stored. If not, the node has to send them again.
  public var isShared: Bool

  /// Creates a page, by default after storing the node's revocations.
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

/// The durability of a store, and its counters.
public struct StoreState: Sendable, Equatable {
  /// The number of machines whose disks contain a commit before it is acknowledged, according to
  /// the store's settings: 1, or 2 for more than one.
  public var machines: Int
  /// The number of restored connections.
  public var reconnections: Int
  /// A message for operators if nothing is written although no commit has failed; otherwise `nil`.
  public var problem: String?

  /// Creates a state, by default of a healthy store on one machine.
  public init(machines: Int = 1, reconnections: Int = 0, problem: String? = nil) {
    self.machines = machines
    self.reconnections = reconnections
    self.problem = problem
  }

  /// The durability in words.
  public var promise: String { "durable on \(machines > 1 ? "two machines" : "one machine")" }
}

/// Work on one document in parallel to commits, such as folding a long log into a text.
///
///     committing   batch … takeChores        batch … keep
///     reading                  └▶ work(on:) ────────┘
public struct StoreChore: Sendable {
  /// The outcome of a chore.
  public struct Result: Sendable {
    /// A value whose type only the store knows.
    public let content: any Sendable

    /// Wraps a value of the store.
    public init(_ content: any Sendable) { self.content = content }
  }

  /// The document.
  public let id: DocumentID
  /// A value whose type only the store knows.
  public let content: any Sendable

  /// Wraps a value of the store.
  public init(_ id: DocumentID, _ content: any Sendable) {
    self.id = id
    self.content = content
  }
}

/// A remark about a store for its operator.
public struct CloseWarning: Sendable {
  /// The observed fact.
  public var message: String
  /// The reason.
  public var reason: String
  /// The remedy.
  public var hint: String

  /// Creates a remark with a reason and a remedy.
  public init(message: String, reason: String, hint: String) {
    self.message = message
    self.reason = reason
    self.hint = hint
  }
}
