import ParleyJSON
package import ParleyClient
import ParleyModel

/// Fetching, and showing fetched values.
extension Repository {
  package func subscribe(
    _ query: DataQuery, _ policy: FetchPolicy, _ filter: (@Sendable (Model) -> Bool)?,
    _ feed: Feed<Result<[Model], FetchError>>
  ) async {
    var query = query
    if case .single(let id) = query { query = .single(await outbox.canonical(id)) }
    let subscriber = Subscriber(query, policy, filter, feed)
    subscribers.removeAll { $0.feed == nil }
    let active = Set(subscribers.map(\.query))
    values = values.filter { active.contains($0.key) }
    subscribers.append(subscriber)
    if values[query] == nil { await recall(query) }
    await look()
    switch policy {
    case .cacheOnly: if subscriber.shown == nil { show(query, with: await pending(), always: true) }
    case .cacheFirst
    where values[query] != nil && (updateCount == 0 || fetched[query] == updateCount):
      break
    case .cacheFirst, .cacheThenNetwork, .networkOnly: fetch(query)
    }
  }

  /// Maximum queries recorded as fetched; when it is reached, all are forgotten and fetched again.
  private static var fetchedMax: Int { 1_000 }

  /// Loads the stored values of a query.
  private func recall(_ query: DataQuery) async {
    let owner = await outbox.owner
    guard let kept = try? await interface.kept(query, as: owner.text) else { return }
    // Another user may have signed in meanwhile, before or after this repository noticed it.
    guard await outbox.owner == owner, user == nil || user == owner, values[query] == nil else {
      return
    }
    values[query] = kept
  }

  /// Fetches the shown values again after an update. Updates that arrive shortly after each other
  /// cause one fetch.
  package func invalidate() {
    updateCount += 1
    guard !isGathering else { return }
    isGathering = true
    Task { [weak self, time] in
      await time.wait(until: time.now + Self.gatherMilliseconds)
      await self?.gathered()
    }
  }

  private func gathered() {
    isGathering = false
    refresh()
  }

  /// Repeats earlier fetches once the room is subscribed: an update before that was missed.
  package func roomStarted() {
    for query in Set(subscribers.map(\.query)) where fetching[query] != nil || fetched[query] != nil
    {
      fetch(query)
    }
  }

  /// Retries failed fetches immediately, because the network may be available again.
  package func networkChanged() {
    failures = 0
    fetchFailed()
  }

  /// Repeats the failed fetches of queries that are still followed.
  private func fetchFailed() {
    retry?.cancel()
    retry = nil
    let queries = failed.intersection(followed)
    failed = []
    for query in queries { fetch(query) }
  }

  private func tell(_ problem: FetchError?) {
    guard fetchProblem != problem else { return }
    fetchProblem = problem
    problemFeeds.removeAll { $0.feed == nil }
    for entry in problemFeeds { entry.feed?.put(problem) { Array($0.suffix(1)) } }
  }

  /// Schedules a retry of failed fetches, after a pause as long as those of the outbox.
  private func retryLater() {
    guard retry == nil else { return }
    let settings = outbox.settings
    let longest = min(settings.pauseMax, settings.pauseMin << Int64(min(failures, 20)))
    failures += 1
    let time = time
    let end = time.now + .random(in: max(1, longest / 2)...max(1, longest))
    retry = Task { [weak self] in
      await time.wait(until: end)
      if !Task.isCancelled { await self?.fetchFailed() }
    }
  }

  /// Fetches a query. If a fetch of it is running, another one follows.
  package func fetch(_ query: DataQuery) {
    guard fetching[query] == nil else {
      fetching[query]?.again = true
      return
    }
    fetching[query] = Fetching(number: doneCount, updates: updateCount)
    Task { await fetchNow(query) }
  }

