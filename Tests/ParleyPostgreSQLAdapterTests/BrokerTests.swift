import ParleyPostgreSQLAdapter
import ParleyBrokerQueues
import ParleyGatewayPorts
import Glibc
import Synchronization
import Testing

/// A node's broker, and the events that it reports.
private final class Node: Sendable {
  fileprivate let broker: any ServerBroker
  fileprivate let heard = Mutex<[BrokerEvent]>([])

  init(_ address: String, secret: [UInt8] = [1, 2, 3]) throws {
    broker = PostgresBroker.start(
      try #require(PostgresAddress(address)), secret: secret, log: Silence()
    ) {}
  }

  deinit { broker.stop() }

  var state: BrokerState { broker.state }

  func publish(_ topic: String, _ bytes: [UInt8]) { broker.publish(topic, bytes) }
  func follow(_ topic: String) { broker.follow(topic) }
  func leave(_ topic: String) { broker.leave(topic) }

  /// Waits until an event has been reported, and returns all events so far.
  @discardableResult
  func wait(for news: BrokerEvent) -> [BrokerEvent] {
    while true {
      let all = heard.withLock { heard in
        heard += broker.takeEvents()
        return heard
      }
      if all.contains(news) { return all }
      poll(nil, 0, 2)
    }
  }

  func forget() { heard.withLock { $0 = [] } }
}

private struct Silence: LogSink {
  var level: LogLevel { .error }
  func write(_ level: LogLevel, _ message: String, _ data: [(key: String, value: String)]) {}
}

@Suite("Hints by PostgreSQL", .timeLimit(.minutes(30)))
struct BrokerTests {
  private func server() throws -> PostgresServer { try PostgresServer.shared.get() }

  /// Returns when each of the nodes listens to what another sends.
  private func meet(_ nodes: [Node]) {
    for node in nodes { node.wait(for: .hints(arrive: true)) }
    for (place, node) in nodes.enumerated() { node.follow("meeting \(place)") }
    for (from, sender) in nodes.enumerated() {
      for (to, receiver) in nodes.enumerated() where from != to {
        let word = [UInt8(from)]
        while !receiver.hasHeard(.heard(topic: "meeting \(to)", bytes: word)) {
          sender.publish("meeting \(to)", word)
          poll(nil, 0, 5)
        }
      }
    }
    for (place, node) in nodes.enumerated() {
      node.leave("meeting \(place)")
      node.forget()
    }
  }

  @Test("hints reach the other followers of their topic unchanged")
  func passing() throws {
    let address = try server().newDatabase()
    let nodes = try (0..<3).map { _ in try Node(address) }
    meet(nodes)
    let topics = ["note/a", "note/é", "note/e\u{301}", "note/\0\"'\\{},"]
    let end = BrokerEvent.heard(topic: "end", bytes: [1])
    let contents: [[UInt8]] = [[], [0], Array("41".utf8), Array(repeating: 255, count: 4_096)]
    nodes[1].follow("end")
    nodes[2].follow("end")
    for topic in topics { nodes[1].follow(topic) }
    // A channel is listened to some time after it was asked for, in the order of asking.
    let first = (topic: topics[3], bytes: [UInt8](repeating: 1, count: 2))
    for (node, topic) in [(nodes[1], first.topic), (nodes[2], "end")] {
      while !node.hasHeard(.heard(topic: topic, bytes: first.bytes)) {
        nodes[0].publish(topic, first.bytes)
        poll(nil, 0, 5)
      }
    }
    var expected: [BrokerEvent] = []
    for topic in topics {
      for content in contents {
        nodes[0].publish(topic, content)
        expected.append(.heard(topic: topic, bytes: content))
      }
    }
    nodes[0].publish("end", [1])
    expected.append(end)
    for (node, expected) in [(nodes[1], expected), (nodes[2], [end])] {
      let heard = node.wait(for: end).filter { news in
        guard case .heard(_, let bytes) = news else { return true }
        return bytes != first.bytes
      }
      #expect(heard == expected)
    }
    #expect(!nodes[0].hasHeard(.heard(topic: "end", bytes: [1])), "it hears itself")
    #expect(nodes[0].state.lag.count > 0)
  }

