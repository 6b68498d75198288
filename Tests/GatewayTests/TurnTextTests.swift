import Gateway
import ParleyGatewayPorts
import OTCore
import SocketMessages
import Testing

/// Long texts that many clients request at once. Each turn encodes one text.
@Suite("Long texts in turns")
struct TurnTextTests {
  private static let count = 6
  private static let notes = (0..<count).map { "n\($0)" }

  private let rig = GatewayRig(isDemo: true) { $0.turnWorkMax = 2_000 }

  init() {
    for note in Self.notes + ["small"] {
      rig.make(note)
      _ = rig.request(
        "PUT", "/api/notes/\(note)/text",
        note == "small" ? "text" : String(repeating: "-", count: 5_000))
    }
    rig.isStepwise = true
  }

  private func join(_ note: String, _ connection: UInt64) {
    rig.say(
      connection, #"{"messageId":"j","type":"resourceConnection","data":{"resourceId":"\#(note)"}}"#
    )
  }

  private func states(_ connection: UInt64) -> Int {
    rig.frames(connection).count { $0.contains("resourceConnectionConf") }
  }

  /// Returns the number of texts received by the end of each turn.
  private func counts(of texts: () -> Int) -> [Int] {
    var counts = [texts()]
    while rig.endTurn() { counts.append(texts()) }
    counts.append(texts())
    return counts
  }

  @Test(
    "Whaler clients receive one text in each turn, of one or several notes",
    arguments: [true, false])
  func whaler(isOneNote: Bool) {
    let clients = (0..<Self.count).map { _ in rig.connectWhaler(pool: nil, token: nil) }
    for (client, note) in zip(clients, Self.notes) { join(isOneNote ? "n0" : note, client) }
    let late = rig.connectWhaler(pool: nil, token: nil)
    join("small", late)
    #expect(states(late) == 1, "what is small does not wait")
    let counts = counts { clients.reduce(0) { $0 + states($1) } }
    #expect(counts.allSatisfy { $0 <= 2 } && counts.reduce(0, +) == Self.count)
  }

  @Test("a client with a malformed message receives the texts of all its notes, one in each turn")
  func newStart() {
    let client = rig.connectWhaler(pool: nil, token: nil)
    for note in Self.notes { join(note, client) }
    while rig.endTurn() {}
    #expect(states(client) == Self.count)
    rig.say(client, "no message")
    let counts = counts { states(client) }
    #expect(counts.allSatisfy { $0 <= 2 } && counts.reduce(0, +) == Self.count)
  }

  @Test(
    "clients of parley.v1 wait for the texts of several notes, and share that of one",
    arguments: [true, false])
  func native(isOneNote: Bool) throws {
    rig.isStepwise = false
    let clients = try (0..<Self.count).map { _ in try rig.connectNative(nil).0 }
    for client in clients { _ = rig.pushes(client) }
    rig.isStepwise = true
    for (client, note) in zip(clients, Self.notes) {
      let reply = rig.ask(client, .join(.init(documentID: isOneNote ? "n0" : note)))
      if isOneNote { #expect(reply != nil) }
    }
    guard !isOneNote else { return }
    let counts = counts {
      clients.reduce(0) { sum, client in
        sum + rig.pushes(client).count { if case .joined = $0 { true } else { false } }
      }
    }
    // The first client was answered immediately.
    #expect(counts.allSatisfy { $0 <= 1 } && counts.reduce(0, +) == Self.count - 1)
  }

  @Test("a client that waits for a text receives no change before it, and each change after it")
  func order() throws {
    let author = try rig.connectNative(nil).0
    rig.ask(author, .join(.init(documentID: "n0")))
    let clients = (0..<Self.count).map { _ in rig.connectWhaler(pool: nil, token: nil) }
    for client in clients { join("n0", client) }
    rig.ask(
      author,
      .change(
        .init(
          documentID: "n0", epoch: "epoch of n0", revision: 1, sequence: 1,
          operation: [.insert("new"), .retain(5_000)])))
    while rig.endTurn() || !rig.isSettled { rig.performStoreRequests() }
    for client in clients {
      let frames = rig.frames(client)
      #expect(frames.count == 2)
      #expect(frames.first?.contains(#""revision":1"#) ?? false)
      #expect(frames.last?.contains("docChangeReturnOps") ?? false)
    }
  }
}
