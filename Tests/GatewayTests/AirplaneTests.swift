import Foundation
import Gateway
import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// An hour offline: one user edits all over a note, other users edit it too, and the client's
/// process restarts while it reconnects.
///
/// Each line of the note begins as a unique mark, a hyphen and a newline. The traveller inserts
/// words, each a unique scalar, after marks, and deletes hyphens; other users insert letters after
/// marks.
@Suite("An hour without a line")
struct AirplaneTests {
  private static let document = "n1"

  private static func mark(_ line: Int) -> Unicode.Scalar {
    Unicode.Scalar(0xf0000 + UInt32(line)) ?? " "
  }

  private static func word(_ number: Int) -> Unicode.Scalar {
    Unicode.Scalar(0x10_0000 + UInt32(number)) ?? " "
  }

  /// The lengths of the note's lines as one editor knows them.
  private struct Lines {
    /// The number of scalars between each line's mark and its newline.
    var sizes: [Int]

    init(count: Int) { sizes = Array(repeating: 1, count: count) }

    var length: Int { sizes.reduce(0) { $0 + $1 + 2 } }

    /// Returns the position after a line's mark.
    func start(of line: Int) -> Int { sizes[..<line].reduce(1) { $0 + $1 + 2 } }

    mutating func insert(_ text: String, in line: Int) -> TextOperation {
      var operation = TextOperation()
      let place = start(of: line)
      operation.retain(place)
      operation.insert(text)
      operation.retain(length - place)
      sizes[line] += text.unicodeScalars.count
      return operation
    }

    /// Deletes the hyphen, the last scalar before the newline.
    mutating func deleteHyphen(in line: Int) -> TextOperation {
      var operation = TextOperation()
      let place = start(of: line) + sizes[line] - 1
      operation.retain(place)
      operation.delete(1)
      operation.retain(length - place - 1)
      sizes[line] -= 1
      return operation
    }
  }

  /// A client that runs the shipped code, on a connection of the rig.
  private struct Traveller {
    let client = SimulatedClient(name: "Ann", documentID: AirplaneTests.document)
    var line: UInt64?

    mutating func connect(_ rig: GatewayRig) {
      #expect(client.connects(now: rig.clock.uptime) { "" })
      let id = rig.connect()
      line = id
      send(client.connected(now: rig.clock.uptime), rig)
    }

    mutating func disconnect(_ rig: GatewayRig) {
      if let line { rig.close(line) }
      line = nil
      client.disconnected(now: rig.clock.uptime)
    }

    func send(_ messages: [[UInt8]], _ rig: GatewayRig) {
      guard let line else { return }
      for message in messages { rig.say(line, String(decoding: message, as: UTF8.self)) }
    }

    /// Reads one message of the server.
    ///
    /// - Returns: `false` if there is no message.
    mutating func step(_ rig: GatewayRig, _ waiting: inout [String]) throws -> Bool {
      if let line { waiting += rig.frames(line) }
      guard !waiting.isEmpty else { return false }
      let now = rig.clock.uptime
      let message = Array(waiting.removeFirst().utf8)
      send(try message.withUnsafeBytes { try client.receive($0, now: now) }, rig)
      return true
    }
  }

