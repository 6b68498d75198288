import ParleyLocks

/// A bounded buffer between a model and one reader.
///
/// When more than `bound` elements wait, the writer of the last one replaces them by fewer: a slow
/// reader uses bounded memory, and learns that it missed elements.
package final class Feed<Element: Sendable>: Sendable {
  fileprivate struct State {
    var waiting: [Element] = []
    var head = 0
    var reader: CheckedContinuation<Element?, Never>?
    var isFinished = false
  }

  private let state = Locked(State())
  private let bound: Int

  package init(bound: Int) { self.bound = bound }

  /// Passes an element to the waiting reader, or queues it.
  ///
  /// - Parameter shorten: Returns fewer elements for a full queue, the new one last.
  package func put(_ element: Element, _ shorten: (ArraySlice<Element>) -> [Element]) {
    let reader = state.withLock { state -> CheckedContinuation<Element?, Never>? in
      guard !state.isFinished else { return nil }
      if let reader = state.reader {
        state.reader = nil
        return reader
      }
      state.waiting.append(element)
      if state.waiting.count - state.head > bound {
        state.waiting = shorten(state.waiting[state.head...])
        state.head = 0
      }
      return nil
    }
    reader?.resume(returning: element)
  }

  /// Ends the sequence after the queued elements.
  package func finish() {
    let reader = state.withLock { state -> CheckedContinuation<Element?, Never>? in
      state.isFinished = true
      let reader = state.reader
      state.reader = nil
      return reader
    }
    reader?.resume(returning: nil)
  }

  /// Whether the reader waits for the next element, and so has handled all earlier ones.
  package var isDrained: Bool {
    state.withLock { $0.reader != nil && $0.head == $0.waiting.count }
  }

  /// Returns the next element; `nil` after the last, or if the task is cancelled.
  package func next() async -> Element? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let next = state.withLock { state -> Element?? in
          if state.head < state.waiting.count { return .some(state.take()) }
          if state.isFinished || Task.isCancelled || state.reader != nil { return .some(nil) }
          state.reader = continuation
          return nil
        }
        if let next { continuation.resume(returning: next) }
      }
    } onCancel: {
      let reader = state.withLock { state in
        let reader = state.reader
        state.reader = nil
        return reader
      }
      reader?.resume(returning: nil)
    }
  }
}

extension Feed.State {
  fileprivate mutating func take() -> Element {
    let element = waiting[head]
    head += 1
    if head == waiting.count {
      waiting.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 64, head * 2 > waiting.count {
      waiting.removeFirst(head)
      head = 0
    }
    return element
  }
}

/// The readers of one kind of elements. A reader is removed when its sequence is released.
package struct Feeds<Element: Sendable> {
  private struct Entry { weak var feed: Feed<Element>? }

  private var entries: [Entry] = []
  private var isFinished = false

  package init() {}

  package mutating func add(_ feed: Feed<Element>) {
    entries.removeAll { $0.feed == nil }
    if isFinished { feed.finish() } else { entries.append(Entry(feed: feed)) }
  }

  /// Whether there are no readers.
  package var isEmpty: Bool { entries.allSatisfy { $0.feed == nil } }

  package func put(_ element: Element, _ shorten: (ArraySlice<Element>) -> [Element]) {
    for entry in entries { entry.feed?.put(element, shorten) }
  }

  package mutating func finish() {
    isFinished = true
    for entry in entries { entry.feed?.finish() }
    entries = []
  }
}

/// A model's changes for one loop: `for await update in note.updates`.
///
/// The sequence starts when it is created, and ends with the model, or when the reading task is
/// cancelled. The property that returns it documents how many elements are buffered, and what
/// happens beyond.
public struct Updates<Element: Sendable>: AsyncSequence, Sendable {
  let feed: Feed<Element>
  /// The connection. The loop retains it: without it the loop would wait forever.
  let owner: any AnyObject & Sendable
  /// Signals a late start of the sequence; elements before the signal are missing.
  package let started: Feed<Void>?

  package init(
    feed: Feed<Element>, owner: any AnyObject & Sendable, started: Feed<Void>? = nil
  ) {
    self.feed = feed
    self.owner = owner
    self.started = started
  }

  /// Reads the elements in order.
  public struct Iterator: AsyncIteratorProtocol {
    let feed: Feed<Element>
    let owner: any AnyObject & Sendable

    /// Returns the next element; `nil` after the last.
    public func next() async -> Element? { await feed.next() }

    /// Returns the next element; `nil` after the last.
    public func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await feed.next()
    }
  }

  /// Creates the iterator. A sequence supports one loop.
  public func makeAsyncIterator() -> Iterator { Iterator(feed: feed, owner: owner) }
}
