import Gateway
import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleyOTWorkloads
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("The account of work that waits for the store")
struct StoreBacklogTests {
  @Test("the account is the sum of the added and not removed work", arguments: UInt64(1)...30)
  func law(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let limits = StoreBacklog.Limits(requestsMax: 40, bytesMax: 4_000)
    var backlog = StoreBacklog(limits)
    var waiting: [Int] = []
    var work: [(number: UInt64, uptime: Int64)] = []
    var now: Int64 = 0
    for number in UInt64(1)...2_000 {
      now += Int64.random(in: 0...9, using: &random)
      if Bool.random(using: &random) {
        let bytes = Int.random(in: 0...300, using: &random)
        waiting.append(bytes)
        backlog.add(bytes: bytes)
        work.append((number, now))
        backlog.begin(number, at: now)
      } else if !waiting.isEmpty {
        backlog.remove(bytes: waiting.remove(at: Int.random(in: 0..<waiting.count, using: &random)))
        // Requests finish roughly in order.
        let index = Int.random(in: 0..<min(work.count, 3), using: &random)
        backlog.end(work.remove(at: index).number)
      }
      let bytes = waiting.reduce(0, +)
      #expect(backlog.requests == waiting.count)
      #expect(backlog.bytes == bytes)
      #expect(backlog.isFull == (waiting.count >= 40 || bytes >= 4_000))
      #expect(backlog.wait(at: now) == (work.first.map { now - $0.uptime } ?? 0))
    }
  }

  @Test("ending work that was never added has no effect")
  func unknown() {
    var backlog = StoreBacklog(StoreBacklog.Limits(requestsMax: 1, bytesMax: 1))
    backlog.begin(3, at: 10)
    backlog.end(2)
    #expect(backlog.wait(at: 17) == 7)
    backlog.end(3)
    #expect(backlog.wait(at: 17) == 0)
  }
}

@Suite("What waits for the store is bounded")
struct BacklogTests {
  private static let requestsMax = 5

  private let rig = GatewayRig(isDemo: true) { settings in
    settings.storeRequestsMax = requestsMax
    settings.storeBytesMax = 1 << 20
    settings.storeStallMilliseconds = 5_000
    settings.limits.publicationBytesMax = 2 << 20
  }

  private func follower() throws -> UInt64 {
    let (connection, _) = try rig.connectNative(nil)
    rig.ask(connection, .join(.init(documentID: "n1")))
    _ = rig.pushes(connection)
    return connection
  }

  private func change(_ connection: UInt64, sequence: Int = 1) -> ServerMessage? {
    var operation = TextOperation()
    operation.insert("x")
    return rig.ask(
      connection,
      .change(
        .init(
          documentID: "n1", epoch: "epoch of n1", revision: 0, sequence: sequence,
          operation: operation)))
  }

  private func publish(_ connection: UInt64, _ key: String) -> ServerMessage? {
    rig.ask(connection, .publish(.init(room: "r", data: .null, key: key)))
  }

  private func finish() {
    repeat {
      while rig.endTurn() {}
      rig.performStoreRequests()
    } while !rig.stored.isEmpty || rig.endTurn()
  }

