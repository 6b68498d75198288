import OTCore
import ParleyOTWorkloads
import Testing

/// Clients restored from a stored state that is older than the server's state.
@Suite("Restoring a kept state")
struct RestoringTests {
  private struct Entry {
    let isOwn: Bool
    let sequence: Int
    let operation: TextOperation
  }

  private func typing(_ text: String, at position: Int, in length: Int) -> TextOperation {
    var operation = TextOperation()
    operation.retain(position)
    operation.insert(text)
    operation.retain(length - position)
    return operation
  }

  /// Runs a client that types beside another one, stores its state once, and later ends. The
  /// restored client is edited at once, and then receives the log or the server's text.
  ///
  /// - Returns: The server's text, the client's text, and the number of occurrences of each typed
  ///   mark.
  private func run(
    seed: UInt64, bySnapshot: Bool
  ) throws -> (server: String, local: String, marks: [Int]) {
    var random = SplitMix64(seed: seed)
    var log: [Entry] = []
    var server = ServerSequencer(document: Document(""), revision: 0)
    var client = ClientSynchronizer(epoch: "e", revision: 0)
    var local = Document("")
    var known = Document("")
    var kept: (state: ClientSynchronizer.Kept, local: Document, known: Document)?
    var underWay: ClientSynchronizer.Change?
    // Marks are letters that no other text contains.
    var nextMark: UInt32 = 0x4e00
    func mark() -> String {
      defer { nextMark += 1 }
      return String(Unicode.Scalar(nextMark) ?? "?")
    }
    func serve(_ change: ClientSynchronizer.Change) throws {
      let stored = try server.submit(change.operation, at: change.revision)
      log.append(Entry(isOwn: true, sequence: change.sequence, operation: stored))
    }

    for _ in 0..<(6 + random.below(20)) {
      switch random.below(5) {
      case 0, 1:
        let typed = typing(mark(), at: random.below(local.scalarCount + 1), in: local.scalarCount)
        try local.apply(typed)
        underWay = try client.edit(typed) ?? underWay
      case 2:
        if let change = underWay {
          underWay = nil
          try serve(change)
        }
      case 3:
        let other = typing("o", at: 0, in: server.document.scalarCount)
        let stored = try server.submit(other, at: server.revision)
        log.append(Entry(isOwn: false, sequence: 0, operation: stored))
      default:
        // The client receives the revisions that it has missed.
        for entry in log[client.revision...] {
          if entry.isOwn {
            if let committed = client.unacknowledged { try known.apply(committed) }
            let next = try client.acknowledge(
              sequence: entry.sequence, revision: client.revision + 1)
            underWay = next ?? underWay
          } else {
            try known.apply(entry.operation)
            try local.apply(client.receive(entry.operation, revision: client.revision + 1))
          }
        }
      }
      if kept == nil || random.below(4) == 0 { kept = (client.kept, local, known) }
    }
    if let change = underWay, random.below(2) == 0 { try serve(change) }

    // The process ends and loses the edits that were neither stored nor sent.
    guard let kept else { return ("", "", []) }
    var restored = ClientSynchronizer(kept.state)
    local = kept.local
    known = kept.known
    let first = nextMark
    for round in 0..<(1 + random.below(3)) {
      let typed = typing(mark(), at: random.below(local.scalarCount + 1), in: local.scalarCount)
      try local.apply(typed)
      #expect(try restored.edit(typed) == nil)
      if round == 1 { restored = ClientSynchronizer(restored.kept) }
    }
    let last = log.last(where: \.isOwn)?.sequence ?? 0
    var next: ClientSynchronizer.Change?
    if bySnapshot {
      let (apply, send) = try restored.rebase(
        from: known, to: server.document, epoch: "e", revision: server.revision,
        lastSequence: last)
      try local.apply(apply)
      next = send
    } else {
      for entry in log[restored.revision...] {
        var after = known
        if !entry.isOwn {
          try after.apply(entry.operation)
          try local.apply(restored.receive(entry.operation, revision: restored.revision + 1))
        } else if restored.changeInFlight?.sequence == entry.sequence {
          if let committed = restored.unacknowledged { try after.apply(committed) }
          #expect(
            try restored.acknowledge(sequence: entry.sequence, revision: restored.revision + 1)
              == nil)
        } else {
          try after.apply(entry.operation)
          try local.apply(
            restored.supersede(
              from: known, to: after, sequence: entry.sequence, revision: restored.revision + 1))
        }
        known = after
      }
      next = restored.reconnect()
    }
    while let change = next {
      try serve(change)
      next = try restored.acknowledge(sequence: change.sequence, revision: server.revision)
    }
    #expect(restored.unconfirmedCount == 0)
    let text = server.document.text.unicodeScalars
    let marks = (first..<nextMark).map { mark in text.count { $0.value == mark } }
    // Earlier marks occur at most once, too.
    for mark in 0x4e00..<first { #expect(text.count { $0.value == mark } <= 1) }
    return (server.document.text, local.text, marks)
  }

  @Test(arguments: [false, true])
  func `nothing that is typed then is lost or doubled, whatever the server has`(
    bySnapshot: Bool
  ) throws {
    for seed in 1...2_000 as ClosedRange<UInt64> {
      let (server, local, marks) = try run(seed: seed, bySnapshot: bySnapshot)
      try #require(server.utf8.elementsEqual(local.utf8), "seed \(seed)")
      try #require(marks.allSatisfy { $0 == 1 }, "seed \(seed): \(marks)")
    }
  }
}
