import Gateway
import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// Numbers instead of ids, for connections that accept numbers.
@Suite("Numbers of documents and authors")
struct DocumentNumberTests {
  private let rig = GatewayRig(isDemo: true)
  private static let note = "0b1e7c52-3d0c-4a59-8f0e-6c1b8a2f9d10"

  init() { rig.make(Self.note) }

  /// Returns a connection that has joined the note, its client's id, and the reply to the join.
  private func follower(
    numbers: Bool = true, keeping numbersMax: Int? = nil, _ rig: GatewayRig? = nil
  ) throws -> (line: UInt64, id: String, joined: ServerMessage.Joined) {
    let rig = rig ?? self.rig
    let line = rig.connect()
    let welcome = rig.ask(
      line, .hello(.init(name: "Ann", takesNumbers: numbers, numbersMax: numbersMax)))
    guard case .welcome(let welcome)? = welcome else { throw Unexpected(message: welcome) }
    let reply = rig.ask(line, .join(.init(documentID: Self.note)))
    guard case .joined(let joined)? = reply else { throw Unexpected(message: reply) }
    _ = rig.frames(line)
    _ = rig.pushes(line)
    return (line, welcome.clientID, joined)
  }

  private func type(
    _ line: UInt64, at revision: Int, sequence: Int, _ rig: GatewayRig? = nil
  ) {
    var operation = TextOperation()
    operation.retain(revision)
    operation.insert("x")
    (rig ?? self.rig).ask(
      line,
      .change(
        .init(
          documentID: Self.note, epoch: "epoch of \(Self.note)", revision: revision,
          sequence: sequence, operation: operation)))
  }

  private func changes(_ line: UInt64, _ rig: GatewayRig? = nil) -> [String] {
    (rig ?? self.rig).frames(line).filter {
      $0.contains("\"type\":\"changes\"") || $0.contains("\"type\":\"c\"")
    }
  }

  @Test("a typed letter takes at most 80 bytes, and is unchanged for clients without numbers")
  func bytes() throws {
    let author = try follower()
    let short = try follower()
    let long = try follower(numbers: false)
    #expect(long.joined.numbers == nil)
    #expect(short.joined.numbers?.authors == [])
    for sequence in 1...20 { type(author.line, at: sequence - 1, sequence: sequence) }
    let frames = changes(short.line)
    #expect(frames.count == 20)
    #expect(
      frames[0]
        == #"{"type":"c","data":{"c":[1,1,0,1,1,["x"]],"authors":[{"number":1,"clientId":""#
        + author.id + #""}]}}"#)
    #expect(frames[9] == #"{"type":"c","data":{"c":[1,10,0,1,10,[9,"x"]]}}"#)
    // Large numbers: a long note with 100,000 revisions and many authors.
    let late = ServerMessage.numberedChanges(
      .init(
        run: .init(
          document: 999, revision: 99_999, time: 36_000_000,
          changes: [
            .init(
              author: 99, sequence: 9_999,
              operation: [.retain(99_999), .insert("x"), .retain(99_999)])
          ])))
    var lateBytes: [UInt8] = []
    late.encode(messageID: "", into: &lateBytes)
    #expect(lateBytes.count <= 80)
    #expect(frames.dropFirst().allSatisfy { $0.utf8.count <= 80 })
    let before = changes(long.line)
    #expect(before.count == 20)
    #expect(before[9].contains(#""type":"changes","data":{"documentId":""# + Self.note))
    #expect(!before.contains { $0.contains("authors") })
  }

  @Test("a frame is encoded once for clients with numbers, and once for all others")
  func encodedOnce() throws {
    let author = try follower()
    let lines = try (0..<6).map { try follower(numbers: $0 % 2 == 0).line }
    type(author.line, at: 0, sequence: 1)
    rig.frameAddresses = []
    rig.recipients = []
    type(author.line, at: 1, sequence: 2)
    let addresses = zip(rig.recipients, rig.frameAddresses).filter { lines.contains($0.0) }
    #expect(addresses.count == 6)
    for parity in 0..<2 {
      let mine = lines.enumerated().filter { $0.offset % 2 == parity }.map(\.element)
      #expect(Set(addresses.filter { mine.contains($0.0) }.map(\.1)).count == 1)
    }
  }

  @Test("a newcomer receives the numbers of the authors so far")
  func later() throws {
    let author = try follower()
    _ = try follower()
    type(author.line, at: 0, sequence: 1)
    let late = try follower()
    #expect(late.joined.numbers?.authors == [.init(number: 1, clientID: author.id)])
    type(author.line, at: 1, sequence: 2)
    #expect(changes(late.line).allSatisfy { !$0.contains("authors") })
  }

  @Test("a lagging client receives the numbers that it has missed")
  func lagging() throws {
    let author = try follower()
    let slow = try follower()
    rig.queues.bytes[slow.line] = .max
    type(author.line, at: 0, sequence: 1)
    rig.queues.bytes[slow.line] = nil
    rig.drain(slow.line)
    #expect(changes(slow.line).map { $0.contains("\"type\":\"changes\"") } == [true])
    type(author.line, at: 1, sequence: 2)
    type(author.line, at: 2, sequence: 3)
    #expect(changes(slow.line).map { $0.contains(author.id) } == [true, false])
  }

  @Test("a client that retains fewer numbers than are in use receives ids")
  func fewKept() throws {
    let crowd = try (0..<70).map { _ in try follower() }
    let many = try follower(keeping: 4_096)
    let few = try follower()
    for (index, person) in crowd.enumerated() {
      type(person.line, at: index, sequence: 1)
      let isKept = index < 64
      #expect(changes(few.line).map { $0.contains("\"type\":\"c\"") } == [isKept])
      #expect(changes(many.line).map { $0.contains("\"type\":\"c\"") } == [true])
    }
    #expect(try follower().joined.numbers == nil)
    #expect(try follower(keeping: 4_096).joined.numbers?.authors.count == 70)
  }

  @Test("the last 64 authors have numbers, and a client retains those it needs", arguments: 1...5)
  func manyAuthors(seed: UInt64) throws {
    var random = SimulationRandom(seed: seed)
    var numbers = DocumentNumbers(document: 1, time: 0, authorsMax: 64)
    var known: [ServerMessage.Author] = []
    for round in 0..<400 {
      let count = 1 + random.below(round % 10 == 0 ? 80 : 3)
      let entries = (0..<count).map { place in
        LogEntry(
          revision: round * 100 + place, client: "c\(random.below(90))", sequence: 1, digest: 0,
          operation: TextOperation(), author: "", time: 0)
      }
      let before = numbers.last
      guard let run = numbers.run(of: entries[...]) else {
        #expect(Set(entries.map(\.client)).count > 64)
        continue
      }
      known = (known + numbers.authors(after: before)).suffix(64)
      for (entry, change) in zip(entries, run.changes) {
        #expect(known.first { $0.number == change.author }?.clientID == entry.client)
      }
    }
    #expect(numbers.authors.count == 64)
    #expect(numbers.last > 64)
  }
}
