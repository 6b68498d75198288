import OTCore
import ParleyOTWorkloads
import Testing

/// Clients and a server whose messages are delayed by random amounts.
@Suite("Convergence")
struct ConvergenceTests {
  private enum Message {
    case foreign(TextOperation, revision: Int)
    case own(sequence: Int, revision: Int)
  }

  private struct Peer {
    var synchronizer: ClientSynchronizer
    var text: [Unicode.Scalar]
    var toServer: [ClientSynchronizer.Change] = []
    var fromServer: [Message] = []
    var cursor = 0
  }

  /// Runs one history: clients type, messages are delayed at random, and finally all are delivered.
  private func run(seed: UInt64, clients: Int, steps: Int) throws {
    var random = SplitMix64(seed: seed)
    let start = RandomTexts.text(scalars: random.below(8), using: &random)
    var server = ServerSequencer(document: Document(start), revision: 0)
    var peers = (0..<clients).map { _ in
      Peer(synchronizer: ClientSynchronizer(epoch: "e", revision: 0), text: scalars(start))
    }

    func deliver(_ index: Int) throws {
      guard !peers[index].fromServer.isEmpty else { return }
      switch peers[index].fromServer.removeFirst() {
      case .foreign(let operation, let revision):
        let local = try peers[index].synchronizer.receive(operation, revision: revision)
        peers[index].text = ReferenceOperation(local).applied(to: peers[index].text)
      case .own(let sequence, let revision):
        if let next = try peers[index].synchronizer.acknowledge(
          sequence: sequence, revision: revision)
        {
          peers[index].toServer.append(next)
        }
      }
    }
    func serve(_ index: Int) throws {
      guard !peers[index].toServer.isEmpty else { return }
      let change = peers[index].toServer.removeFirst()
      let stored = try server.submit(change.operation, at: change.revision)
      for other in peers.indices {
        peers[other].fromServer.append(
          other == index
            ? .own(sequence: change.sequence, revision: server.revision)
            : .foreign(stored, revision: server.revision))
      }
    }

    for _ in 0..<steps {
      let index = random.below(clients)
      switch random.below(3) {
      case 0:
        let operation = TextOperation.random(
          length: peers[index].text.count, edits: random.between(1, 2), using: &random)
        peers[index].text = ReferenceOperation(operation).applied(to: peers[index].text)
        if let change = try peers[index].synchronizer.edit(operation) {
          peers[index].toServer.append(change)
        }
      case 1: try serve(index)
      default: try deliver(index)
      }
    }
    while peers.contains(where: { !$0.toServer.isEmpty || !$0.fromServer.isEmpty }) {
      for index in peers.indices {
        try serve(index)
        try deliver(index)
      }
    }
    for peer in peers {
      guard peer.synchronizer.unconfirmedCount == 0,
        scalars(server.document.text) == peer.text,
        peer.synchronizer.revision == server.revision
      else {
        Issue.record("seed \(seed): \(clients) clients end apart")
        return
      }
    }
  }

  /// 4,000 histories of three to eight clients.
  @Test(arguments: 0..<8)
  func `clients with delays end with the same text`(block: UInt64) throws {
    for seed in (block * 500)..<(block * 500 + 500) {
      try run(seed: seed, clients: 3 + Int(seed % 6), steps: 60)
    }
  }

  @Test(arguments: Seeds.smoke)
  func `long sessions converge`(seed: UInt64) throws {
    try run(seed: seed &* 7919, clients: 3, steps: 600)
  }

  @Test func `a sequencer rolls back the changes that are not durable`() throws {
    var server = ServerSequencer(document: Document("ab"), revision: 5)
    _ = try server.submit(op("=2 +c"), at: 5)
    server.markDurable(through: 6)
    _ = try server.submit(op("+x =2"), at: 5)
    _ = try server.submit(op("-2"), at: 5)
    #expect(server.document == Document("xc"))
    server.rollBack()
    #expect(server.revision == 6)
    #expect(server.document == Document("abc"))
    #expect(server.operations(after: 5).count == 1)
  }

  @Test func `a sequencer refuses revisions it cannot serve`() throws {
    var server = ServerSequencer(document: Document("ab"), revision: 5)
    #expect(throws: SequencerError.futureRevision(head: 5, found: 6)) {
      try server.submit(op("=2"), at: 6)
    }
    #expect(throws: SequencerError.negativeRevision(-1)) { try server.submit(op("=2"), at: -1) }
    #expect(throws: SequencerError.historyGone(oldestBase: 5)) {
      try server.submit(op("=2"), at: 4)
    }
    #expect(throws: SequencerError.self) { try server.submit(op("=3"), at: 5) }
    #expect(server.revision == 5)
    #expect(server.document == Document("ab"))
  }
}
