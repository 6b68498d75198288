public import ParleyGatewayPorts
import Glibc
import ParleyLocks

/// The two queues between a server's loop and the threads of its broker, each with a bound.
///
///     loop     publish ─▶ outgoing ─▶ the broker's thread ─▶ the broker
///     loop ◀─ takeNews ◀─ incoming ◀─ the broker's thread ◀─ the broker
///
/// What comes when a queue is full is dropped and counted: a hint that is missing costs a look at the
/// store. Topics are dealt out by their hash to so many channels, of which a node follows those that it
/// has a topic in; so following one more rarely costs a message.
public final class HintQueues: ServerBroker {
  /// A hint on its way out.
  public struct Hint: Sendable {
    /// The topic.
    public let topic: String
    /// The content.
    public let bytes: [UInt8]
  }

  private struct State {
    var outgoing: [Hint] = []
    var outgoingBytes = 0
    var news: [BrokerNews] = []
    var newsBytes = 0
    /// Followed topics, by their bytes: names that look alike are not the same.
    var followed: Set<[UInt8]> = []
    var followersOfChannels: [Int]
    var broker = BrokerState()
    /// Whether hints have arrived since the start.
    var hasArrived = false
    /// The time at which a message to oneself came last; `nil` for not yet.
    var heardItselfAt: Int64?
    /// The time at which that message was sent.
    var heardItselfSentAt = Int64.min
    var isStopping = false
    var hasStopped = false
  }

  /// Hints that may wait in one direction.
  static let countMax = 8_192
  /// Their bytes.
  static let bytesMax = 4 << 20
  /// Microseconds for which a message to oneself may be on its way.
  private static let probeAgeMax: Int64 = 60_000_000
  /// Bytes that a hint counts for beside its own.
  private static let overhead = 64

  private let shared: Monitor<State>
  private let channelCount: Int
  private let wakeLoop: @Sendable () -> Void
  /// Readable when the broker's thread has something to do.
  public let waker: Int32
  private let wakerEnd: Int32

