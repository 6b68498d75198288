import Synchronization

/// A part of an app's state, with the methods that change it. Views and loops observe ``states``.
///
///     for await state in messages.states {
///       if case .loaded(let shown) = state { show(shown.messages) }
///     }
///
/// An app's own cubit is a subclass:
///
///     final class ScrollCubit: Cubit<Double> { func scroll(to place: Double) { emit(place) } }
@MainActor open class Cubit<State: Sendable & Equatable> {
  /// The current state.
  public private(set) var state: State
  private let followers = Followers<State>()

  /// Creates a cubit with its first state.
  public init(_ state: State) { self.state = state }

  /// The current state, then each changed one. Only the newest is buffered. The stream ends with
  /// its task, or with the cubit.
  public var states: AsyncStream<State> { followers.add(state) }

  /// Sets the state; followers are notified if it differs.
  public func emit(_ state: State) {
    guard state != self.state else { return }
    self.state = state
    followers.tell(state)
  }
}

/// The streams of a cubit's states; they end with the cubit.
private final class Followers<State: Sendable>: Sendable {
  private struct Entries {
    var last = 0
    var all: [Int: AsyncStream<State>.Continuation] = [:]
  }

  private let entries = Mutex(Entries())

  deinit {
    for continuation in entries.withLock({ $0.all.values.map { $0 } }) { continuation.finish() }
  }

  func add(_ state: State) -> AsyncStream<State> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: State.self, bufferingPolicy: .bufferingNewest(1))
    continuation.yield(state)
    let number = entries.withLock { entries in
      entries.last += 1
      entries.all[entries.last] = continuation
      return entries.last
    }
    continuation.onTermination = { [weak self] _ in
      self?.entries.withLock { $0.all[number] = nil }
    }
    return stream
  }

  func tell(_ state: State) {
    for continuation in entries.withLock({ $0.all.values.map { $0 } }) {
      continuation.yield(state)
    }
  }
}
