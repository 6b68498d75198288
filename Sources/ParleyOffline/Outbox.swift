public import ParleyClient
import ParleyJSON
package import ParleyModel

/// A sender of changes to a server, such as a ``RESTService``.
public protocol MutationSender: Sendable {
  /// Sends a change under its key on behalf of its user, using only this user's token.
  func send(_ request: MutationRequest) async -> MutationAnswer

  /// Fetches a token to replace one that was rejected with 401.
  ///
  /// - Returns: Whether the user has a token; if not, nothing is sent until ``Outbox/signedIn()``.
  func renewToken(of user: String) async -> Bool

  /// Sets the device's id, for servers that report in their rooms which device caused a change.
  func use(senderID: String)
}

extension MutationSender {
  /// Returns `false`: there is no token to fetch.
  public func renewToken(of user: String) async -> Bool { false }

  /// Ignores the id.
  public func use(senderID: String) {}
}

/// The app's changes that wait for the server. They are stored on the device until the server has
/// made them, in order and each once.
///
///     let outbox = try Outbox(store, user: "ann", sender: service)
///     try await outbox.add(MutationDraft(.update, "contacts", 7, body: json))  // It is on the disk.
///
/// The app does not have to retry anything. Conflicts and refusals are listed in ``problems`` until
/// they are decided on.
public actor Outbox {
  /// The device's id in sent changes. By it the device recognises its own updates in rooms.
  public nonisolated let senderID: String
  /// The store that contains the changes.
  public nonisolated let store: OfflineStore

  private var machine: OutboxMachine
  private let sender: any MutationSender
  private let time: any ClientTime
  package nonisolated let settings: OutboxSettings
  private var seed: UInt64
  private var underWay: Set<String> = []
  /// Whether the machine's state may differ from the stored state, because a write failed.
  private var isStale = false
  private var timer: Task<Void, Never>?
  private var timerCount = 0
  private var progress: [String: [Watcher]] = [:]
  private var problemFeeds: [Weak<Feed<[Mutation]>>] = []
  private var countFeeds: [Weak<Feed<Int>>] = []
  private var observers: [ObjectIdentifier: Observer] = [:]
  private var reachableFeeds: [Weak<Feed<Void>>] = []
  /// Waiters for the answer to a change, by its key.
  private var answerFeeds: [String: [Feed<Void>]] = [:]
  private var lastProblems: [Mutation] = []
  private var lastCount = 0

  /// The store's queue: waiting for the disk blocks no other thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    store.executor.asUnownedSerialExecutor()
  }

  private struct Weak<Value: AnyObject> { weak var value: Value? }

  /// A subscriber to the steps of one change.
  package struct Watcher {
    weak var feed: Feed<MutationStep>?
    /// The last step. A change that another one is merged into reports its own steps to both.
    var last: MutationStep?
  }

  /// A repository of a collection. It is signalled when there are changes, and then reads them
  /// itself.
  private struct Observer {
    package let resource: String
    package let signal: Feed<Void>
    package var done: [DoneMutation] = []
    package var isOverrun = false
  }

  /// A change that the server made, or a resource that it reported with a conflict.
  package struct DoneMutation: Sendable {
    /// Whether `body` is the whole resource, which others have changed.
    package var isTheirs = false
    package let draft: MutationDraft
    package let id: ResourceID
    package let body: [UInt8]?
    /// The version that the change created, if the server reported it.
    package let version: String?
  }

  /// The changes of a collection at one moment.
  package struct Look: Sendable {
    package let user: ExactName
    package let pending: [Mutation]
    /// Changes that the server made since the last look.
    package let done: [DoneMutation]
    /// Whether `done` is incomplete: more than `doneMax` changes, or another user.
    package let isOverrun: Bool
  }

  /// The maximum changes recorded for a repository between two looks.
  private static let doneMax = 1_000

  /// Opens the outbox of a store, and continues with the changes that the store contains.
  ///
  /// - Parameters:
  ///   - store: The store. It has one outbox at a time.
  ///   - user: The user of the app. Only this user's changes are sent; those of other users wait.
  ///   - sender: Sends changes to the server.
  /// - Throws: If the store cannot be read; `inUse` if it already has an outbox.
  public init(
    _ store: OfflineStore, user: String, sender: any MutationSender,
    settings: OutboxSettings = OutboxSettings(), time: any ClientTime = SystemTime(),
    seed: UInt64 = .random(in: .min ... .max)
  ) throws(OfflineStoreError) {
    self.store = store
    self.sender = sender
    self.time = time
    self.settings = settings
    self.seed = seed
    let (senderID, kept) = try store.openOutbox()
    self.senderID = senderID
    machine = OutboxMachine(kept, user: user, settings: settings, seed: seed)
    sender.use(senderID: senderID)
    Task { await self.networkChanged() }
  }

  deinit {
    timer?.cancel()
    store.closeOutbox()
  }

  // MARK: Changes

  /// Adds a change. It is on disk when this returns, and sent as soon as the server is reachable.
  ///
  /// - Returns: Its steps, beginning with ``MutationStep/queued``.
  /// - Throws: ``OutboxError``; the change was not added.
  @discardableResult
  public func add(_ draft: MutationDraft) throws(OutboxError) -> MutationSteps {
    let key = RandomName.make()
    let feed = Feed<MutationStep>(bound: 16)
    progress[key] = [Watcher(feed: feed)]
    do throws(OutboxError) {
      try handle(.enqueue(draft, key: key))
    } catch {
      progress[key] = nil
      throw error
    }
    return MutationSteps(feed: feed, owner: self)
  }

  /// Decides on a conflict or a refusal.
  public func decide(
    _ problem: Mutation, _ decision: MutationDecision
  ) throws(OutboxError) {
    try handle(.decide(key: problem.key, decision, freshKey: RandomName.make()))
  }

  /// The number of waiting changes, of all users.
  public var count: Int { machine.count }

  /// The waiting changes of the current user, in order.
  public var waiting: [Mutation] { machine.waiting }

  /// The current user of the app.
  public var user: String { machine.user.text }
  package var owner: ExactName { machine.user }

  /// The conflicts and refusals of the current user, now and after each change. Only the newest
  /// list is buffered.
  public var problems: OutboxSequence<[Mutation]> {
    let feed = Feed<[Mutation]>(bound: 1)
    feed.put(machine.undecided) { Array($0.suffix(1)) }
    problemFeeds.append(Weak(value: feed))
    return OutboxSequence(feed: feed, owner: self)
  }

  /// The number of waiting changes, now and after each change. Only the newest number is buffered.
  public var counts: OutboxSequence<Int> {
    let feed = Feed<Int>(bound: 1)
    feed.put(machine.count) { Array($0.suffix(1)) }
    countFeeds.append(Weak(value: feed))
    return OutboxSequence(feed: feed, owner: self)
  }

  // MARK: External events

  /// Retries waiting changes immediately, because the network is available or the device woke up.
  public func networkChanged() {
    try? handle(.reachable)
    tellReachable()
  }

  private func tellReachable() {
    for feed in reachableFeeds { feed.value?.put(()) { _ in [()] } }
    reachableFeeds.removeAll { $0.value == nil }
  }

  /// Registers a repository's feed, which is notified when the network may be available again.
  package func tellReachable(_ feed: Feed<Void>) { reachableFeeds.append(Weak(value: feed)) }

  /// Resumes sending after the user has signed in again, and there is a token.
  public func signedIn() {
    try? handle(.token(isThere: true))
    tellReachable()
  }

  /// Changes the current user. The former user's changes are retained until that user returns.
  public func use(by user: String) {
    guard ExactName(user) != machine.user else { return }
    try? handle(.user(user))
    for id in observers.keys { observers[id]?.isOverrun = true }
    for observer in observers.values { observer.signal.put(()) { _ in [()] } }
    tellProblems()
  }

  // MARK: For repositories

  package func canonical(_ id: ResourceID) -> ResourceID { machine.canonical(id) }

  /// Whether an id is temporary, and neither a server's id nor a waiting create is known for it.
  package func isNew(_ id: ResourceID) -> Bool {
    guard let name = id.temporaryName else { return false }
    return machine.alias(of: name) == nil && machine.creator(of: name) == nil
  }

  /// Returns a consistent snapshot of a collection's waiting changes, and of those that the server
  /// made since the last look. After the first look, the signal announces further changes.
  package func look(at resource: String, _ signal: Feed<Void>) -> Look {
    let former = observers.updateValue(
      Observer(resource: resource, signal: signal), forKey: ObjectIdentifier(signal))
    return Look(
      user: machine.user, pending: machine.pending(resource), done: former?.done ?? [],
      isOverrun: former?.isOverrun ?? false)
  }

  /// Whether the server may have made creates in a collection that are unanswered.
  package func hasUnansweredCreates(of resource: String) -> Bool {
    !machine.unansweredCreates(of: resource).isEmpty
  }

  /// Retries the unanswered creates in a collection, because the server has answered a fetch, and
  /// waits until the attempts have ended. A cancelled task no longer waits.
  package func settleCreates(of resource: String) async {
    try? handle(.fetched(resource: resource))
    for entry in machine.unansweredCreates(of: resource) where underWay.contains(entry.key) {
      let feed = Feed<Void>(bound: 1)
      answerFeeds[entry.key, default: []].append(feed)
      _ = await feed.next()
    }
  }

  package func stopObserving(_ signal: Feed<Void>) { observers[ObjectIdentifier(signal)] = nil }

  // MARK: The machine

  private func handle(_ event: OutboxMachine.Event) throws(OutboxError) {
    if isStale { try beginAgain() }
    var hasProblems = false
    for action in try machine.handle(event, now: time.now) {
      switch action {
      case .keep(let writes):
        do throws(OfflineStoreError) {
          try store.write(writes)
        } catch {
          isStale = true
          wake(time.now + Self.storagePause)
          // A full disk can still be read: restore the state without unstored changes.
          try? beginAgain()
          throw .storage(error)
        }
      case .send(let request): send(request)
      case .needToken: renewToken()
      case .wake(let at): wake(at)
      case .news(let news):
        tell(news)
        switch news {
        case .problem, .released, .discarded: hasProblems = true
        case .queued, .merged, .done, .adopted: break
        }
      }
    }
    // Report the problems once, not for each of them: the list contains all problems.
    if hasProblems { tellProblems() }
    tellCounts()
  }

  /// The pause before a retry after a failed write, in milliseconds.
  private static let storagePause: Int64 = 5_000

  /// Restores the state from disk, as after a restart.
  private func beginAgain() throws(OutboxError) {
    do throws(OfflineStoreError) {
      let kept = try store.kept()
      seed &+= 1
      machine = OutboxMachine(
        kept, user: machine.user.text, settings: settings, seed: seed, underWay: underWay)
      isStale = false
    } catch {
      wake(time.now + Self.storagePause)
      throw .storage(error)
    }
  }

  private func send(_ request: MutationRequest) {
    underWay.insert(request.key)
    Task { [weak self, sender] in
      let answer = await sender.send(request)
      await self?.answered(request.key, answer)
    }
  }

  private func answered(_ key: String, _ answer: MutationAnswer) {
    underWay.remove(key)
    try? handle(.answered(key: key, answer))
    for feed in answerFeeds.removeValue(forKey: key) ?? [] { feed.finish() }
  }

  private func renewToken() {
    let user = machine.user
    Task { [weak self, sender] in
      let isThere = await sender.renewToken(of: user.text)
      await self?.renewed(user, isThere)
    }
  }

  private func renewed(_ user: ExactName, _ isThere: Bool) {
    guard user == machine.user else { return }
    try? handle(.token(isThere: isThere))
  }

  private func wake(_ at: Int64?) {
    timer?.cancel()
    timer = nil
    timerCount += 1
    guard let at else { return }
    timer = Task { [weak self, time, timerCount] in
      await time.wait(until: at)
      if !Task.isCancelled { await self?.woken(timerCount) }
    }
  }

  private func woken(_ number: Int) {
    if number == timerCount { try? handle(.wake) }
  }

  // MARK: Events

  private func tell(_ news: OutboxMachine.News) {
    switch news {
    case .queued(let key):
      put(.queued, to: key)
      if let entry = machine.entry(key) { changed(entry.draft.resource) }
    case .merged(let key, let into):
      guard let into else {
        put(.discarded, to: key)
        progress[key] = nil
        for observer in observers.values { changed(observer.resource) }
        break
      }
      let watchers = progress.removeValue(forKey: key) ?? []
      progress[into, default: []] += watchers
      if let entry = machine.entry(into) { changed(entry.draft.resource) }
    case .done(let entry, let id, let body, let version):
      put(.saved(id, body: body), to: entry.key)
      progress[entry.key] = nil
      note(
        DoneMutation(draft: entry.draft, id: id, body: body, version: version), of: entry.owner)
    case .adopted(let entry, let theirs):
      note(
        DoneMutation(
          isTheirs: true, draft: entry.draft, id: entry.draft.id, body: theirs.utf8, version: nil),
        of: entry.owner)
    case .problem(let key):
      guard let entry = machine.entry(key) else { break }
      put(.problem(entry), to: key)
      changed(entry.draft.resource)
    case .released(let key, let newKey):
      progress[newKey] = progress.removeValue(forKey: key)
      put(.queued, to: newKey)
      if let entry = machine.entry(newKey) { changed(entry.draft.resource) }
    case .discarded(let entry):
      put(.discarded, to: entry.key)
      progress[entry.key] = nil
      changed(entry.draft.resource)
    }
  }

  /// Notifies the repositories of a collection.
  private func note(_ done: DoneMutation, of owner: ExactName) {
    let resource = done.draft.resource
    for (id, observer) in observers where observer.resource == resource && owner == machine.user {
      if observer.done.count < Self.doneMax {
        observers[id]?.done.append(done)
      } else {
        observers[id]?.isOverrun = true
      }
    }
    changed(resource)
  }

  private func put(_ step: MutationStep, to key: String) {
    guard var watchers = progress[key] else { return }
    for index in watchers.indices where watchers[index].last != step {
      watchers[index].last = step
      watchers[index].feed?.put(step) { Array($0.suffix(8)) }
      if step.isLast { watchers[index].feed?.finish() }
    }
    progress[key] = watchers.filter { $0.feed != nil }
  }

  private func changed(_ resource: String) {
    for observer in observers.values where observer.resource == resource {
      observer.signal.put(()) { _ in [()] }
    }
  }

  private func tellProblems() {
    let problems = machine.undecided
    guard problems != lastProblems else { return }
    lastProblems = problems
    problemFeeds.removeAll { $0.value == nil }
    for feed in problemFeeds { feed.value?.put(problems) { Array($0.suffix(1)) } }
  }

  private func tellCounts() {
    guard machine.count != lastCount else { return }
    lastCount = machine.count
    countFeeds.removeAll { $0.value == nil }
    for feed in countFeeds { feed.value?.put(lastCount) { Array($0.suffix(1)) } }
  }
}
