import Gateway
import ParleyGatewayPorts
import OTCore
import ParleyOTWorkloads
import ParleySimulationKit
import SocketMessages
import Testing

/// Nodes with one note and its users, driven by one seed. Users write, select, come, go and change
/// nodes; messages between nodes are lost, delayed and repeated; nodes are cut off and die. Each
/// client trusts what it receives.
struct NodesOfANote {
  /// A client as the protocol describes it. Its carets refer to the newest revision.
  private final class Client {
    var name: String
    var id = ""
    var claim: ClientMessage.Hello.Claim?
    var node = 0
    var line: UInt64 = 0
    var revision = 0
    var length = 0
    var sequence = 0
    var unanswered: TextOperation?
    var people: [String: String] = [:]
    var carets: [String: [Selection]] = [:]
    /// The client's own carets, and their revision.
    var own: (selections: [Selection], revision: Int)?

    init(name: String) { self.name = name }

    private func move(over operation: TextOperation, by author: String) {
      for (client, selections) in carets {
        carets[client] = selections.map { $0.transformed(over: operation, own: client == author) }
      }
      #expect(operation.baseLength == length)
      length = operation.targetLength
      revision += 1
    }

    func take(_ message: ServerMessage) throws {
      switch message {
      case .joined(let joined):
        guard case .text(let text) = joined.content else { throw Unexpected(message: message) }
        (revision, length) = (joined.revision, text.unicodeScalars.count)
        sequence = joined.lastSequence
        (people, carets) = ([:], [:])
        note(joined.presence)
        for person in joined.presence { carets[person.clientID] = person.selections }
      case .presence(let presence):
        #expect(presence.people == nil)
        note(presence.joined)
        for person in presence.joined { carets[person.clientID] = nil }
        for person in presence.updated { people[person.clientID] = person.name }
        for client in presence.left { (people[client], carets[client]) = (nil, nil) }
      case .selections(let selections):
        #expect(selections.revision == revision, "carets are on the receiver's own revision")
        #expect(people[selections.clientID] != nil, "carets of nobody")
        for selection in selections.selections {
          #expect((0...length).contains(selection.anchor) && (0...length).contains(selection.head))
        }
        carets[selections.clientID] = selections.selections
      case .changes(let changes):
        for change in changes.changes {
          if let own = unanswered {
            unanswered = try TextOperation.transform(change.operation, own).bAfterA
          }
          move(over: change.operation, by: change.clientID)
        }
      case .acknowledged(let answer):
        let own = try #require(unanswered)
        unanswered = nil
        move(over: own, by: id)
        #expect(answer.revision == revision)
        sequence = answer.sequence
      case .refused: throw Unexpected(message: message)
      default: break
      }
    }

    private func note(_ participants: [ServerMessage.Participant]) {
      for person in participants where person.clientID != id {
        people[person.clientID] = person.name
      }
    }
  }

  private let seed: UInt64
  private var random: SplitMix64
  private let store = MemoryStore(isShared: true)
  private var nodes: [GatewayRig] = []
  private var clients: [Client] = []
  /// Connections that are dead at the client's end only.
  private var deadConnections: [(node: Int, line: UInt64)] = []
  private var hints: [(node: Int, topic: String, bytes: [UInt8])] = []
  private var cut: Set<Int> = []
  private var generation = 0
  private var isLossy = true

  init(seed: UInt64, nodes count: Int) {
    self.seed = seed
    random = SplitMix64(seed: seed &* 31 &+ UInt64(count))
    for _ in 0..<count { nodes.append(makeNode()) }
    nodes[0].make("n1")
  }

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

  private mutating func makeNode() -> GatewayRig {
    generation += 1
    let node = GatewayRig(isDemo: true, store: store, prefix: "g\(generation)-") {
      $0.sharesStore = true
    }
    // The clocks of the nodes differ.
    node.clock.advance(milliseconds: Int64(below(1_000_000)))
    node.hintsArrive()
    return node
  }

  // MARK: Words between nodes

  private mutating func collect(from sender: Int) {
    for hint in nodes[sender].takeHints() {
      for node in nodes.indices where node != sender && nodes[node].topics.contains(hint.topic) {
        if cut.contains(node) || cut.contains(sender) { continue }
        if isLossy, below(10) < 2 { continue }
        hints.append((node, hint.topic, hint.bytes))
        if isLossy, below(10) == 0 { hints.append((node, hint.topic, hint.bytes)) }
      }
    }
  }

  /// Delivers hints: each time one of the first six, or, without losses, the first.
  private mutating func deliver(_ count: Int) {
    for _ in 0..<count where !hints.isEmpty {
      let hint = hints.remove(at: isLossy ? below(min(hints.count, 6)) : 0)
      nodes[hint.node].hear(hint.topic, hint.bytes)
      collect(from: hint.node)
    }
  }

  // MARK: Clients

  private mutating func say(_ client: Client, _ message: ClientMessage) throws {
    var bytes: [UInt8] = []
    message.encode(messageID: "m", into: &bytes)
    nodes[client.node].say(client.line, String(decoding: bytes, as: UTF8.self))
    collect(from: client.node)
    try read()
  }

  /// Lets all clients read their messages.
  private func read() throws {
    for client in clients where client.line != 0 {
      for message in nodes[client.node].pushes(client.line) { try client.take(message) }
    }
  }