  @Test(
    "every word is in its place, and none is duplicated", arguments: [false, true])
  func everyWord(dies: Bool) throws {
    // The fraction of the hour to simulate; by default, a few minutes of a small note.
    let part = ProcessInfo.processInfo.environment["PARLEY_AIRPLANE_HOUR"].flatMap(Double.init)
    let lineCount = part.map { Int(2_000 * $0) } ?? 60
    let editCount = part.map { Int(10_000 * $0) } ?? 300
    let changeCount = part.map { Int(12_000 * $0) } ?? 600
    var random = SimulationRandom(seed: 7)
    let rig = GatewayRig(isDemo: true) {
      $0.windowEntries = part.map { Int(1_000 * $0) } ?? 40
      $0.lagRevisionsMax = part.map { Int(10_000 * $0) } ?? 100
      $0.limits.operationComponentsMax = part.map { Int(1_000 * $0) } ?? 30
    }
    rig.make(Self.document)

    // Another client writes the lines, and the traveller opens the note.
    let (other, _) = try rig.connectNative(nil)
    guard case .joined(let joined)? = rig.ask(other, .join(.init(documentID: Self.document))) else {
      throw Unexpected(message: nil)
    }
    var revision = 0
    func commit(_ operation: TextOperation) {
      rig.ask(
        other,
        .change(
          .init(
            documentID: Self.document, epoch: joined.epoch, revision: revision,
            sequence: revision + 1, operation: operation)))
      revision += 1
    }
    var text = TextOperation()
    text.insert((0..<lineCount).map { "\(Self.mark($0))-\n" }.joined())
    commit(text)
    var traveller = Traveller()
    var waiting: [String] = []
    traveller.connect(rig)
    while try traveller.step(rig, &waiting) {}
    #expect(traveller.client.revision == 1)

    // One change is on its way when the connection breaks; its outcome is unknown.
    var own = Lines(count: lineCount)
    var words: [[Int]] = Array(repeating: [], count: lineCount)
    var hyphens = Set(0..<lineCount)
    func type(_ number: Int) throws -> [[UInt8]] {
      let line = random.below(lineCount)
      if number > 0, random.chance(10), hyphens.remove(line) != nil {
        return try traveller.client.edit(
          RichOperation(own.deleteHyphen(in: line)), now: rig.clock.uptime)
      }
      words[line].insert(number, at: 0)
      return try traveller.client.edit(
        RichOperation(own.insert(String(Character(Self.word(number))), in: line)),
        now: rig.clock.uptime)
    }
    let first = try type(0)
    if dies { traveller.send(first, rig) }
    if dies { revision += 1 }
    _ = traveller.line.map { rig.frames($0) }
    traveller.disconnect(rig)
    for number in 1..<editCount { _ = try type(number) }

    // Meanwhile another client edits the note.
    var theirs = Lines(count: lineCount)
    if dies {
      for line in words.indices where words[line].contains(0) { theirs.sizes[line] += 1 }
    }
    var letters = Array(repeating: 0, count: lineCount)
    var sequence = 1
    for _ in 0..<changeCount {
      let line = random.below(lineCount)
      letters[line] += 1
      sequence += 1
      // At this pace 12,000 changes take an hour and stay within the rate limits.
      rig.clock.advance(milliseconds: 300)
      let reply = rig.ask(
        other,
        .change(
          .init(
            documentID: Self.document, epoch: joined.epoch, revision: revision,
            sequence: sequence, operation: theirs.insert("o", in: line))))
      guard case .acknowledged? = reply else { throw Unexpected(message: reply) }
      revision += 1
    }
    _ = rig.pushes(other)

    // The traveller's process restarts before it connects, and again between pages of changes.
    if dies { _ = traveller.client.restart(keepsFirst: true, now: rig.clock.uptime) }
    traveller.connect(rig)
    var steps = 0
    while !traveller.client.isSettled {
      guard try traveller.step(rig, &waiting) else {
        rig.pass(milliseconds: 1_000)
        traveller.send(try traveller.client.wake(now: rig.clock.uptime), rig)
        steps += 1
        if steps > 1_000 { break }
        continue
      }
      if dies, random.chance(8) {
        waiting = []
        traveller.disconnect(rig)
        _ = traveller.client.restart(keepsFirst: random.chance(50), now: rig.clock.uptime)
        traveller.connect(rig)
      }
    }
    #expect(traveller.client.isSettled)

    let document = try #require(rig.store.document(DocumentID(Self.document)))
    #expect(traveller.client.document == document)
    let found = document.text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(found.count == lineCount + 1)
    for line in 0..<lineCount {
      let scalars = found[line].unicodeScalars
      #expect(scalars.first == Self.mark(line))
      let typed = scalars.filter { $0.value >= 0x10_0000 }.map { Int($0.value - 0x10_0000) }
      #expect(typed == words[line], "line \(line)")
      #expect(scalars.count { $0 == "o" } == letters[line])
      #expect(scalars.contains("-") == hyphens.contains(line), "line \(line)")
    }
    #expect(traveller.client.tally[.pagesOfChanges] > 5)
    #expect(traveller.client.tally[.resumesBySnapshot] == 0)
  }
}
