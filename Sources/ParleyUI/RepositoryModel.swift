public import Observation
import ParleyClient
public import ParleyOffline

/// A `Repository`'s list for views: its resources, the waiting changes, and the problems.
///
///     @State private var model = RepositoryModel(contacts)
///     …
///     List(model.items) { Text($0.name) }.task { await model.run() }
@MainActor @Observable public final class RepositoryModel<Model: OfflineModel> {
  /// A list's state.
  public enum State: Sendable, Hashable {
    /// No list was loaded yet.
    case loading
    /// A list was loaded, possibly an empty one.
    case ready
    /// There is no list to show. ``RepositoryModel/run()`` retries.
    case failed(FetchError)
  }

  /// The repository.
  public let repository: Repository<Model>
  /// The resources with waiting changes applied.
  public private(set) var items: [Model] = []
  /// The state.
  public private(set) var state = State.loading
  /// The number of waiting changes of all collections of the outbox.
  public private(set) var waiting = 0
  /// The conflicts and refusals of all collections of the outbox; see `Outbox.decide(_:_:)`.
  public private(set) var problems: [Mutation] = []
  /// The reason why the last change was not added, such as a full disk. Set it to `nil` once shown.
  public var problem: OutboxError?

  @ObservationIgnored private let query: FetchPolicy
  @ObservationIgnored private let isIncluded: (@Sendable (Model) -> Bool)?
  @ObservationIgnored private let areOrdered: (@Sendable (Model, Model) -> Bool)?

  /// Creates a model.
  ///
  /// - Parameters:
  ///   - policy: Determines whether values come from the store, the server or both.
  ///   - areInOrder: Whether the first resource comes before the second; with `nil` the
  ///     repository's order is used.
  ///   - isIncluded: Whether a resource is shown.
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

  /// Follows the repository until the task is cancelled, or there is no list to show.
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
      // The other loops are cancelled when this function returns.
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

  /// Starts fetching again, without waiting for the result.
  public func refresh() async { await repository.refresh() }

  /// Saves a resource; see `Repository.save(_:lane:)`. A failure is shown in ``problem``.
  public func save(_ item: Model) async {
    await change { repository throws(OutboxError) in _ = try await repository.save(item) }
  }

  /// Changes a resource as it is shown.
  public func change(_ id: ResourceID, _ edit: @escaping @Sendable (inout Model) -> Void) async {
    await change { repository throws(OutboxError) in _ = try await repository.change(id, edit) }
  }

  /// Deletes the resources at these indexes of ``items``.
  public func delete(_ places: some Sequence<Int>) async {
    // Read the ids first: each deletion changes the indexes.
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
