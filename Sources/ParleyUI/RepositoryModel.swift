public import Observation
import ParleyClient
public import ParleyOffline

/// A ``Repository``'s list for views: its things, what waits for the server, and what has to be decided.
///
///     @State private var model = RepositoryModel(contacts)
///     …
///     List(model.items) { Text($0.name) }.task { await model.run() }
@MainActor @Observable public final class RepositoryModel<Model: OfflineModel> {
  /// A list's state.
  public enum State: Sendable, Hashable {
    /// Nothing has come yet.
    case loading
    /// There is a list; an empty one, too.
    case ready
    /// There is nothing to show. ``RepositoryModel/run()`` tries again.
    case failed(FetchError)
  }

  /// The repository.
  public let repository: Repository<Model>
  /// The things, with the changes that wait laid over them.
  public private(set) var items: [Model] = []
  /// The state.
  public private(set) var state = State.loading
  /// The number of changes that wait for the server, of all the outbox's collections.
  public private(set) var waiting = 0
  /// Conflicts and refusals to decide on, of all the outbox's collections: ``Outbox/decide(_:_:)``.
  public private(set) var problems: [Mutation] = []
  /// Why the last change was not added, such as a full disk. Set it to `nil` when that was shown.
  public var problem: OutboxError?

  @ObservationIgnored private let query: FetchPolicy
  @ObservationIgnored private let isIncluded: (@Sendable (Model) -> Bool)?
  @ObservationIgnored private let areOrdered: (@Sendable (Model, Model) -> Bool)?

  /// Makes a model.
  ///
  /// - Parameters:
  ///   - policy: The origin of the things.
  /// - areInOrder: Whether the first thing comes before the second; without it the repository's
  ///   order remains.
  ///   - isIncluded: Whether a thing is shown.
  public init(
    _ repository: Repository<Model>, _ policy: FetchPolicy = .cacheThenNetwork,
    by areInOrder: (@Sendable (Model, Model) -> Bool)? = nil,
    where isIncluded: (@Sendable (Model) -> Bool)? = nil
  ) {
    self.repository = repository
    query = policy
    areOrdered = areInOrder
    self.isIncluded = isIncluded
  }

  /// Follows the repository until its task is cancelled, or there is nothing to show.
  public func run() async {
    if case .failed = state { state = .loading }
    let outbox = repository.outbox
    let (counts, found) = (await outbox.counts, await outbox.problems)
    async let _: Void = follow(counts) { $0.waiting = $1 }
    async let _: Void = follow(found) { $0.problems = $1 }
    do throws(FetchError) {
      for try await list in repository.fetchAll(query) { take(list) }
    } catch {
      state = .failed(error)
      // The other loops are cancelled with this one.
    }
  }

  private func follow<Value: Sendable>(
    _ values: OutboxSequence<Value>, _ take: @MainActor (RepositoryModel, Value) -> Void
  ) async {
    for await value in values { take(self, value) }
  }

  private func take(_ list: [Model]) {
    var list = list
    if let isIncluded { list = list.filter(isIncluded) }
    if let areOrdered { list.sort(by: areOrdered) }
    items = list
    state = .ready
  }

  /// Fetches again, and returns at once.
  public func refresh() async { await repository.refresh() }

  /// Saves a thing; see ``Repository/save(_:lane:)``. A failure shows in ``problem``.
  public func save(_ item: Model) async {
    await change { repository throws(OutboxError) in _ = try await repository.save(item) }
  }

  /// Changes a thing as it is shown.
  public func change(_ id: ResourceID, _ edit: @escaping @Sendable (inout Model) -> Void) async {
    await change { repository throws(OutboxError) in _ = try await repository.change(id, edit) }
  }

  /// Deletes the things at these places of ``items``.
  public func delete(_ places: some Sequence<Int>) async {
    // Places count now, before the list changes.
    let ids = places.compactMap { items.indices.contains($0) ? items[$0].id : nil }
    for id in ids {
      await change { repository throws(OutboxError) in _ = try await repository.delete(id) }
    }
  }

  /// Decides on a conflict or a refusal.
  public func decide(_ mutation: Mutation, _ decision: MutationDecision) async {
    await change { repository throws(OutboxError) in
      try await repository.outbox.decide(mutation, decision)
    }
  }

  private func change(
    _ make: @Sendable (Repository<Model>) async throws(OutboxError) -> Void
  ) async {
    do throws(OutboxError) {
      try await make(repository)
    } catch {
      problem = error
    }
  }
}