  private func fetchNow(_ query: DataQuery) async {
    let user = await outbox.owner
    let result: Result<[Model], FetchError>
    do throws(FetchError) {
      result = .success(try await interface.fetch(query, as: user.text))
    } catch {
      result = .failure(error)
    }
    if case .success = result { await settleCreates() }
    let look = await look(showing: false)
    let fetch = fetching.removeValue(forKey: query)
    let again = fetch?.again ?? false
    defer {
      if fetching.isEmpty { recent = [] }
      if again { self.fetch(query) }
    }
    // Another user has signed in meanwhile.
    guard look.user == user else {
      self.fetch(query)
      return
    }
    switch result {
    case .success(let models):
      failed.remove(query)
      failures = 0
      if failed.isEmpty { tell(nil) }
      if fetched.count >= Self.fetchedMax { fetched = [:] }
      fetched[query] = fetch?.updates
      // The server may have answered before it made these changes.
      let later = recent.filter { $0.number > fetch?.number ?? 0 }
      let models = lay(later.map(\.done), over: models, in: query)
      recordFields(replacedBy: models)
      values[query] = models
      share(models, except: query)
      // With a full disk, the user still sees the values.
      try? await interface.keep(models, for: query, as: user.text)
      for subscriber in subscribers where subscriber.query == query { subscriber.isReady = true }
    case .failure(let error):
      failed.insert(query)
      tell(error)
      let isPermanent: Bool
      switch error {
      case .unreachable, .storage:
        isPermanent = false
        retryLater()
      // The next sign-in triggers the retry.
      case .signedOut: isPermanent = false
      case .refused, .unreadable: isPermanent = true
      }
      for subscriber in subscribers where subscriber.query == query && subscriber.shown == nil {
        guard !subscriber.isReady || isPermanent && values[query] == nil else { continue }
        subscriber.feed?.put(.failure(error)) { Array($0.suffix(1)) }
        subscriber.feed?.finish()
        subscriber.feed = nil
      }
    }
    let pending = await pending()
    show(query, with: pending, always: true)
    for other in Set(subscribers.map(\.query)) where other != query { show(other, with: pending) }
  }

  /// Waits for the answers to creates that the server may have made: their resources may be among
  /// the fetched ones, and would be shown twice. A sender that does not answer is not waited for.
  private func settleCreates() async {
    let resource = interface.resource
    guard await outbox.hasUnansweredCreates(of: resource) else { return }
    let settled = Feed<Void>(bound: 1)
    let tasks = [
      Task { [outbox] in
        await outbox.settleCreates(of: resource)
        settled.finish()
      },
      Task { [time] in
        await time.wait(until: time.now + Self.settleMilliseconds)
        settled.finish()
      },
    ]
    _ = await settled.next()
    for task in tasks { task.cancel() }
  }

  /// Copies resources fetched for one query into the values of the other queries.
  private func share(_ models: [Model], except query: DataQuery) {
    guard values.count > 1 else { return }
    let fresh = Dictionary(models.map { ($0.id, $0) }) { $1 }
    for (other, list) in values where other != query {
      values[other] = list.map { fresh[$0.id] ?? $0 }
    }
  }

  // MARK: Changes

  private func pending() async -> [Mutation] { await look(showing: false).pending }

  /// Reads the waiting changes and those that the server made, and shows the result.
  @discardableResult
  package func look(showing: Bool = true) async -> Outbox.Look {
    let look = await outbox.look(at: interface.resource, signal)
    if user != look.user || look.isOverrun {
      let isOther = user != nil && user != look.user
      user = look.user
      values = [:]
      fetched = [:]
      if isOther {
        ownVersions = [:]
        formerFields = [:]
      }
      for subscriber in subscribers where isOther { subscriber.shown = nil }
      for query in Set(subscribers.map(\.query)) {
        await recall(query)
        if isOther || look.isOverrun { fetch(query) }
      }
    }
    for done in look.done {
      doneCount += 1
      if done.isTheirs { recordFields(replacedBy: done) } else { recordVersion(of: done) }
      if !fetching.isEmpty { recent.append((doneCount, done)) }
      if done.draft.kind == .create { learn(done.id, for: done.draft.id) }
      for (query, list) in values { values[query] = lay([done], over: list, in: query) }
    }
    // The server is reachable again.
    if !look.done.isEmpty, !failed.isEmpty { fetchFailed() }
    if showing {
      for query in Set(subscribers.map(\.query)) { show(query, with: look.pending) }
    }
    return look
  }

