import OTCore
import ParleyOTWorkloads
import Testing

/// Clients with and without formatting in one note.
@Suite("Synchronising formatted notes")
struct RichSynchronisationTests {
  /// A client that supports formats.
  private struct RichClient {
    var synchronizer = RichSynchronizer(epoch: "e", revision: 0)
    var local: RichDocument
    var history = RichUndoHistory()
    var sent: [RichSynchronizer.Change] = []
    var seen = 0

    mutating func edit(using random: inout SplitMix64) throws {
      let length = local.text.scalarCount
      var operation = ReferenceRich.random(length: length, using: &random).packed
      if random.chance(30), let step = try history.undo(on: local) {
        operation = step.operation
      } else {
        try history.record(operation, on: local)
      }
      try local.apply(operation)
      if let change = try synchronizer.edit(operation) { sent.append(change) }
    }

    /// Receives the next revision of the log.
    mutating func take(_ operation: RichOperation, isOwn: Bool) throws {
      seen += 1
      if isOwn {
        let change = try synchronizer.acknowledge(
          sequence: #require(synchronizer.changeInFlight).sequence, revision: seen)
        if let change { sent.append(change) }
      } else {
        let remote = try synchronizer.receive(operation, revision: seen)
        try history.receive(remote)
        try local.apply(remote)
      }
    }
  }

  /// A client that supports text only.
  private struct PlainClient {
    var synchronizer = ClientSynchronizer(epoch: "e", revision: 0)
    var local: Document
    var sent: [ClientSynchronizer.Change] = []
    var seen = 0

    mutating func edit(using random: inout SplitMix64) throws {
      let operation = TextOperation.random(
        length: local.scalarCount, edits: 2, wide: false, using: &random)
      try local.apply(operation)
      if let change = try synchronizer.edit(operation) { sent.append(change) }
    }

    mutating func take(_ operation: TextOperation, isOwn: Bool) throws {
      seen += 1
      if isOwn {
        let change = try synchronizer.acknowledge(
          sequence: #require(synchronizer.changeInFlight).sequence, revision: seen)
        if let change { sent.append(change) }
      } else {
        try local.apply(synchronizer.receive(operation, revision: seen))
      }
    }
  }

  private struct Note {
    var server: ServerSequencer
    var rich: [RichClient]
    var plain: PlainClient
    /// All revisions, each with its author's number; 2 is the plain client.
    var log: [(operation: RichOperation, author: Int)] = []
    /// The document of each revision.
    var documents: [RichDocument]

    init(_ document: RichDocument) {
      server = ServerSequencer(content: document, revision: 0)
      rich = [RichClient(local: document), RichClient(local: document)]
      plain = PlainClient(local: document.text)
      documents = [document]
    }

    /// Commits the oldest change that a client has sent.
    mutating func commit(_ author: Int) throws {
      if author == 2 {
        guard !plain.sent.isEmpty else { return }
        let change = plain.sent.removeFirst()
        var text = server.content.text
        let stored = try server.submit(inheriting: change.operation, at: change.revision)
        try text.apply(stored.text)
        #expect(text == server.content.text)
        log.append((stored, author))
      } else {
        guard !rich[author].sent.isEmpty else { return }
        let change = rich[author].sent.removeFirst()
        log.append((try server.submit(change.operation, at: change.revision), author))
      }
      documents.append(server.content)
    }

    mutating func deliver(_ client: Int) throws {
      let seen = client == 2 ? plain.seen : rich[client].seen
      guard seen < log.count else { return }
      let (operation, author) = log[seen]
      if client == 2 {
        try plain.take(operation.text, isOwn: author == 2)
      } else {
        try rich[client].take(operation, isOwn: author == client)
      }
    }

    private var isSettled: Bool {
      plain.sent.isEmpty && plain.seen == log.count
        && rich.allSatisfy { $0.sent.isEmpty && $0.seen == log.count }
    }

    mutating func settle() throws {
      while !isSettled {
        for client in 0...2 {
          try commit(client)
          while (client == 2 ? plain.seen : rich[client].seen) < log.count { try deliver(client) }
        }
      }
    }
  }