  @Test("a hint that is too long, and more than there is room for, is dropped and counted")
  func bounds() throws {
    // No server is there to take them.
    let node = try Node("postgres:///none?host=/nonexistent")
    node.publish("note/a", Array(repeating: 0, count: 4_097))
    node.publish(String(repeating: "x", count: 1_025), [])
    #expect(node.state.dropped == ["size": 2])
    for _ in 0..<10_000 { node.publish("note/a", [1]) }
    #expect(node.state.dropped["outgoing"] == 10_000 - 8_192)
    #expect(!node.state.isConnected)
  }

  @Test("clusters that share a database by mistake receive no hints of each other")
  func foreign() throws {
    let address = try server().newDatabase()
    let nodes = try [Node(address), Node(address)]
    let other = try Node(address, secret: [9])
    meet(nodes)
    other.wait(for: .hints(arrive: true))
    other.follow("note/a")
    nodes[1].follow("note/a")
    // What listens where is known to the database: a stranger may say anything there.
    let cluster = HintFrame(secret: [1, 2, 3]).cluster
    for channel in 0..<64 {
      for words in ["", "41", "AAAA", "not base64", String(repeating: "QUFB", count: 200)] {
        try server().execute("NOTIFY parley_\(cluster)_\(channel), '\(words)'", in: address)
      }
    }
    while nodes[1].state.foreign == 0 { poll(nil, 0, 5) }
    other.publish("note/a", [7])
    while !nodes[1].hasHeard(.heard(topic: "note/a", bytes: [2])) {
      nodes[0].publish("note/a", [2])
      poll(nil, 0, 5)
    }
    #expect(!nodes[1].hasHeard(.heard(topic: "note/a", bytes: [7])))
    #expect(!other.hasHeard(.heard(topic: "note/a", bytes: [2])))
  }

  @Test("it reconnects when the connection breaks or falls silent, and says so")
  func reconnecting() throws {
    let address = try server().newDatabase()
    let proxy = try PostgresProxy(to: server())
    let line = address.replacing(try server().folder, with: proxy.folder)
    let node = try Node(line)
    let other = try Node(address)
    meet([node, other])
    node.follow("note/a")
    for (number, trouble) in [PostgresProxy.Trouble.loseRequest, .silence].enumerated() {
      node.forget()
      proxy.bring(trouble)
      node.wait(for: .hints(arrive: true))
      #expect(node.state.reconnections == number + 1)
      // It still follows its topics.
      while !node.hasHeard(.heard(topic: "note/a", bytes: [UInt8(number)])) {
        other.publish("note/a", [UInt8(number)])
        poll(nil, 0, 5)
      }
    }
  }

  @Test("frames are decoded, and other bytes are rejected")
  func frames() {
    let frame = HintFrame(secret: [1])
    let bytes = frame.encoded(topic: "note/é", [0, 255])
    let content = frame.decoded(bytes)
    #expect(content?.node == frame.node)
    #expect(content?.topic == Array("note/é".utf8))
    #expect(content?.bytes == [0, 255])
    for place in bytes.indices {
      var spoilt = bytes
      spoilt[place] ^= 1
      #expect(frame.decoded(spoilt) == nil)
      #expect(frame.decoded(Array(bytes[..<place])) == nil)
    }
    #expect(HintFrame(secret: [2]).decoded(bytes) == nil)
    #expect(HintFrame(secret: [1]).decoded(bytes) != nil)
    #expect(HintFrame(secret: [1]).cluster == frame.cluster)
    #expect(HintFrame(secret: [1]).node != frame.node)
  }
}

extension Node {
  fileprivate func hasHeard(_ news: BrokerEvent) -> Bool {
    heard.withLock { heard in
      heard += broker.takeEvents()
      return heard.contains(news)
    }
  }
}
