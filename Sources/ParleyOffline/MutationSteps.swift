package import ParleyClient

/// A step of a change on its way.
public enum MutationStep: Sendable, Hashable {
  /// It waits, on the device's disk.
  case queued
  /// The server has made it: with the thing's id and, if it said so, the thing's JSON.
  case saved(ResourceID, body: [UInt8]?)
  /// The change has to be decided on.
  case problem(Mutation)
  /// It was given up: decided so, or a later delete has left nothing to do.
  case discarded

  /// Whether nothing comes after it.
  public var isLast: Bool {
    switch self {
    case .saved, .discarded: true
    case .queued, .problem: false
    }
  }
}

/// The steps of one change, as they come; the last one ends it.
///
/// They are of this process: after a restart, look at ``Outbox/waiting`` and ``Outbox/problems``.
public typealias MutationSteps = OutboxSequence<MutationStep>

/// News of an outbox or a repository, for one loop.
public struct OutboxSequence<Element: Sendable>: AsyncSequence, Sendable {
  package let feed: Feed<Element>
  package let owner: any AnyObject & Sendable

  /// Reads the elements in order.
  public struct Iterator: AsyncIteratorProtocol {
    let feed: Feed<Element>
    let owner: any AnyObject & Sendable

    /// Returns the next element; `nil` after the last.
    public mutating func next() async -> Element? { await feed.next() }

    /// Returns the next element; `nil` after the last.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await feed.next()
    }
  }

  /// Makes the iterator. There is one loop for one sequence.
  public func makeAsyncIterator() -> Iterator { Iterator(feed: feed, owner: owner) }
}
