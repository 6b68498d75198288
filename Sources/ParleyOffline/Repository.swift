package import ParleyJSON
public import ParleyClient
package import ParleyModel

/// A collection of things, as streams: what is kept at once, then what the server has, again at each
/// update of its room, and always with the changes that wait for the server laid over it.
///
///     let contacts = Repository<Contact>(RESTSource(service, "contacts"), "contacts", in: outbox)
///     for try await list in contacts.fetchAll() { show(list) }
///     try await contacts.save(draft)  // It is on the device's disk, and shown.
public actor Repository<Model: OfflineModel> {
  package final class Subscriber {
    package var query: DataQuery
    package let policy: FetchPolicy
    package let filter: (@Sendable (Model) -> Bool)?
    package weak var feed: Feed<Result<[Model], FetchError>>?
    /// The value shown last.
    package var shown: JSONValue?
    /// Whether values of the server's have come, where no others may be shown.
    package var isReady: Bool

    package init(
      _ query: DataQuery, _ policy: FetchPolicy, _ filter: (@Sendable (Model) -> Bool)?,
      _ feed: Feed<Result<[Model], FetchError>>
    ) {
      self.query = query
      self.policy = policy
      self.filter = filter
      self.feed = feed
      isReady = policy != .networkOnly
    }
  }

  package struct Fetching {
    package let number: Int
    /// The number of updates before it was asked.
    package let updates: Int
    package var again = false
  }

  /// A version of a thing; none before it was made.
  package struct VersionName: Hashable {
    package let id: ResourceID
    package let version: ExactName?

    package init(_ id: ResourceID, _ version: String?) {
      self.id = id
      self.version = version.map { ExactName($0) }
    }
  }

  /// A follower of ``fetchProblems``.
  package struct WeakFeed { package weak var feed: Feed<FetchError?>? }

  /// The outbox by which changes are sent.
  public nonisolated let outbox: Outbox

  package let interface: any DataInterface<Model>
  package let time: any ClientTime
  package let sendsWhole: Bool
  package var subscribers: [Subscriber] = []
  /// The server's values, as far as they are known, without what waits.
  package var values: [DataQuery: [Model]] = [:]
  package var fetching: [DataQuery: Fetching] = [:]
  package var failed: Set<DataQuery> = []
  package var fetchProblem: FetchError?
  package var problemFeeds: [WeakFeed] = []
  /// Failures to fetch since something was fetched, for the pause before the next attempt.
  package var failures = 0
  package var retry: Task<Void, Never>?
  /// The number of updates received from the room.
  package var updateCount = 0
  /// For questions that were answered: the number of updates at that time.
  package var fetched: [DataQuery: Int] = [:]
  /// Changes that the server has made while something was being fetched.
  package var recent: [(number: Int, done: Outbox.DoneMutation)] = []
  package var doneCount = 0
  /// The versions that changes of this device have made, by those that they were made on.
  package var ownVersions: [VersionName: String] = [:]
  /// The fields of former versions, for copies of things that an app saves late.
  package var formerFields: [VersionName: JSONValue] = [:]
  /// The outbox's sign that there is something to look at.
  package let signal: Feed<Void>
  package var user: ExactName?
  package var isGathering = false
  private let tasks = TaskBag()

  /// Milliseconds for which updates are gathered before they become one fetch.
  package static var gatherMilliseconds: Int64 { 50 }

  /// The queue of the store.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { outbox.unownedExecutor }

  /// Makes a repository of a source whose values are kept in the outbox's store.
  ///
  /// - Parameters:
  ///   - source: The source.
  ///   - resource: The collection, as changes name it.
  /// - updates: News of the room in which the server reports changes. Those that this device has
  ///   caused itself are ignored.
  ///   - sendsWhole: Whether updates are sent with all fields, for servers that replace things.
  public init(
    _ source: some DataSource<Model>, _ resource: String, in outbox: Outbox,
    invalidatedBy updates: Updates<RoomUpdate>? = nil, sendsWhole: Bool = false,
    time: any ClientTime = SystemTime()
  ) {
    self.init(
      CachedInterface(resource, source, in: outbox.store), in: outbox, invalidatedBy: updates,
      sendsWhole: sendsWhole, time: time)
  }

  /// Makes a repository of an interface of yours.
  public init(
    _ interface: some DataInterface<Model>, in outbox: Outbox,
    invalidatedBy updates: Updates<RoomUpdate>? = nil, sendsWhole: Bool = false,
    time: any ClientTime = SystemTime()
  ) {
    self.outbox = outbox
    self.interface = interface
    self.sendsWhole = sendsWhole
    self.time = time
    let own = outbox.senderID
    let signal = Feed<Void>(bound: 1)
    self.signal = signal
    let reachable = Feed<Void>(bound: 1)
    var tasks = [
      Task { [weak self] in
        while await signal.next() != nil { await self?.look() }
        await outbox.stopObserving(signal)
      },
      Task { [weak self] in
        await outbox.tellReachable(reachable)
        while await reachable.next() != nil { await self?.networkChanged() }
      },
    ]
    if let updates {
      tasks.append(
        Task { [weak self] in
          for await update in updates {
            if case .publication(let publication) = update, publication.senderID == own {
              continue
            }
            await self?.invalidate()
          }
        })
      if let started = updates.started {
        tasks.append(
          Task { [weak self] in
            while await started.next() != nil { await self?.roomStarted() }
          })
      }
    }
    self.tasks.add(tasks)
  }

  deinit { retry?.cancel() }

  // MARK: Reading

  /// Everything, now and whenever it changes. Only the newest list waits for the loop.
  public nonisolated func fetchAll(
    _ policy: FetchPolicy = .cacheThenNetwork
  ) -> FetchedValues<Model, [Model]> {
    sequence(.all, policy, nil) { $0 }
  }

  /// The things that fit parameters, now and whenever they change.
  ///
  /// - Parameters:
  ///   - parameters: The source's parameters, `["status": "open"]`.
  ///   - filter: Whether a thing belongs to them, for those that were changed on the device. Without it
  ///     new things are shown once the server has them.
  public nonisolated func fetchSubset(
    _ parameters: [String: String], _ policy: FetchPolicy = .cacheThenNetwork,
    where filter: (@Sendable (Model) -> Bool)? = nil
  ) -> FetchedValues<Model, [Model]> {
    sequence(.subset(parameters), policy, filter) { $0 }
  }

  /// Follows one thing, now and whenever it changes; `nil` while there is none.
  public nonisolated func fetchSingle(
    _ id: ResourceID, _ policy: FetchPolicy = .cacheThenNetwork
  ) -> FetchedValues<Model, Model?> {
    sequence(.single(id), policy, nil) { $0.first }
  }

  private nonisolated func sequence<Value>(
    _ query: DataQuery, _ policy: FetchPolicy, _ filter: (@Sendable (Model) -> Bool)?,
    _ value: @escaping @Sendable ([Model]) -> Value
  ) -> FetchedValues<Model, Value> {
    let feed = Feed<Result<[Model], FetchError>>(bound: 1)
    Task { await subscribe(query, policy, filter, feed) }
    return FetchedValues(feed: feed, owner: self, value: value)
  }

  /// The reason why the shown values could not be fetched again, now and whenever it changes; `nil`
  /// once they were.
  /// Only the newest waits for the loop.
  ///
  /// An unreachable server is retried automatically, after one second at first and a minute at
  /// last. After `refused` and `unreadable` only the next update or ``refresh()`` retries.
  public var fetchProblems: OutboxSequence<FetchError?> {
    let feed = Feed<FetchError?>(bound: 1)
    feed.put(fetchProblem) { Array($0.suffix(1)) }
    problemFeeds.append(WeakFeed(feed: feed))
    return OutboxSequence(feed: feed, owner: self)
  }

  /// Fetches all shown values again.
  public func refresh() {
    for query in followed { fetch(query) }
  }

  /// The questions that subscribers follow, and whose answers are the server's.
  package var followed: Set<DataQuery> {
    Set(subscribers.filter { $0.feed != nil && $0.policy != .cacheOnly }.map(\.query))
  }

  // MARK: Changing

  /// Saves a thing: a new one if its id is temporary and nothing is known of it, otherwise the fields that
  /// have changed. It is on the device's disk when this returns.
  ///
  /// The fields are compared with those of the thing's own version, which the server receives with
  /// them: if another user has changed the thing since, the change becomes a conflict, and does not
  /// overwrite theirs.
  ///
  /// - Returns: The steps of the change, the first of them `queued`.
  /// - Throws: ``OutboxError``; nothing was saved then.
  @discardableResult
  public func save(_ model: Model, lane: String = "") async throws(OutboxError) -> MutationSteps {
    let json = ModelForm.json(model)
    guard json.fields != nil else { throw .notJSON }
    if await outbox.isNew(model.id) {
      return try await outbox.add(
        MutationDraft(
          .create, interface.resource, model.id, body: Self.fields(of: model).utf8, lane: lane))
    }
    let id = await outbox.canonical(model.id)
    let shown = await shown(id)
    let known = await server(id)
    let base = base(of: model, id, newest: known?.version)
    var body = Self.fields(of: model)
    if !sendsWhole, let former = former(model, id, base: base, newest: known?.version, shown) {
      body = Merging.difference(from: former, to: body)
    }
    return try await outbox.add(
      MutationDraft(
        .update, interface.resource, id, body: body.utf8, base: base, lane: lane))
  }

  /// Changes a thing as it is shown, and saves it.
  ///
  /// - Returns: The steps of the change; `nil` if there is no such thing.
  @discardableResult
  public func change(
    _ id: ResourceID, lane: String = "", _ change: @Sendable (inout Model) -> Void
  ) async throws(OutboxError) -> MutationSteps? {
    guard var model = await shown(await outbox.canonical(id)) else { return nil }
    change(&model)
    return try await save(model, lane: lane)
  }

  /// Deletes a thing.
  @discardableResult
  public func delete(_ id: ResourceID, lane: String = "") async throws(OutboxError) -> MutationSteps
  {
    let id = await outbox.canonical(id)
    let known = await server(id)
    return try await outbox.add(
      MutationDraft(.delete, interface.resource, id, base: known?.version, lane: lane))
  }

  /// Does something to a thing, such as adding a comment. Such changes are never merged.
  @discardableResult
  public func perform(
    _ action: String, on id: ResourceID, _ body: some Encodable, lane: String = ""
  ) async throws(OutboxError) -> MutationSteps {
    guard let json = ModelForm.json(of: body) else { throw .notJSON }
    return try await outbox.add(
      MutationDraft(.action(action), interface.resource, id, body: json, lane: lane))
  }
}
