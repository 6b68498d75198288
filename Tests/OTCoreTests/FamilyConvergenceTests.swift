import OTCore
import ParleyOTWorkloads
import Testing

/// Clients of several families and their server, with delays, cut lines and lost commits.
@Suite("Convergence of families")
struct FamilyConvergenceTests {
  /// A message to a client.
  private enum Message {
    case foreign(TextOperation, revision: Int)
    case own(revision: Int)
  }

  /// A client of a family: operations that are not acknowledged yet, of which the first is in
  /// flight.
  private struct Twin {
    let rules: FamilyRules
    var text: UnitText
    var revision = 0
    var pending: [TextOperation] = []
    var isSent = false
    /// The id of its connection. Each has a new one.
    var connection: Int
    var toServer: [(operation: TextOperation, base: Int)] = []
    var fromServer: [Message] = []

    mutating func type(using random: inout SplitMix64) throws {
      let operation = text.randomOperation(using: &random)
      guard let next = text.applying(operation) else { throw Fault.baseLength }
      text = next
      pending.append(rules.order == .insertFirst ? operation.insertingFirst() : operation)
      send()
    }

    mutating func send() {
      guard !isSent, let first = pending.first else { return }
      isSent = true
      toServer.append((first, revision))
    }

    mutating func receive(_ message: Message) throws {
      switch message {
      case .own(let number):
        guard number == revision + 1, isSent else { throw Fault.acknowledgement }
        revision = number
        pending.removeFirst()
        isSent = false
        send()
      case .foreign(var operation, let number):
        guard number == revision + 1 else { throw Fault.gap }
        revision = number
        for index in pending.indices {
          let own = pending[index]
          pending[index] = try own.rebased(over: [operation], by: rules)
          operation = try operation.transformed(
            over: own, side: rules.side == .left ? .right : .left)
          if rules.order == .insertFirst { operation = operation.insertingFirst() }
        }
        guard let next = text.applying(operation) else { throw Fault.baseLength }
        text = next
      }
    }

    mutating func cut(_ newConnection: Int) {
      connection = newConnection
      toServer = []
      fromServer = []
      isSent = false
    }
  }

  private enum Fault: Error { case baseLength, acknowledgement, gap }

  /// The server, with the author of each entry.
  private struct Server {
    var sequencer: ServerSequencer
    var view: FamilyView
    /// The connection that committed each entry.
    var authors: [Int] = []
    var delivered = 0

    init(_ text: String) {
      sequencer = ServerSequencer(document: Document(text), revision: 0)
      view = FamilyView(.otJS, at: 0)
    }

    mutating func submit(_ operation: TextOperation, at base: Int, of twin: Twin) throws {
      let own = try sequencer.rebased(operation, at: base, by: twin.rules, in: view)
      _ = try sequencer.submit(own, at: sequencer.revision)
      authors.append(twin.connection)
    }

    /// Makes all entries durable.
    mutating func sync() throws {
      var text = sequencer.durableDocument
      for entry in sequencer.operations(after: sequencer.durableRevision) {
        try view.append(entry, on: text)
        try text.apply(entry)
      }
      sequencer.markDurable(through: sequencer.revision)
    }

    mutating func crash() {
      sequencer.rollBack()
      authors.removeLast(authors.count - sequencer.revision)
    }
  }

  private struct Run {
    var random: SplitMix64
    var server: Server
    var twins: [Twin] = []
    var connections = 0
    /// The connections that each twin has had.
    var former: [Set<Int>] = []
    var typed = 0

    init(seed: UInt64, families: [FamilyRules]) {
      random = SplitMix64(seed: seed)
      let start = RandomTexts.text(scalars: random.below(8), using: &random)
      server = Server(start)
      for rules in families {
        connections += 1
        twins.append(Twin(rules: rules, text: UnitText(start, rules.unit), connection: connections))
        former.append([])
      }
    }

