import ParleyBrokerNATS
import ParleyBrokerQueues
import ParleyGatewayPorts
import Glibc
import Synchronization
import Testing

/// A node's broker, and the events that it reports.
private final class Node: Sendable {
  fileprivate let broker: any ServerBroker
  private let heard = Mutex<[BrokerEvent]>([])

  init(_ address: String, secret: [UInt8] = [1, 2, 3]) throws {
    broker = NATSBroker.start(try #require(NATSAddress(address)), secret: secret, log: Silence()) {}
  }

  deinit { broker.stop() }

  var state: BrokerState { broker.state }

  func publish(_ topic: String, _ bytes: [UInt8]) { broker.publish(topic, bytes) }
  func follow(_ topic: String) { broker.follow(topic) }

  func hasHeard(_ news: BrokerEvent) -> Bool {
    heard.withLock { heard in
      heard += broker.takeEvents()
      return heard.contains(news)
    }
  }

  func wait(for news: BrokerEvent) { while !hasHeard(news) { poll(nil, 0, 2) } }

  func forget() { heard.withLock { $0 = [] } }

  /// Waits until a hint of another's has come.
  func wait(for topic: String, _ bytes: [UInt8], from other: Node) {
    while !hasHeard(.heard(topic: topic, bytes: bytes)) {
      other.publish(topic, bytes)
      poll(nil, 0, 5)
    }
  }
}

private struct Silence: LogSink {
  var level: LogLevel { .error }
  func write(_ level: LogLevel, _ message: String, _ data: [(key: String, value: String)]) {}
}

@Suite("Hints by NATS", .timeLimit(.minutes(30)))
struct BrokerTests {
  @Test("hints reach the other followers of their topic unchanged")
  func passing() throws {
    let server = try NATSServer()
    let nodes = try (0..<3).map { _ in try Node(server.address) }
    for node in nodes { node.wait(for: .hints(arrive: true)) }
    let topics = ["note/a", "note/é", "note/e\u{301}", "note/\0 *.>"]
    for topic in topics {
      nodes[1].follow(topic)
      for bytes: [UInt8] in [[], [0, 13, 10], Array(repeating: 255, count: 4_096)] {
        nodes[1].wait(for: topic, bytes, from: nodes[0])
      }
    }
    nodes[2].follow("end")
    nodes[2].wait(for: "end", [1], from: nodes[0])
    #expect(!nodes[2].hasHeard(.heard(topic: topics[0], bytes: [])))
    nodes[0].follow("end")
    nodes[0].wait(for: "end", [2], from: nodes[1])
    #expect(!nodes[0].hasHeard(.heard(topic: "end", bytes: [1])), "it hears itself")
    #expect(nodes[0].state.lag.count > 0)
  }

  @Test("a stopped broker is released, connected or not")
  func forgotten() throws {
    let server = try NATSServer()
    for address in [server.address, "nats://127.0.0.1:1"] {
      weak var broker: (any ServerBroker)?
      try {
        let node = try Node(address)
        node.follow("note/a")
        if address == server.address {
          node.wait(for: .hints(arrive: true))
        } else {
          node.publish("note/a", [1])
          while node.state.dropped["unconnected"] == nil { poll(nil, 0, 2) }
        }
        broker = node.broker
      }()
      // The library's threads have a last call to make.
      for _ in 0..<2_000 where broker != nil { poll(nil, 0, 5) }
      #expect(broker == nil, "\(address)")
    }
  }

  @Test("clusters that share a server by mistake do not receive each other's hints")
  func foreign() throws {
    let server = try NATSServer()
    let nodes = try [Node(server.address), Node(server.address)]
    let other = try Node(server.address, secret: [9])
    for node in nodes + [other] {
      node.wait(for: .hints(arrive: true))
      node.follow("note/a")
    }
    nodes[1].wait(for: "note/a", [1], from: nodes[0])
    other.publish("note/a", [7])
    nodes[0].wait(for: "note/a", [2], from: nodes[1])
    #expect(!nodes[1].hasHeard(.heard(topic: "note/a", bytes: [7])))
    #expect(!other.hasHeard(.heard(topic: "note/a", bytes: [1])))
  }

  @Test("a message that a stranger sends under the name of a node is ignored")
  func limitedClient() throws {
    let server = try NATSServer()
    let node = try Node(server.address)
    node.wait(for: .hints(arrive: true))
    let line = try server.limitedClient()
    defer { close(line) }
    server.say("CONNECT {\"verbose\":false}\r\nSUB parley.*.node.* 1\r\n", on: line)
    // Its own message, as all can hear it: under which subject, and of what bytes.
    let (subject, heard) = try server.hear(on: line)
    let foreign = node.state.foreign
    let words = [
      "-9223372036854775808", "-4600000000000000000", "-4600000000000000000", "1", "x", "",
    ]
    for word in words.map({ Array($0.utf8) }) + [heard] {
      server.say("PUB \(subject) \(word.count)\r\n", on: line)
      server.say(word + Array("\r\n".utf8), on: line)
    }
    while node.state.foreign < foreign + words.count + 1 { poll(nil, 0, 5) }
    let lag = node.state.lag
    #expect(lag.sum >= 0 && lag.sum < 60_000_000 * Int64(lag.count))
    // It still hears itself.
    while node.state.lag.count == lag.count { poll(nil, 0, 5) }
  }

  @Test("hints resume after the server was absent, killed or stopped")
  func reconnecting() throws {
    let server = try NATSServer()
    server.stop()
    let nodes = try [Node(server.address), Node(server.address)]
    nodes[0].follow("note/a")
    try server.startAgain()
    for node in nodes { node.wait(for: .hints(arrive: true)) }
    nodes[0].wait(for: "note/a", [0], from: nodes[1])
    for (number, isKilled) in [true, false].enumerated() {
      for node in nodes { node.forget() }
      isKilled ? server.stop() : server.pause(true)
      for node in nodes { node.wait(for: .hints(arrive: false)) }
      if isKilled { try server.startAgain() } else { server.pause(false) }
      for node in nodes { node.wait(for: .hints(arrive: true)) }
      nodes[0].wait(for: "note/a", [UInt8(number + 1)], from: nodes[1])
      #expect(nodes[0].state.reconnections == number + 1)
    }
  }

  @Test(
    "addresses are shown without names and passwords",
    arguments: [
      ("nats://ann:hidden@one:4222", "nats://one:4222"), ("tls://h", "tls://h"),
      ("nats://a@one,nats://two:1", "nats://one,nats://two:1"),
      ("nats://[::1]:4222", "nats://[::1]:4222"),
      ("nats://", nil), ("nats://one,", nil), ("nats://one:0", nil), ("nats://one:70000", nil),
      ("nats://one/x", nil), ("http://one", nil), ("nats://o ne", nil), ("", nil),
    ])
  func addresses(text: String, shown: String?) {
    let address = NATSAddress(text)
    #expect(address?.description == shown)
    var dumped = ""
    if let address { dump(address, to: &dumped) }
    #expect(!dumped.contains("hidden"))
  }
}
