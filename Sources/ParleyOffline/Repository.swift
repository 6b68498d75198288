package import ParleyJSON
public import ParleyClient
package import ParleyModel

/// A collection of resources as streams of values: first the stored values, then the server's, and
/// again after each update of its room. Changes that wait for the server are always included.
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
    /// The last value sent to the feed.
    package var shown: JSONValue?
    /// Whether values may be shown; with `networkOnly`, after the first fetch.
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
    /// The number of updates received before the fetch started.
    package let updates: Int
    package var again = false
  }

  /// A version of a resource; `nil` before the resource was created.
  package struct VersionName: Hashable {
    package let id: ResourceID
    package let version: ExactName?

    package init(_ id: ResourceID, _ version: String?) {
      self.id = id
      self.version = version.map { ExactName($0) }
    }
  }

  /// A subscriber to ``fetchProblems``.
  package struct WeakFeed { package weak var feed: Feed<FetchError?>? }

  /// The outbox that sends the changes.
  public nonisolated let outbox: Outbox

  package let interface: any DataInterface<Model>
  package let time: any ClientTime
  package let sendsWhole: Bool
  package var subscribers: [Subscriber] = []
  /// The server's known values, without waiting changes.
  package var values: [DataQuery: [Model]] = [:]
  package var fetching: [DataQuery: Fetching] = [:]
  package var failed: Set<DataQuery> = []
  package var fetchProblem: FetchError?
  package var problemFeeds: [WeakFeed] = []
  /// Failed fetches since the last success; they determine the pause before the next attempt.
  package var failures = 0
  package var retry: Task<Void, Never>?
  /// The number of updates received from the room.
  package var updateCount = 0
  /// The number of updates received before the fetch, for each query that was fetched.
  package var fetched: [DataQuery: Int] = [:]
  /// Changes that the server made while a fetch was running.
  package var recent: [(number: Int, done: Outbox.DoneMutation)] = []
  package var doneCount = 0
  /// The versions created by changes of this device, by their base versions.
  package var ownVersions: [VersionName: String] = [:]
  /// The fields of earlier versions, for apps that save a copy of one.
  package var formerFields: [VersionName: JSONValue] = [:]
  /// The outbox's signal that changes are to be read.
  package let signal: Feed<Void>
  package var user: ExactName?
  package var isGathering = false
  private let tasks = TaskBag()

  /// The milliseconds for which updates are collected before one fetch.
  package static var gatherMilliseconds: Int64 { 50 }

  /// The maximum milliseconds for which fetched values wait for the answers to creates.
  package static var settleMilliseconds: Int64 { 10_000 }

  /// The queue of the store.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { outbox.unownedExecutor }

  /// Creates a repository that caches a source's values in the outbox's store.
  ///
  /// - Parameters:
  ///   - source: The source.
  ///   - resource: The collection's name in changes.
  ///   - updates: Updates of the room in which the server reports changes. Updates caused by this
  ///     device are ignored.
  ///   - sendsWhole: Whether updates send all fields, for servers that replace resources.
  public init(
    _ source: some DataSource<Model>, _ resource: String, in outbox: Outbox,
    invalidatedBy updates: Updates<RoomUpdate>? = nil, sendsWhole: Bool = false,
    time: any ClientTime = SystemTime()
  ) {
    self.init(
      CachedInterface(resource, source, in: outbox.store), in: outbox, invalidatedBy: updates,
      sendsWhole: sendsWhole, time: time)
  }

  /// Creates a repository that reads through a custom interface.
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

  /// Returns all resources, now and after each change. Only the newest list is buffered.
  public nonisolated func fetchAll(
    _ policy: FetchPolicy = .cacheThenNetwork
  ) -> FetchedValues<Model, [Model]> {
    sequence(.all, policy, nil) { $0 }
  }

  /// Returns the resources that match parameters, now and after each change.
  ///
  /// - Parameters:
  ///   - parameters: The source's parameters, `["status": "open"]`.
  ///   - filter: Whether a resource changed on the device matches the parameters. Without it, new
  ///     resources are shown once the server returns them.
  public nonisolated func fetchSubset(
    _ parameters: [String: String], _ policy: FetchPolicy = .cacheThenNetwork,
    where filter: (@Sendable (Model) -> Bool)? = nil
  ) -> FetchedValues<Model, [Model]> {
    sequence(.subset(parameters), policy, filter) { $0 }
  }

  /// Returns one resource, now and after each change; `nil` while it does not exist.
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

  /// The reason why the last fetch of shown values failed, now and after each change; `nil` after a
  /// success. Only the newest is buffered.
  ///
  /// An unreachable server is retried automatically, first after a second, later at most every
  /// minute. After `refused` and `unreadable`, only the next update or ``refresh()`` retries.
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

  /// The queries with subscribers that follow the server's values.
  package var followed: Set<DataQuery> {
    Set(subscribers.filter { $0.feed != nil && $0.policy != .cacheOnly }.map(\.query))
  }

  // MARK: Changing

  /// Saves a resource. A create is added if its id is temporary and unknown to the outbox,
  /// otherwise an update with the changed fields. It is on the device's disk when this returns.
  ///
  /// The fields are compared with those of the model's version, which is sent to the server: if
  /// another user has changed the resource since, the change becomes a conflict instead of
  /// overwriting theirs.
  ///
  /// - Returns: The steps of the change, the first of them `queued`.
  /// - Throws: ``OutboxError``; nothing was saved.
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

  /// Changes a resource as it is shown, and saves it.
  ///
  /// - Returns: The steps of the change; `nil` if the resource does not exist.
  @discardableResult
  public func change(
    _ id: ResourceID, lane: String = "", _ change: @Sendable (inout Model) -> Void
  ) async throws(OutboxError) -> MutationSteps? {
    guard var model = await shown(await outbox.canonical(id)) else { return nil }
    change(&model)
    return try await save(model, lane: lane)
  }

  /// Deletes a resource.
  @discardableResult
  public func delete(_ id: ResourceID, lane: String = "") async throws(OutboxError) -> MutationSteps
  {
    let id = await outbox.canonical(id)
    let known = await server(id)
    return try await outbox.add(
      MutationDraft(.delete, interface.resource, id, base: known?.version, lane: lane))
  }

  /// Performs an action on a resource, such as adding a comment. Actions are never merged.
  @discardableResult
  public func perform(
    _ action: String, on id: ResourceID, _ body: some Encodable, lane: String = ""
  ) async throws(OutboxError) -> MutationSteps {
    guard let json = ModelForm.json(of: body) else { throw .notJSON }
    return try await outbox.add(
      MutationDraft(.action(action), interface.resource, id, body: json, lane: lane))
  }
}
