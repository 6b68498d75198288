package import GatewayPorts
import Locks

/// Hints among the loops of one process, and between them and other gateways.
///
///     loop i   publish ─▶ the mailboxes of those loops that follow the topic ─▶ loop j
///                     └─▶ the outer broker ─▶ other machines
///     other machines ─▶ the outer broker ─▶ the mailboxes of those loops that follow the topic
///
/// A table under a lock holds the topics that each loop follows. A mailbox has a bound; hints that arrive
/// when it is full are dropped and counted, and their news is found in the store. The outer broker follows the
/// topics of all loops.
package final class LoopBroker: Sendable {
  /// Hints that may wait for one loop.
  package static let countMax = 8_192
  /// Bytes of hints that may wait for one loop.
  package static let bytesMax = 4 << 20
  /// Bytes that a hint counts for beside its own.
  private static let overhead = 64

  private struct Mailbox {
    var news: [BrokerNews] = []
    var bytes = 0
    var state = BrokerState()
  }

  private struct State {
    var mailboxes: [Mailbox]
    /// The loops that follow a topic, by its bytes: names that look alike are not the same.
    var followers: [[UInt8]: Set<Int>] = [:]
    var outer: (any ServerBroker)?
  }

  private let state: Monitor<State>
  private let wake: @Sendable (Int) -> Void

  /// Makes empty mailboxes.
  ///
  /// - Parameters:
  ///   - count: The number of loops.
  ///   - wake: Called with the number of a loop that has news, on any thread.
  package init(count: Int, wake: @escaping @Sendable (Int) -> Void) {
    state = Monitor(State(mailboxes: Array(repeating: Mailbox(), count: count)))
    self.wake = wake
  }

  /// Connects a broker to other machines, which calls ``outerHasNews()`` when it has news.
  package func connect(to outer: any ServerBroker) {
    state.withLock { $0.outer = outer }
    // News may have come before this call.
    outerHasNews()
  }

  /// Reports that hints arrive although there is no broker to other machines: those of loops always do.
  package func standAlone() {
    let loops = state.withLock { state in
      for loop in state.mailboxes.indices {
        state.mailboxes[loop].news.append(.hints(arrive: true))
      }
      return state.mailboxes.indices
    }
    for loop in loops { wake(loop) }
  }

  /// The broker of one of the loops.
  package func end(of loop: Int) -> any ServerBroker { End(hub: self, loop: loop) }

  /// Distributes the hints that the outer broker has received.
  package func outerHasNews() {
    // Under one lock, so that of two threads that take news the first deals them out first.
    let woken = state.withLock { state in
      var woken: Set<Int> = []
      for item in state.outer?.takeNews() ?? [] {
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

  /// Ends the outer broker's threads.
  package func stop() { state.withLock { $0.outer }?.stop() }

  /// The counters of all loops together with those of the outer broker.
  package var counters: BrokerState {
    let (outer, inner) = state.withLock { ($0.outer, $0.mailboxes.map(\.state)) }
    var sum = outer?.state ?? BrokerState()
    // What loops tell each other always arrives.
    if outer == nil { sum.isConnected = true }
    for mailbox in inner {
      sum.published += mailbox.published
      // The outer broker has counted each hint once, however many loops it was for.
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
    // Under the lock, so that the outer broker gets `follow` and `leave` in their order.
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

  fileprivate func takeNews(of loop: Int) -> [BrokerNews] {
    state.withLock { state in
      defer {
        state.mailboxes[loop].news = []
        state.mailboxes[loop].bytes = 0
      }
      return state.mailboxes[loop].news
    }
  }

  /// Puts a hint into a mailbox that has room; returns whether the mailbox was empty.
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

  /// The broker as one loop sees it.
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
    func takeNews() -> [BrokerNews] { hub.takeNews(of: loop) }
    var state: BrokerState { hub.counters }
    func stop() {}
  }
}
