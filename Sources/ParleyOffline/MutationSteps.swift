package import ParleyClient

/// A step in the progress of a change.
public enum MutationStep: Sendable, Hashable {
  /// The change waits in the outbox, stored on disk.
  case queued
  /// The server has applied the change. Contains the resource's id, and its JSON if the server
  /// returned it.
  case saved(ResourceID, body: [UInt8]?)
  /// The change conflicts or was rejected, and waits for ``Outbox/decide(_:_:)``.
  case problem(Mutation)
  /// The change was discarded, by a decision or because a later delete made it unnecessary.
  case discarded

  /// Whether no step follows.
  public var isLast: Bool {
    switch self {
    case .saved, .discarded: true
    case .queued, .problem: false
    }
  }
}

/// The steps of one change; the sequence ends after the last step.
///
/// Steps are reported in this process only: after a restart, read ``Outbox/waiting`` and
/// ``Outbox/problems``.
public typealias MutationSteps = OutboxSequence<MutationStep>

/// The events of an outbox or a repository. Only one task may iterate over them.
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

  /// Creates the iterator. Call this once for each sequence.
  public func makeAsyncIterator() -> Iterator { Iterator(feed: feed, owner: owner) }
}
