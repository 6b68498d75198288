package import ParleyGatewayPorts
import ParleyLocks

/// The broker of hints between the loops of one process, and between them and other machines.
///
///     loop i   publish ─▶ the mailboxes of the loops that follow the topic ─▶ loop j
///                     └─▶ the outer broker ─▶ other machines
///     other machines ─▶ the outer broker ─▶ the mailboxes of the loops that follow the topic
///
/// A table under a lock contains the topics that each loop follows. Each mailbox has a limit: hints
/// that arrive when it is full are dropped and counted, since the loop finds their data in the
/// store. The outer broker follows the topics of all loops.
package final class LoopBroker: Sendable {
  /// Maximum hints waiting for one loop.
  package static let countMax = 8_192
  /// Maximum bytes of hints waiting for one loop.
  package static let bytesMax = 4 << 20
  /// Bytes counted for a hint in addition to its topic and content.
  private static let overhead = 64

  private struct Mailbox {
    var news: [BrokerEvent] = []
    var bytes = 0
    var state = BrokerState()
  }

  private struct State {
    var mailboxes: [Mailbox]
    /// The loops that follow a topic. The key is the topic's bytes: equivalent Unicode names are
    /// different topics.
    var followers: [[UInt8]: Set<Int>] = [:]
    var outer: (any ServerBroker)?
  }

  private let state: Monitor<State>
  private let wake: @Sendable (Int) -> Void

  /// Creates empty mailboxes.
  ///
  /// - Parameters:
  ///   - count: The number of loops.
  ///   - wake: Called on any thread, with the number of a loop whose mailbox has become non-empty.
  package init(count: Int, wake: @escaping @Sendable (Int) -> Void) {
    state = Monitor(State(mailboxes: Array(repeating: Mailbox(), count: count)))
    self.wake = wake
  }

  /// Connects a broker to other machines. Its owner calls ``outerHasNews()`` when hints arrive.
  package func connect(to outer: any ServerBroker) {
    state.withLock { $0.outer = outer }
    // Hints may have arrived before this call.
    outerHasNews()
  }

  /// Reports that hints can arrive, in a process without an outer broker: loops are always
  /// connected.
  package func reportConnected() {
    let loops = state.withLock { state in
      for loop in state.mailboxes.indices {
        state.mailboxes[loop].news.append(.hints(arrive: true))
      }
      return state.mailboxes.indices
    }
    for loop in loops { wake(loop) }
  }

  /// Returns the broker for one of the loops.
  package func end(of loop: Int) -> any ServerBroker { End(hub: self, loop: loop) }

  /// Distributes the hints that the outer broker has received.
  package func outerHasNews() {
    // Taking and distributing share one lock, so that concurrent calls keep hints in order.
    let woken = state.withLock { state in
      var woken: Set<Int> = []
      for item in state.outer?.takeEvents() ?? [] {
        switch item {
        case .heard(let topic, let bytes):
          for loop in state.followers[Array(topic.utf8)] ?? [] {
            if Self.put(topic, bytes, into: &state.mailboxes[loop]) { woken.insert(loop) }
          }
        case .hints:
          for loop in state.mailboxes.indices {
            if case .hints? = state.mailboxes[loop].news.last {
              state.mailboxes[loop].news.removeLast()
            }
            state.mailboxes[loop].news.append(item)
            woken.insert(loop)
          }
        }
      }
      return woken
    }
    for loop in woken { wake(loop) }
  }

  /// Stops the outer broker's threads.
  package func stop() { state.withLock { $0.outer }?.stop() }

  /// The sum of the counters of all loops and of the outer broker.
  package var counters: BrokerState {
    let (outer, inner) = state.withLock { ($0.outer, $0.mailboxes.map(\.state)) }
    var sum = outer?.state ?? BrokerState()
    // Hints between loops always arrive.
    if outer == nil { sum.isConnected = true }
    for mailbox in inner {
      sum.published += mailbox.published
      // The outer broker counts each hint once, for any number of loops.
      sum.heard += mailbox.heard
      for (queue, count) in mailbox.dropped { sum.dropped[queue, default: 0] += count }
    }
    return sum
  }

  // MARK: The loops' side

  fileprivate func publish(_ topic: String, _ bytes: [UInt8], by loop: Int) {
    let name = Array(topic.utf8)
    let (woken, outer) = state.withLock { state in
      var woken: [Int] = []
      for other in state.followers[name] ?? [] where other != loop {
        state.mailboxes[loop].state.published += 1
        let wasFull = Self.isFull(state.mailboxes[other], topic, bytes)
        if Self.put(topic, bytes, into: &state.mailboxes[other]) { woken.append(other) }
        if !wasFull { state.mailboxes[other].state.heard += 1 }
      }
      return (woken, state.outer)
    }
    for other in woken { wake(other) }
    outer?.publish(topic, bytes)
  }

  fileprivate func follow(_ topic: String, by loop: Int) {
    let name = Array(topic.utf8)
    // Under the lock, so that the outer broker receives `follow` and `leave` in order.
    state.withLock { state in
      let isFirst = state.followers[name] == nil
      state.followers[name, default: []].insert(loop)
      if isFirst { state.outer?.follow(topic) }
    }
  }

  fileprivate func leave(_ topic: String, by loop: Int) {
    let name = Array(topic.utf8)
    state.withLock { state in
      guard state.followers[name]?.remove(loop) != nil, state.followers[name]?.isEmpty ?? false
      else { return }
      state.followers[name] = nil
      state.outer?.leave(topic)
    }
  }

  fileprivate func takeEvents(of loop: Int) -> [BrokerEvent] {
    state.withLock { state in
      defer {
        state.mailboxes[loop].news = []
        state.mailboxes[loop].bytes = 0
      }
      return state.mailboxes[loop].news
    }
  }

  /// Adds a hint to a mailbox unless it is full; returns whether the mailbox was empty before.
  private static func put(_ topic: String, _ bytes: [UInt8], into mailbox: inout Mailbox) -> Bool {
    guard !isFull(mailbox, topic, bytes) else {
      mailbox.state.dropped["loop", default: 0] += 1
      return false
    }
    mailbox.news.append(.heard(topic: topic, bytes: bytes))
    mailbox.bytes += size(topic, bytes)
    return mailbox.news.count == 1
  }

  private static func isFull(_ mailbox: Mailbox, _ topic: String, _ bytes: [UInt8]) -> Bool {
    mailbox.news.count >= countMax || mailbox.bytes + size(topic, bytes) > bytesMax
  }

  private static func size(_ topic: String, _ bytes: [UInt8]) -> Int {
    topic.utf8.count + bytes.count + overhead
  }

  /// The broker that one loop uses.
  private final class End: ServerBroker {
    let hub: LoopBroker
    let loop: Int

    init(hub: LoopBroker, loop: Int) {
      self.hub = hub
      self.loop = loop
    }

    func publish(_ topic: String, _ bytes: [UInt8]) { hub.publish(topic, bytes, by: loop) }
    func follow(_ topic: String) { hub.follow(topic, by: loop) }
    func leave(_ topic: String) { hub.leave(topic, by: loop) }
    func takeEvents() -> [BrokerEvent] { hub.takeEvents(of: loop) }
    var state: BrokerState { hub.counters }
    func stop() {}
  }
}
