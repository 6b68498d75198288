import CParleyLibwebsocketsShim
import Glibc
import ParleyLocks

/// The mailbox by which other threads reach a transport's loop.
///
/// Posts between two turns cost one wake-up. After the loop has ended, posting has no effect.
public final class LoopMailbox: Sendable {
  enum Item: Sendable {
    case closeDoors(Monitor<Bool>)
    /// A connection moved from another loop.
    case arrival(MovedConnection)
    case work(@Sendable () -> Void)
    case stop(StopOrder)
  }

  private struct State {
    var items: [Item] = []
    var isWoken = false
    /// Whether the owner has to be notified, not only the transport.
    var isForOwner = false
    /// The descriptor that wakes the loop; -1 while missing.
    var wakeUp: Int32 = -1
  }

  private let state = Locked(State())

  init() {}

  /// Runs `work` on the loop's thread, in the order of posting, before `woken()` is called.
  ///
  /// - Returns: Whether the loop is running; if not, `work` never runs.
  @discardableResult
  public func post(_ work: @escaping @Sendable () -> Void) -> Bool { put(.work(work)) }

  /// Requests a call of the delegate's `woken()` on the loop's thread; several requests before it
  /// cause one call.
  ///
  /// - Returns: Whether the loop is running; if not, there is no call.
  @discardableResult
  public func wake() -> Bool { put(nil) }

  @discardableResult
  func put(_ item: Item?) -> Bool {
    state.withLock { state in
      guard state.wakeUp >= 0 else { return false }
      switch item {
      case nil:
        state.isForOwner = true
      case .work?:
        state.isForOwner = true
        fallthrough
      case .closeDoors?, .stop?, .arrival?:
        if let item { state.items.append(item) }
      }
      if !state.isWoken {
        state.isWoken = true
        // Under the lock, so that the loop's descriptor cannot be closed meanwhile.
        eventfd_write(state.wakeUp, 1)
      }
      return true
    }
  }

  func collect() -> (items: [Item], isForOwner: Bool) {
    state.withLock { state in
      state.isWoken = false
      let isForOwner = state.isForOwner
      state.isForOwner = false
      if state.items.isEmpty { return ([], isForOwner) }
      var items: [Item] = []
      swap(&items, &state.items)
      return (items, isForOwner)
    }
  }

  /// Removes a wake for the owner, unless letters have to be read first. Returns whether there was
  /// one. The loop's wake-up remains.
  func takeWake() -> Bool {
    state.withLock { state in
      guard state.isForOwner, state.items.isEmpty else { return false }
      state.isForOwner = false
      return true
    }
  }

  /// Starts to accept letters. The owner is woken once, because its mailboxes may have been filled
  /// before the loop could be woken.
  func open(_ wakeUp: Int32) {
    state.withLock { state in
      state.wakeUp = wakeUp
      state.isWoken = true
      state.isForOwner = true
      eventfd_write(wakeUp, 1)
    }
  }

  /// Stops accepting letters, and returns the unread ones.
  func shut() -> [Item] {
    state.withLock { state in
      state.wakeUp = -1
      defer { state.items = [] }
      return state.items
    }
  }
}

/// A typed mailbox of a loop's owner: other threads post, the owner collects in `woken()`.
public final class Mailbox<Message: Sendable>: Sendable {
  private let messages = Locked<[Message]>([])
  private let loop: LoopMailbox

  /// Creates a mailbox whose messages wake `loop`.
  public init(waking loop: LoopMailbox) { self.loop = loop }

  /// Posts a message, and wakes the loop. Callable from any thread.
  public func post(_ message: Message) {
    let wasEmpty = messages.withLock { messages in
      messages.append(message)
      return messages.count == 1
    }
    if wasEmpty { loop.wake() }
  }

  /// Removes and returns all messages, oldest first.
  public func collect() -> [Message] {
    messages.withLock { messages in
      if messages.isEmpty { return [] }
      var taken: [Message] = []
      swap(&taken, &messages)
      return taken
    }
  }
}
