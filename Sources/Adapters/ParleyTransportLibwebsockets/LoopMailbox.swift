import CParleyLibwebsocketsShim
import Glibc
import ParleyLocks

/// The one way from other threads to a transport's loop.
///
/// Whatever is posted between two turns of the loop costs one wake-up. After the loop has ended,
/// posting does nothing.
public final class LoopMailbox: Sendable {
  enum Item: Sendable {
    case closeDoors(Monitor<Bool>)
    /// A connection that another loop has sent.
    case arrival(MovedConnection)
    case work(@Sendable () -> Void)
    case stop(StopOrder)
  }

  private struct State {
    var items: [Item] = []
    var isWoken = false
    /// Whether the owner is to be notified, and not only the transport.
    var isForOwner = false
    /// Wakes the loop; -1 while there is none.
    var wakeUp: Int32 = -1
  }

  private let state = Locked(State())

  init() {}

  /// Runs `work` on the loop's thread, in the order of posting, before `woken()` is called.
  ///
  /// - Returns: Whether the loop is running; if not, `work` never runs.
  @discardableResult
  public func post(_ work: @escaping @Sendable () -> Void) -> Bool { put(.work(work)) }

  /// Has the delegate's `woken()` called on the loop's thread, once for any number of wakes
  /// before it.
  ///
  /// - Returns: Whether the loop is running; if not, no call will come.
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
        // Under the lock, so that the loop cannot be freed meanwhile.
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

  /// Takes a wake for the owner, if no letter is to be read before it. The loop's wake-up remains.
  func takeWake() -> Bool {
    state.withLock { state in
      guard state.isForOwner, state.items.isEmpty else { return false }
      state.isForOwner = false
      return true
    }
  }

  /// Takes letters from now on. The owner is woken once, since some of its mailboxes may have
  /// been filled before there was a loop to wake.
  func open(_ wakeUp: Int32) {
    state.withLock { state in
      state.wakeUp = wakeUp
      state.isWoken = true
      state.isForOwner = true
      eventfd_write(wakeUp, 1)
    }
  }

  /// Rejects letters from now on, and returns the unread ones.
  func shut() -> [Item] {
    state.withLock { state in
      state.wakeUp = -1
      defer { state.items = [] }
      return state.items
    }
  }
}

/// A typed mailbox beside a loop: other threads post, the loop collects in `woken()`.
public final class Mailbox<Message: Sendable>: Sendable {
  private let messages = Locked<[Message]>([])
  private let loop: LoopMailbox

  /// Makes a mailbox whose letters wake `loop`.
  public init(waking loop: LoopMailbox) { self.loop = loop }

  /// Leaves a message and wakes the loop. Callable from any thread.
  public func post(_ message: Message) {
    let wasEmpty = messages.withLock { messages in
      messages.append(message)
      return messages.count == 1
    }
    if wasEmpty { loop.wake() }
  }

  /// Takes all messages, oldest first.
  public func collect() -> [Message] {
    messages.withLock { messages in
      if messages.isEmpty { return [] }
      var taken: [Message] = []
      swap(&taken, &messages)
      return taken
    }
  }
}