  @Test("above the limit, changes and publications are refused as busy, and accepted ones are done")
  func limit() throws {
    rig.make("n1")
    let connections = try (0..<3).map { _ in try follower() }
    rig.isStepwise = true
    #expect(change(connections[0]) == nil)
    #expect(change(connections[1]) == nil)
    for number in 0..<3 { #expect(publish(connections[0], "k\(number)") == nil) }
    #expect(rig.unreadiness != nil)
    guard case .refused(let refusal) = change(connections[2]) else {
      Issue.record("a change beyond the limit was not refused")
      return
    }
    #expect(refusal.code == .busy)
    #expect(refusal.retryable)
    guard case .error(let error) = publish(connections[1], "late") else {
      Issue.record("a publication beyond the limit was not refused")
      return
    }
    #expect(error.code == .busy)
    // A client that sends an accepted change again receives no refusal.
    #expect(change(connections[0]) == nil)
    finish()
    #expect(rig.unreadiness == nil)
    #expect(rig.store.log(of: "n1")?.count == 2)
    #expect(rig.store.rooms.publications(of: "r").count == 3)
    // A change that was refused is accepted now.
    #expect(change(connections[2]) == nil)
    #expect(publish(connections[1], "late") == nil)
    finish()
    #expect(rig.store.log(of: "n1")?.count == 3)
    #expect(rig.store.rooms.publications(of: "r").count == 4)
  }

  @Test("bytes are limited like requests")
  func bytes() throws {
    rig.make("n1")
    let connection = try follower()
    rig.isStepwise = true
    let text = String(repeating: "x", count: 1 << 20)
    let data = JSONValue(trusted: Array("\"\(text)\"".utf8))
    #expect(rig.ask(connection, .publish(.init(room: "r", data: data))) == nil)
    #expect(rig.unreadiness != nil)
    guard case .error(let error) = publish(connection, "k") else {
      Issue.record("a publication beyond the limit was not refused")
      return
    }
    #expect(error.code == .busy)
    finish()
    #expect(publish(connection, "k") == nil)
  }

  @Test("over HTTP the status is 503, and reads continue")
  func http() throws {
    rig.make("n1")
    // The gateway's own initial requests finish first.
    rig.pass(milliseconds: 1)
    rig.isStepwise = true
    let taken = (0..<Self.requestsMax).map { _ in
      rig.begin("POST", "/api/rooms/r/publish", headers: [:], #"{"data":1}"#)
    }
    for (method, path, body) in [
      ("POST", "/api/rooms/r/publish", #"{"data":1}"#), ("PUT", "/api/notes/n1/text", "text"),
      ("POST", "/api/notes", #"{"title":"t"}"#),
    ] {
      let headers = path.hasSuffix("text") ? ["content-type": "text/plain"] : [:]
      let answer = rig.answer(rig.begin(method, path, headers: headers, body))
      #expect(answer?.status == 503, "\(method) \(path)")
      #expect(answer?.body.contains("busy") == true, "\(method) \(path)")
    }
    let read = rig.begin("GET", "/api/notes/n1/text", headers: [:])
    #expect(taken.allSatisfy { rig.answer($0) == nil })
    finish()
    #expect(taken.allSatisfy { rig.answer($0)?.status == 200 })
    #expect(rig.answer(read)?.status == 200)
    #expect(rig.store.rooms.publications(of: "r").count == Self.requestsMax)
  }

  @Test("other requests above the limit fail as if the store were unavailable")
  func others() throws {
    rig.make("n1", "n2")
    let connection = try follower()
    rig.isStepwise = true
    for number in 0..<Self.requestsMax { _ = publish(connection, "k\(number)") }
    #expect(rig.ask(connection, .join(.init(documentID: "n2"))) == nil)
    _ = rig.endTurn()
    let errors = rig.pushes(connection).compactMap {
      if case .error(let error) = $0 { error.code } else { nil }
    }
    #expect(errors == [.unavailable])
    #expect(rig.stored.count == Self.requestsMax)
  }

  @Test("a store that does not answer is not ready, by the monotonic clock")
  func stall() throws {
    rig.make("n1")
    let connection = try follower()
    rig.isStepwise = true
    _ = publish(connection, "k")
    rig.pass(milliseconds: 4_999)
    #expect(rig.unreadiness == nil)
    rig.pass(milliseconds: 1)
    #expect(rig.unreadiness != nil)
    finish()
    #expect(rig.unreadiness == nil)
  }

  @Test("deleting a note during commits releases their share of the account")
  func deletion() throws {
    rig.make("n1")
    let connections = try (0..<3).map { _ in try follower() }
    rig.isStepwise = true
    for connection in connections { _ = change(connection) }
    let request = rig.begin("DELETE", "/api/notes/n1", headers: [:])
    finish()
    #expect(rig.answer(request)?.status == 204)
    rig.make("n1")
    for number in 0..<Self.requestsMax {
      #expect(publish(connections[0], "k\(number)") == nil)
    }
    guard case .error = publish(connections[0], "late") else {
      Issue.record("expected an error: the backlog must be full")
      return
    }
  }
}