  private mutating func connect(_ client: Client, to node: Int) throws {
    client.node = node
    client.unanswered = nil
    client.own = nil
    let (line, welcome) = try nodes[node].connectNative(
      nil, name: client.name, client: client.claim)
    client.line = line
    client.id = welcome.clientID
    client.claim = .init(id: welcome.clientID, resumeToken: welcome.resumeToken)
    collect(from: node)
    try say(client, .join(.init(documentID: "n1")))
  }

  private mutating func type(_ client: Client) throws {
    guard client.line != 0, client.unanswered == nil else { return }
    var operation = TextOperation()
    let place = below(client.length + 1)
    let deleted = below(3) == 0 ? below(min(client.length - place, 6) + 1) : 0
    operation.retain(place)
    operation.insert(
      deleted > 0 && below(2) == 0 ? "" : String(repeating: "x", count: 1 + below(3)))
    operation.delete(deleted)
    operation.retain(client.length - place - deleted)
    client.unanswered = operation
    try say(
      client,
      .change(
        .init(
          documentID: "n1", epoch: "epoch of n1", revision: client.revision,
          sequence: client.sequence + 1, operation: operation)))
  }

  private mutating func select(_ client: Client) throws {
    guard client.line != 0, client.unanswered == nil else { return }
    let selections = (0..<below(3)).map { _ in
      Selection(anchor: below(client.length + 1), head: below(client.length + 1))
    }
    client.own = (selections, client.revision)
    try say(
      client,
      .select(.init(documentID: "n1", revision: client.revision, selections: selections)))
  }

  /// Ends a client's connection. The node notices either at once or later.
  private mutating func hangUp(_ client: Client) {
    guard client.line != 0 else { return }
    if below(2) == 0 {
      nodes[client.node].close(client.line)
      collect(from: client.node)
    } else {
      deadConnections.append((client.node, client.line))
    }
    client.line = 0
  }

  private mutating func closeOneDeadConnection() {
    guard !deadConnections.isEmpty else { return }
    let dead = deadConnections.remove(at: below(deadConnections.count))
    nodes[dead.node].close(dead.line)
    collect(from: dead.node)
  }

  private mutating func kill(_ node: Int) throws {
    deadConnections.removeAll { $0.node == node }
    hints.removeAll { $0.node == node }
    for client in clients where client.line != 0 && client.node == node { client.line = 0 }
    nodes[node] = makeNode()
  }

  private mutating func pass(milliseconds: Int64) {
    for node in nodes.indices {
      nodes[node].pass(milliseconds: milliseconds)
      collect(from: node)
    }
  }

  // MARK: A run

  private mutating func step() throws {
    let client = clients.isEmpty ? nil : clients[below(clients.count)]
    switch below(20) {
    case 0:
      if clients.count < 7 {
        let newcomer = Client(name: "N\(generation)-\(clients.count)")
        clients.append(newcomer)
        try connect(newcomer, to: below(nodes.count))
      }
    case 1: if let client, below(3) == 0 { hangUp(client) }
    case 2, 3: if let client, client.line == 0 { try connect(client, to: below(nodes.count)) }
    case 4: if below(3) == 0 { closeOneDeadConnection() }
    case 5, 6, 7: if let client { try type(client) }
    case 8, 9, 10: if let client { try select(client) }
    case 11:
      if let client, client.line != 0 {
        if below(2) == 0 {
          client.name += "'"
          try say(client, .profile(.init(name: client.name)))
        } else {
          // The client joins again on the same connection.
          try say(client, .join(.init(documentID: "n1")))
        }
      }
    case 12: if nodes.count > 1, below(12) == 0 { try kill(below(nodes.count)) }
    case 13:
      if nodes.count > 1, below(4) == 0 {
        let node = below(nodes.count)
        if cut.remove(node) == nil { cut.insert(node) }
      }
    case 14, 15, 16: deliver(1 + below(6))
    default: pass(milliseconds: Int64(below(400)))
    }
    try read()
  }

  mutating func run() throws {
    for _ in 0..<500 { try step() }
    isLossy = false
    cut = []
    while !deadConnections.isEmpty { closeOneDeadConnection() }
    // Long enough for all nodes to drop nodes that have died.
    for _ in 0..<26 {
      deliver(hints.count)
      pass(milliseconds: 250)
      while !hints.isEmpty { deliver(hints.count) }
      try read()
    }
    try check()
  }

  private func check() throws {
    let log = try #require(store.log(of: "n1"))
    let here = clients.filter { $0.line != 0 }
    for client in here {
      #expect(client.revision == log.count, "seed \(seed): \(client.name)")
      let others = here.filter { $0 !== client }
      #expect(
        client.people == Dictionary(uniqueKeysWithValues: others.map { ($0.id, $0.name) }),
        "seed \(seed): people as \(client.name) at node \(client.node) knows them")
      for other in others {
        var expected = other.own?.selections ?? []
        for entry in log.dropFirst(other.own?.revision ?? log.count) {
          expected = expected.map {
            $0.transformed(over: entry.operation, own: entry.client == other.id)
          }
        }
        #expect(
          client.carets[other.id] ?? [] == expected,
          "seed \(seed): carets of \(other.name) as \(client.name) knows them")
      }
    }
  }
}