  /// Makes empty queues.
  ///
  /// - Parameters:
  ///   - channelCount: The channels that topics are dealt out to.
  ///   - wakeLoop: Called on the broker's threads when there is news to be taken.
  public init(channelCount: Int, wakeLoop: @escaping @Sendable () -> Void) {
    self.channelCount = channelCount
    self.wakeLoop = wakeLoop
    shared = Monitor(State(followersOfChannels: Array(repeating: 0, count: channelCount)))
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0, "no pipe could be made: error \(errno)")
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    (waker, wakerEnd) = (ends[0], ends[1])
  }

  deinit {
    close(waker)
    close(wakerEnd)
  }

  private func wakeThread() {
    // A full pipe wakes it, too.
    var byte: UInt8 = 1
    _ = write(wakerEnd, &byte, 1)
  }

  // MARK: The loop's side

  /// Puts a hint into the queue, or drops it where that is full or the hint too long.
  public func publish(_ topic: String, _ bytes: [UInt8]) {
    let isFirst = shared.withLock { state in
      guard bytes.count <= HintFrame.bytesMax, topic.utf8.count <= HintFrame.topicBytesMax else {
        state.broker.dropped["size", default: 0] += 1
        return false
      }
      let size = bytes.count + topic.utf8.count + Self.overhead
      guard state.outgoing.count < Self.countMax, state.outgoingBytes + size <= Self.bytesMax else {
        state.broker.dropped["outgoing", default: 0] += 1
        return false
      }
      state.outgoing.append(Hint(topic: topic, bytes: bytes))
      state.outgoingBytes += size
      return state.outgoing.count == 1
    }
    if isFirst { wakeThread() }
  }

  /// Has hints of a topic pass.
  public func follow(_ topic: String) { change(topic) { $0.insert($1).inserted ? 1 : 0 } }

  /// Has them pass no longer.
  public func leave(_ topic: String) { change(topic) { $0.remove($1) == nil ? 0 : -1 } }

  private func change(_ topic: String, _ body: (inout Set<[UInt8]>, [UInt8]) -> Int) {
    let name = Array(topic.utf8)
    let channel = channel(of: topic)
    let isOther = shared.withLock { state in
      let before = state.followersOfChannels[channel]
      state.followersOfChannels[channel] += body(&state.followed, name)
      return (before == 0) != (state.followersOfChannels[channel] == 0)
    }
    if isOther { wakeThread() }
  }

  /// Takes the news since the last call.
  public func takeNews() -> [BrokerNews] {
    shared.withLock { state in
      defer { (state.news, state.newsBytes) = ([], 0) }
      return state.news
    }
  }

  /// The counters.
  public var state: BrokerState { shared.withLock { $0.broker } }

  /// Asks the broker's thread to end, and returns when it has.
  public func stop() {
    shared.withLock { $0.isStopping = true }
    wakeThread()
    shared.wait { $0.hasStopped }
  }

  // MARK: The broker's side

  /// The channel of a topic, from 0; the same at every node.
  public func channel(of topic: String) -> Int {
    Int(FNV1a(topic.utf8).value % UInt64(channelCount))
  }

  /// The channels with a topic that is followed.
  public var channels: Set<Int> {
    shared.withLock { state in
      Set(state.followersOfChannels.indices.filter { state.followersOfChannels[$0] > 0 })
    }
  }

  /// Takes the hints that are to be sent.
  public func takeOutgoing() -> [Hint] {
    shared.withLock { state in
      defer { (state.outgoing, state.outgoingBytes) = ([], 0) }
      return state.outgoing
    }
  }

  /// Takes note that the thread is awake.
  public func haveWoken() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(waker, &bytes, bytes.count) == bytes.count {}
  }

  /// Waits for a time, unless the thread is to end.
  public func wait(atMostMilliseconds limit: Int64) {
    let end = monotonicMicroseconds() + limit * 1_000
    while !isStopping {
      let left = (end - monotonicMicroseconds()) / 1_000
      guard left > 0 else { return }
      awaitWork(atMostMilliseconds: left)
    }
  }

  /// Waits until there is something to do, or for a time.
  public func awaitWork(atMostMilliseconds limit: Int64) {
    var waiting = pollfd(fd: waker, events: Int16(POLLIN), revents: 0)
    if poll(&waiting, 1, Int32(clamping: limit)) > 0 { haveWoken() }
  }

  /// Takes note of a message to oneself, by the time at which it was sent. A replayed message is
  /// older than a minute, or was heard before.
  ///
  /// - Returns: Whether it says that hints arrive.
  public func heardItself(sentAt: Int64) -> Bool {
    let now = monotonicMicroseconds()
    let isBelieved = shared.withLock { state in
      guard sentAt <= now, sentAt >= now - Self.probeAgeMax, sentAt > state.heardItselfSentAt else {
        state.broker.foreign += 1
        return false
      }
      state.heardItselfAt = now
      state.heardItselfSentAt = sentAt
      state.broker.lag.record(now - sentAt)
      return true
    }
    // A caller that waits for the first one continues.
    if isBelieved { wakeThread() }
    return isBelieved
  }

  /// Microseconds since a message to oneself came last; `nil` where none has come.
  public var silence: Int64? {
    shared.withLock { $0.heardItselfAt }.map { monotonicMicroseconds() - $0 }
  }

  /// Whether the thread is to end.
  public var isStopping: Bool { shared.withLock { $0.isStopping } }

  /// Takes note that the thread has ended.
  func haveStopped() { shared.change { $0.hasStopped = true } }

  /// Takes in a hint that another node has published, if its topic is followed and there is room.
  public func hear(_ topic: [UInt8], _ bytes: [UInt8]) {
    let isFirst = shared.withLock { state in
      guard state.followed.contains(topic) else { return false }
      let size = bytes.count + topic.count + Self.overhead
      guard state.news.count < Self.countMax, state.newsBytes + size <= Self.bytesMax else {
        state.broker.dropped["incoming", default: 0] += 1
        return false
      }
      state.broker.heard += 1
      return add(.heard(topic: String(decoding: topic, as: UTF8.self), bytes: bytes), size, &state)
    }
    if isFirst { wakeLoop() }
  }

  /// Takes note that hints arrive from now on, or do not.
  public func hintsChanged(arrive: Bool) {
    let isFirst = shared.withLock { state in
      guard state.broker.isConnected != arrive else { return false }
      state.broker.isConnected = arrive
      if arrive {
        if state.hasArrived { state.broker.reconnections += 1 }
        state.hasArrived = true
      }
      if case .hints = state.news.last { state.news.removeLast() }
      return add(.hints(arrive: arrive), 0, &state)
    }
    if isFirst { wakeLoop() }
  }

  private func add(_ news: BrokerNews, _ size: Int, _ state: inout State) -> Bool {
    state.news.append(news)
    state.newsBytes += size
    return state.news.count == 1
  }

  /// Changes the counters.
  public func count(_ body: (inout BrokerState) -> Void) { shared.withLock { body(&$0.broker) } }
}
