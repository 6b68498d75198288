public import ParleyGatewayPorts
import Glibc
import ParleyLocks

/// The two bounded queues between a server's loop and the threads of its broker.
///
///     loop     publish ─▶ outgoing ─▶ the broker's thread ─▶ the broker
///     loop ◀─ takeNews ◀─ incoming ◀─ the broker's thread ◀─ the broker
///
/// A hint that exceeds a queue's limit is dropped and counted: a missing hint only costs a read of
/// the store. Topics are assigned by hash to a fixed number of channels. A node subscribes to each
/// channel that contains a topic which it follows, so following another topic rarely needs a
/// message.
public final class HintQueues: ServerBroker {
  /// A hint to be sent.
  public struct Hint: Sendable {
    /// The topic.
    public let topic: String
    /// The content.
    public let bytes: [UInt8]
  }

  private struct State {
    var outgoing: [Hint] = []
    var outgoingBytes = 0
    var news: [BrokerEvent] = []
    var newsBytes = 0
    /// Followed topics, as bytes, so that they are compared exactly.
    var followed: Set<[UInt8]> = []
    var followersOfChannels: [Int]
    var broker = BrokerState()
    /// Whether any hints have arrived since the start.
    var hasArrived = false
    /// The time at which the last probe arrived; `nil` before the first.
    var heardItselfAt: Int64?
    /// The time at which that probe was sent.
    var heardItselfSentAt = Int64.min
    var isStopping = false
    var hasStopped = false
  }

  /// The maximum hints in each queue.
  static let countMax = 8_192
  /// The maximum bytes in each queue.
  static let bytesMax = 4 << 20
  /// The maximum age of a probe, in microseconds.
  private static let probeAgeMax: Int64 = 60_000_000
  /// Bytes that each hint adds to its size in a queue.
  private static let overhead = 64

  private let shared: Monitor<State>
  private let channelCount: Int
  private let wakeLoop: @Sendable () -> Void
  /// A descriptor that is readable when the broker's thread has work to do.
  public let waker: Int32
  private let wakerEnd: Int32

  /// Creates empty queues.
  ///
  /// - Parameters:
  ///   - channelCount: The number of channels to which topics are assigned.
  ///   - wakeLoop: Called on the broker's threads when the incoming queue is no longer empty.
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
    // If the pipe is full, the thread is already being woken.
    var byte: UInt8 = 1
    _ = write(wakerEnd, &byte, 1)
  }

  // MARK: The loop's side

  /// Queues a hint; drops it if the queue is full or the hint is too long.
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

  /// Follows a topic, so that its hints are received.
  public func follow(_ topic: String) { change(topic) { $0.insert($1).inserted ? 1 : 0 } }

  /// Stops following a topic.
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

  /// Removes and returns the received hints and changes of the connection.
  public func takeEvents() -> [BrokerEvent] {
    shared.withLock { state in
      defer { (state.news, state.newsBytes) = ([], 0) }
      return state.news
    }
  }

  /// The state and counters of the broker.
  public var state: BrokerState { shared.withLock { $0.broker } }

  /// Stops the broker's thread, and waits until it has ended.
  public func stop() {
    shared.withLock { $0.isStopping = true }
    wakeThread()
    shared.wait { $0.hasStopped }
  }

  // MARK: The broker's side

  /// Returns the channel of a topic, from 0. It is the same on every node.
  public func channel(of topic: String) -> Int {
    Int(FNV1a(topic.utf8).value % UInt64(channelCount))
  }

  /// The channels that contain a followed topic.
  public var channels: Set<Int> {
    shared.withLock { state in
      Set(state.followersOfChannels.indices.filter { state.followersOfChannels[$0] > 0 })
    }
  }

  /// Removes and returns the hints to be sent.
  public func takeOutgoing() -> [Hint] {
    shared.withLock { state in
      defer { (state.outgoing, state.outgoingBytes) = ([], 0) }
      return state.outgoing
    }
  }

  /// Empties the waker's pipe.
  public func haveWoken() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(waker, &bytes, bytes.count) == bytes.count {}
  }

  /// Waits for a time, or until the thread is to stop.
  public func wait(atMostMilliseconds limit: Int64) {
    let end = monotonicMicroseconds() + limit * 1_000
    while !isStopping {
      let left = (end - monotonicMicroseconds()) / 1_000
      guard left > 0 else { return }
      awaitWork(atMostMilliseconds: left)
    }
  }

  /// Waits until there is work to do, but not longer than a time.
  public func awaitWork(atMostMilliseconds limit: Int64) {
    var waiting = pollfd(fd: waker, events: Int16(POLLIN), revents: 0)
    if poll(&waiting, 1, Int32(clamping: limit)) > 0 { haveWoken() }
  }

  /// Records the arrival of a probe that was sent at a time. Probes that are older than a minute,
  /// or not newer than the last one, count as replayed and are ignored.
  ///
  /// - Returns: Whether the probe shows that hints arrive.
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
    // The broker's thread may be waiting for the first probe.
    if isBelieved { wakeThread() }
    return isBelieved
  }

  /// Microseconds since the last probe arrived; `nil` before the first.
  public var silence: Int64? {
    shared.withLock { $0.heardItselfAt }.map { monotonicMicroseconds() - $0 }
  }

  /// Whether the broker's thread is to stop.
  public var isStopping: Bool { shared.withLock { $0.isStopping } }

  /// Records that the broker's thread has ended.
  func haveStopped() { shared.change { $0.hasStopped = true } }

  /// Queues a hint from another node; drops it if its topic is not followed or the queue is full.
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

  /// Records whether hints arrive.
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

  private func add(_ news: BrokerEvent, _ size: Int, _ state: inout State) -> Bool {
    state.news.append(news)
    state.newsBytes += size
    return state.news.count == 1
  }

  /// Changes the counters.
  public func count(_ body: (inout BrokerState) -> Void) { shared.withLock { body(&$0.broker) } }
}