  @Test(arguments: Seeds.smoke)
  func `clients of all kinds reach one document`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var note = Note(ReferenceRich.document(ReferenceRich.text(scalars: 12, using: &random)))
    for _ in 0..<60 {
      let client = random.below(3)
      switch random.below(4) {
      case 0 where client == 2: try note.plain.edit(using: &random)
      case 0: try note.rich[client].edit(using: &random)
      case 1: try note.commit(client)
      default: try note.deliver(client)
      }
      let durable = random.between(note.server.durableRevision, note.server.revision)
      if random.chance(10) {
        note.server.markDurable(through: durable)
        #expect(note.server.durableContent == note.documents[durable])
      }
      for index in note.rich.indices {
        // A stored and restored client continues with the same state, but without a connection.
        let kept = note.rich[index].synchronizer.kept
        #expect(RichSynchronizer(kept).kept == kept)
      }
    }
    try note.settle()
    note.server.content.checkInvariants()
    #expect(note.plain.local == note.server.document)
    for client in note.rich { #expect(client.local == note.server.content) }
    // The operations since any revision, with older ones read again, result in the same document.
    note.server.markDurable(through: note.server.revision)
    note.server.trim(keeping: note.log.count / 2)
    let oldest = note.server.oldestBase
    let older = note.log[..<oldest].map(\.operation)
    note.server.prepend(older.map(\.text), formats: older.map(\.format))
    let change = ReferenceRich.random(
      length: note.documents[0].text.scalarCount, using: &random
    ).packed
    var rebased = change
    for (operation, _) in note.log {
      rebased = try rebased.transformed(over: operation, side: .right)
    }
    let before = note.server.content
    #expect(try note.server.submit(change, at: 0) == rebased)
    note.server.rollBack()
    #expect(note.server.content == before)
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

  // MARK: Undo

  private static func set(_ json: String) throws -> AttributeSet { try AttributeSet(json: json) }

  private static func format(
    _ range: Range<Int>, of length: Int, _ json: String
  ) throws -> RichOperation {
    var builder = RichOperationBuilder()
    builder.retain(range.lowerBound)
    builder.retain(range.count, setting: try set(json))
    builder.retain(length - range.upperBound)
    return builder.finished()
  }

  @Test func `undoing a format leaves what others have set since`() throws {
    let start = RichDocument(Document("The fox"))
    var document = start
    var history = RichUndoHistory()
    let red = try Self.format(0..<7, of: 7, #"{"color":"red"}"#)
    try history.record(red, on: document)
    try document.apply(red)
    let blue = try Self.format(2..<4, of: 7, #"{"color":"blue"}"#)
    try history.receive(blue)
    try document.apply(blue)
    let step = try #require(try history.undo(on: document))
    try document.apply(step.operation)
    var expected = start
    try expected.apply(blue)
    #expect(document == expected)
  }

  @Test func `typing with other attributes is a step of its own`() throws {
    var document = RichDocument()
    var history = RichUndoHistory()
    func type(_ text: String, _ attributes: AttributeSet) throws {
      var builder = RichOperationBuilder()
      builder.retain(document.text.scalarCount)
      builder.insert(text, with: attributes)
      let operation = builder.finished()
      try history.record(operation, on: document)
      try document.apply(operation)
    }
    let bold = try Self.set(#"{"bold":true}"#)
    try type("a", AttributeSet())
    try type("b", AttributeSet())
    #expect(history.stepCount == 1)
    try type("c", bold)
    try type("d", bold)
    #expect(history.stepCount == 2)
    let format = try Self.format(0..<2, of: 4, #"{"bold":true}"#)
    try history.record(format, on: document)
    try document.apply(format)
    #expect(history.stepCount == 3)
    while let step = try history.undo(on: document) { try document.apply(step.operation) }
    #expect(document == RichDocument())
    while let step = try history.redo(on: document) { try document.apply(step.operation) }
    #expect(document.text == Document("abcd"))
    #expect(document.attributes(at: 0) == bold && document.attributes(at: 3) == bold)
  }
}
