import ParleyGrowthKit
import OTCore
import ParleyOTWorkloads
import Testing

/// Long runs of waiting edits: offline, or behind a change in flight.
@Suite("A client's queue of edits", .serialized)
struct ClientQueueTests {
  /// Returns successive edits at random positions of a text of `length` scalars.
  private static func edits(
    _ count: Int, length: Int, using random: inout SplitMix64
  ) -> [TextOperation] {
    var length = length
    return (0..<count).map { _ in
      let edit = TextOperation.random(length: length, edits: random.between(1, 2), using: &random)
      length = edit.targetLength
      return edit
    }
  }

  private static func offline(_ revision: Int = 0) -> ClientSynchronizer {
    var client = ClientSynchronizer(epoch: "e", revision: revision)
    client.disconnect()
    return client
  }

  @Test(arguments: Seeds.smoke)
  func `the waiting operation is the composition of all edits`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let length = random.below(60)
    var client = Self.offline()
    var whole = TextOperation.identity(length: length)
    for (index, edit) in Self.edits(200, length: length, using: &random).enumerated() {
      #expect(try client.edit(edit) == nil)
      whole = try whole.composed(with: edit)
      #expect(client.unconfirmedCount == index + 1)
      if index % 20 == 0 {
        #expect(client.pending == whole)
        #expect(client.kept.buffer == whole)
        #expect(client.kept.bufferedEdits == index + 1)
      }
    }
    let sent = client.reconnect()
    #expect(sent?.operation == whole)
    #expect(client.unconfirmedCount == 1)
  }

  @Test(arguments: Seeds.smoke)
  func `another client's operations are transformed over all waiting edits`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let text = RandomTexts.text(scalars: random.below(40), using: &random)
    var client = Self.offline()
    var server = Document(text)
    var local = Document(text)
    for step in 0..<200 {
      if step % 10 == 9 {
        let remote = TextOperation.random(length: server.scalarCount, edits: 3, using: &random)
        try server.apply(remote)
        try local.apply(client.receive(remote, revision: client.revision + 1))
      } else {
        let edit = TextOperation.random(length: local.scalarCount, edits: 1, using: &random)
        try local.apply(edit)
        _ = try client.edit(edit)
      }
    }
    var merged = server
    try merged.apply(#require(client.pending))
    #expect(merged == local)
  }

  @Test func `an edit whose base length is not the current length is refused`() throws {
    var client = Self.offline()
    _ = try client.edit(op("=3 +ab"))
    for base in [3, 6] {
      #expect(throws: SynchronizerError.operation(.lengthMismatch(expected: 5, found: base))) {
        _ = try client.edit(.identity(length: base))
      }
    }
    #expect(client.pending == op("=3 +ab"))
    #expect(client.unconfirmedCount == 1)
  }

  @Test func `restoring drops stored operations whose lengths do not match`() {
    var kept = ClientSynchronizer.Kept(epoch: "e", revision: 3, nextSequence: 2)
    kept.inFlight = ClientSynchronizer.Change(sequence: 1, revision: 3, operation: op("=3 +a"))
    kept.buffer = op("=5 +b")
    kept.afterRestoring = op("=6 +c")
    let client = ClientSynchronizer(kept)
    #expect(client.pending == op("=3 +a"))
    #expect(client.unconfirmedCount == 1)
  }

  @Test(arguments: Seeds.smoke)
  func `a too large operation is sent in parts, and nothing is lost`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let text = RandomTexts.text(scalars: 200, using: &random)
    let limits = OperationLimits(
      componentsMax: random.between(3, 20), jsonBytesMax: random.between(64, 300))
    var server = ServerSequencer(document: Document(text), revision: 0)
    var client = Self.offline()
    client.limits = limits
    var local = Document(text)
    func type() throws -> ClientSynchronizer.Change? {
      let edit = TextOperation.random(length: local.scalarCount, edits: 8, using: &random)
      try local.apply(edit)
      return try client.edit(edit)
    }
    for _ in 0..<30 { #expect(try type() == nil) }
    var next = client.reconnect()
    var trips = 0
    while let change = next {
      trips += 1
      #expect(change.sequence == trips)
      #expect(change.operation.componentCount <= limits.componentsMax)
      #expect(json(change.operation).utf8.count <= limits.jsonBytesMax)
      // Other clients write between the parts, the author types on, and the process restarts once.
      if trips % 2 == 0 {
        let other = TextOperation.random(length: server.document.scalarCount, using: &random)
        _ = try server.submit(other, at: server.revision)
        try local.apply(client.receive(other, revision: server.revision))
      }
      if trips == 3 {
        client = ClientSynchronizer(client.kept)
        client.limits = limits
        #expect(client.reconnect() == change)
      }
      if trips < 5 { #expect(try type() == nil) }
      _ = try server.submit(change.operation, at: change.revision)
      next = try client.acknowledge(sequence: change.sequence, revision: server.revision)
    }
    #expect(trips > 3)
    #expect(client.unconfirmedCount == 0)
    #expect(server.document == local)
  }

  private static let laws = [
    GrowthLaw("scattered edits offline", size: 2_000, prepare: { $0 }) { size in
      type(size) { $0 &* 7919 % ($1 + 1) }
    },
    GrowthLaw("typing on offline", size: 8_000, prepare: { $0 }) { size in
      type(size) { index, _ in index }
    },
    GrowthLaw("typing backwards offline", size: 8_000, prepare: { $0 }) { size in
      type(size) { _, _ in 0 }
    },
    GrowthLaw("deletions offline", size: 2_000, prepare: { $0 }) { size in
      var client = offline()
      for index in 0..<size {
        let length = 4 * size - index
        let place = index &* 7919 % length
        take(place..<place + 1, "", length: length, into: &client)
      }
    },
  ]

  /// Types `count` letters, each at the position that `place` returns.
  private static func type(_ count: Int, at place: (_ index: Int, _ length: Int) -> Int) {
    var client = offline()
    for index in 0..<count {
      let place = place(index, index)
      take(place..<place, "x", length: index, into: &client)
    }
    precondition(client.unconfirmedCount == count)
  }

  private static func take(
    _ range: Range<Int>, _ text: String, length: Int, into client: inout ClientSynchronizer
  ) {
    do {
      _ = try client.edit(TextOperation(replacing: range, with: text, length: length))
    } catch {
      preconditionFailure("an edit of \(length) scalars: \(error)")
    }
  }

  @Test("eight times as many edits cost at most sixteen times as much", arguments: laws)
  func growth(law: GrowthLaw) {
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }
}