  /// Moves subscribers of a temporary id to the server's id.
  private func learn(_ id: ResourceID, for temporary: ResourceID) {
    for subscriber in subscribers where subscriber.query == .single(temporary) {
      subscriber.query = .single(id)
      if values[.single(id)] == nil { values[.single(id)] = [] }
    }
  }

  /// Shows a value to the subscribers that have not received it yet.
  ///
  /// - Parameter always: Whether an empty value is shown even if no values are known.
  package func show(_ query: DataQuery, with pending: [Mutation], always: Bool = false) {
    let base = values[query]
    for subscriber in subscribers where subscriber.query == query {
      guard subscriber.isReady, let feed = subscriber.feed else { continue }
      let models = lay(pending, over: base ?? [], in: query, subscriber.filter)
      guard always || base != nil || !models.isEmpty else { continue }
      let json = JSONValue(models.map { ModelForm.json($0) })
      guard subscriber.shown != json else { continue }
      subscriber.shown = json
      feed.put(.success(models)) { Array($0.suffix(1)) }
    }
  }

  /// Returns the server's value of a resource, without waiting changes.
  package func server(_ id: ResourceID) async -> Model? {
    for list in values.values {
      if let model = list.first(where: { $0.id == id }) { return model }
    }
    return try? await interface.kept(.single(id), as: outbox.user)?.first
  }

  /// Returns a resource as it is shown, with waiting changes.
  package func shown(_ id: ResourceID) async -> Model? {
    // Read the waiting changes first: if the server makes one meanwhile, its value contains it.
    let pending = await pending()
    let base = await server(id).map { [$0] } ?? []
    return lay(pending, over: base, in: .single(id)).first
  }
}

/// Applying changes to the server's values.
extension Repository {
  private func lay(
    _ pending: [Mutation], over models: [Model], in query: DataQuery,
    _ filter: (@Sendable (Model) -> Bool)? = nil
  ) -> [Model] {
    pending.reduce(into: Overlay(models, query, filter)) { $0.lay($1.draft, id: $1.draft.id, nil) }
      .models
  }

  private func lay(
    _ done: [Outbox.DoneMutation], over models: [Model], in query: DataQuery
  ) -> [Model] {
    // Resources that were shown while their change was waiting remain shown until the next fetch.
    let filter = subscribers.first { $0.query == query && $0.filter != nil }?.filter
    return done.reduce(into: Overlay(models, query, filter)) {
      $0.lay($1.draft, id: $1.id, $1.body, isTheirs: $1.isTheirs)
    }.models
  }
}

/// A list to which changes are applied.
package struct Overlay<Model: OfflineModel> {
  private var slots: [Model?]
  private var places: [ResourceID: Int] = [:]
  private let query: DataQuery
  private let filter: (@Sendable (Model) -> Bool)?

  package init(_ models: [Model], _ query: DataQuery, _ filter: (@Sendable (Model) -> Bool)?) {
    slots = models
    self.query = query
    self.filter = filter
    for (index, model) in models.enumerated() { places[model.id] = index }
  }

  package var models: [Model] { slots.compactMap { $0 } }

  package mutating func lay(
    _ draft: MutationDraft, id: ResourceID, _ answer: [UInt8]?, isTheirs: Bool = false
  ) {
    let place = places[id]
    let former = place.flatMap { slots[$0] }.map { ModelForm.json($0) }
    let item =
      isTheirs
      ? answer.flatMap { JSONValue($0) }.map { CachedItem.value($0) }
      : CachedItem.after(draft, id: id, answer: answer, former: former)
    switch item {
    case nil: break
    case .removed:
      if let place { slots[place] = nil }
      places[id] = nil
    case .value(let json):
      // A resource that the model cannot decode is not shown until the server's value replaces it.
      guard let model: Model = try? ModelForm.model(json) else { break }
      if let place {
        slots[place] = filter?(model) ?? true ? model : nil
      } else if belongs(model, isNew: draft.kind == .create) {
        places[id] = slots.count
        slots.append(model)
      }
    }
  }

  private func belongs(_ model: Model, isNew: Bool) -> Bool {
    switch query {
    case .all: isNew
    case .single(let id): model.id == id
    case .subset: filter?(model) ?? false
    }
  }
}
