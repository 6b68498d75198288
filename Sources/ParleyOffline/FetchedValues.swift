package import ParleyClient

/// The values of a ``Repository`` for one loop: `for try await list in contacts.fetchAll()`.
///
/// It continues until its task is cancelled. It throws only if there is no value to show. If a
/// later fetch fails, the last value remains shown and the fetch is retried; see
/// ``Repository/fetchProblems``.
public struct FetchedValues<Model: OfflineModel, Value: Sendable>: AsyncSequence, Sendable {
  /// A value.
  public typealias Element = Value
  /// The reason why there is no value to show.
  public typealias Failure = FetchError

  package let feed: Feed<Result<[Model], FetchError>>
  package let owner: Repository<Model>
  package let value: @Sendable ([Model]) -> Value

  /// Reads the values in order.
  public struct Iterator: AsyncIteratorProtocol {
    let feed: Feed<Result<[Model], FetchError>>
    let owner: Repository<Model>
    let value: @Sendable ([Model]) -> Value

    /// Returns the next value; `nil` if the task is cancelled.
    public mutating func next() async throws(FetchError) -> Value? {
      guard let result = await feed.next() else { return nil }
      return value(try result.get())
    }

    /// Returns the next value; `nil` if the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(FetchError)
      -> Value?
    {
      guard let result = await feed.next() else { return nil }
      return value(try result.get())
    }
  }

  /// Creates the iterator. A sequence supports one loop.
  public func makeAsyncIterator() -> Iterator { Iterator(feed: feed, owner: owner, value: value) }
}
