import OTCore
import OTWorkloads
import Testing

/// A server's order of changes with formatting and without it.
@Suite("Sequencing formatted notes")
struct RichSynchronisationTests {
  @Test(arguments: Seeds.smoke)
  func `changes of all kinds go into one order`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let start = ReferenceRich.document(ReferenceRich.text(scalars: 12, using: &random))
    var server = ServerSequencer(content: start, revision: 0)
    var documents = [start]
    var log: [RichOperation] = []
    for _ in 0..<20 {
      let base = random.between(max(server.oldestBase, log.count - 4), log.count)
      let change = ReferenceRich.random(
        length: documents[base].text.scalarCount, using: &random
      ).packed
      if random.chance(30) {
        let stored = try server.submit(change.text, at: base)
        log.append(RichOperation(stored))
      } else {
        var rebased = change
        for other in log[base...] { rebased = try rebased.transformed(over: other, side: .right) }
        log.append(try server.submit(change, at: base))
        #expect(log.last == rebased)
      }
      var next = documents[documents.count - 1]
      try next.apply(log[log.count - 1])
      documents.append(next)
      #expect(server.content == next)
      if random.chance(20) {
        let durable = random.between(server.durableRevision, server.revision)
        server.markDurable(through: durable)
        #expect(server.durableContent == documents[durable])
        server.trim(keeping: 3)
      }
    }
    // Older ones are read again, and what is tentative goes.
    let older = log[..<server.oldestBase]
    server.prepend(older.map(\.text), formats: older.map(\.format))
    #expect(server.formats(after: 0).elementsEqual(log.map(\.format)))
    server.rollBack()
    #expect(server.content == documents[server.durableRevision])
  }

  @Test func `a note becomes rich with its first format`() throws {
    var server = ServerSequencer(document: Document("one two"), revision: 0)
    _ = try server.submit(op("=3 +x =4"), at: 0)
    #expect(server.formats(after: 0).isEmpty)
    let bold = try RichOperation(
      text: op("=7"), formatJSON: Array(#"{"sets":[{"bold":true}],"kept":[0,7,1]}"#.utf8))
    let stored = try server.submit(bold, at: 0)
    #expect(server.formats(after: 0).count == 2)
    #expect(server.formats(after: 2).isEmpty)
    #expect(server.content.attributes(at: 3) == (try AttributeSet(json: #"{"bold":true}"#)))
    #expect(stored.baseLength == 8)
    server.rollBack()
    #expect(!server.content.hasAttributes)
  }
}