    /// Handles the next operation of a client that has a line.
    mutating func serve(_ index: Int) throws {
      guard !twins[index].toServer.isEmpty else { return }
      let (operation, base) = twins[index].toServer.removeFirst()
      let ended = former[index]
      let authors = server.authors
      let known = try server.sequencer.repetition(
        of: operation, at: base, by: twins[index].rules, in: server.view
      ) { ended.contains(authors[$0 - 1]) }
      if known == nil { try server.submit(operation, at: base, of: twins[index]) }
    }

    /// Sends new durable entries to all.
    mutating func sync() throws {
      try server.sync()
      for revision in server.delivered..<server.sequencer.durableRevision {
        for index in twins.indices
        where twins[index].revision + twins[index].fromServer.count == revision {
          push(revision, to: index)
        }
      }
      server.delivered = server.sequencer.durableRevision
    }

    mutating func push(_ revision: Int, to index: Int) {
      let author = server.authors[revision]
      let isOwn = author == twins[index].connection || former[index].contains(author)
      let rules = twins[index].rules
      let entry =
        rules.unit == .utf16
        ? server.view.operations(after: revision)[revision]
        : server.sequencer.operations(after: revision).first ?? TextOperation()
      twins[index].fromServer.append(
        isOwn
          ? .own(revision: revision + 1)
          : .foreign(
            rules.order == .insertFirst ? entry.insertingFirst() : entry, revision: revision + 1))
    }

    mutating func deliver(_ index: Int) throws {
      guard !twins[index].fromServer.isEmpty else { return }
      let message = twins[index].fromServer.removeFirst()
      try twins[index].receive(message)
    }

    /// Cuts a client's line. It sends what has no answer again, and gets what it has missed.
    mutating func cut(_ index: Int) throws {
      former[index].insert(twins[index].connection)
      connections += 1
      twins[index].cut(connections)
      twins[index].send()
      try serve(index)
      for revision in twins[index].revision..<server.delivered { push(revision, to: index) }
    }

    mutating func step() throws {
      let index = random.below(twins.count)
      switch random.below(24) {
      case 0..<8:
        try twins[index].type(using: &random)
        typed += 1
      case 8..<14: try serve(index)
      case 14..<20: try deliver(index)
      case 20..<22: try sync()
      case 22: try cut(index)
      default:
        guard random.below(4) == 0 else { return }
        server.crash()
        for index in twins.indices { try cut(index) }
      }
    }

    mutating func settle() throws {
      while twins.contains(where: {
        !$0.toServer.isEmpty || !$0.fromServer.isEmpty || !$0.pending.isEmpty
      }) || server.sequencer.revision > server.delivered {
        for index in twins.indices {
          try serve(index)
          try sync()
          try deliver(index)
        }
      }
    }
  }

  /// Texts of all clients equal the server's, and each operation is in the log once.
  private func check(seed: UInt64, families: [FamilyRules], steps: Int) throws {
    var run = Run(seed: seed, families: families)
    for _ in 0..<steps { try run.step() }
    try run.settle()
    let text = run.server.sequencer.document.text
    for twin in run.twins {
      #expect(twin.text == UnitText(text, twin.rules.unit), "seed \(seed)")
    }
    #expect(run.server.sequencer.revision == run.typed, "seed \(seed)")
  }

  private static let mixtures: [[FamilyRules]] = [
    [.native, .otJS, .rustpad, .shareDBText], [.otJS, .otJS], [.rustpad, .native, .rustpad],
    [.shareDBText, .shareDBText, .otJS], [.otJS, .rustpad],
  ]

  @Test("any mixture of families ends with one text", arguments: 0..<4)
  func mixture(block: UInt64) throws {
    for seed in (block * 150)..<(block * 150 + 150) {
      let families = Self.mixtures[Int(seed) % Self.mixtures.count]
      do { try check(seed: seed, families: families, steps: 80) } catch {
        Issue.record("seed \(seed): \(error)")
        return
      }
    }
  }
}
