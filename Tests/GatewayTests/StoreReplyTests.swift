import Gateway
import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// The store's replies to every kind of work that waits for one.
@Suite("Whatever the store replies, each client is answered once")
struct StoreReplyTests {
  /// Work that ends in one response, whatever the store replies.
  struct Scenario: Sendable, CustomTestStringConvertible {
    let name: String
    var isShared = false
    var isDemo = false
    /// Whether lasting errors leave the client waiting. Whaler has no message for a refusal, and
    /// closing the connection would end the client's other documents, too.
    var waitsForGood = false
    /// The replies with which the store answers the first request of a kind, without performing it.
    var first: [String: StoreReply] = [:]
    /// Prepares a gateway. The returned closure begins the work, and returns a closure that counts
    /// the responses so far.
    let prepare: @Sendable (GatewayRig) throws -> () -> () -> Int

    var testDescription: String { name }
  }

  // MARK: Tests

  @Test("a reply of another kind", arguments: scenarios)
  func otherKinds(scenario: Scenario) throws {
    let honest = try Self.run(scenario)
    #expect(!honest.kinds.isEmpty, "the store is not asked")
    for (index, kind) in honest.replies.enumerated() {
      for (name, reply) in Self.others(than: kind) {
        let answers = try Self.run(scenario, answering: index, with: reply).answers
        #expect(answers == 1, "\(name) in place of \(kind), request \(index)")
      }
    }
  }

  @Test("an error", arguments: scenarios)
  func errors(scenario: Scenario) throws {
    let errors: [StoreError] = [
      .unknownDocument, .exists, .notNext(headRevision: 3), .compacted(oldestRevision: 2),
      .unavailable("x"), .unknownOutcome("x"), .fenced(["a"]), .outOfReach, .damaged("x"),
    ].filter { !scenario.waitsForGood || $0.isRetryable }
    for index in try Self.run(scenario).kinds.indices {
      for error in errors {
        let answers = try Self.run(scenario, answering: index, with: .failed(error)).answers
        #expect(answers == 1, "\(error) to request \(index)")
      }
    }
  }

  @Test("the scenarios have the store do all that a gateway asks for")
  func coverage() throws {
    var seen: Set<String> = []
    for scenario in Self.scenarios { seen.formUnion(try Self.run(scenario).kinds) }
    let expected: Set<String> = [
      "append", "create", "delete", "entries", "fence", "heads", "history", "load", "news", "note",
      "notes", "probe", "rename", "saveVersion", "deleteVersion", "text", "versions",
      "rollBackFailedCommits", "renewEpoch", "deleted.list", "deleted.bringBack", "deleted.remove",
      "once.answer", "once.create", "once.perform",
      "room.publish", "room.page", "room.recover", "people.receipt", "people.receipts",
      "people.flag", "people.unflag", "people.flags", "people.member", "people.members",
      "people.block", "people.blocks", "people.lastOnline",
      "groups.put", "groups.delete", "groups.group", "groups.groups", "groups.putMember",
      "groups.removeMember", "groups.members", "groups.like", "groups.likes", "groups.read",
      "groups.badges", "files.put", "files.list", "files.read", "comments",
      "logins.begin", "logins.renew", "logins.list", "logins.end",
      "links.make", "links.open", "links.list", "links.end",
      "notices.audience", "notices.list", "notices.unread", "notices.read",
      "folders.move", "folders.moveAll", "folders.list", "folders.notes",
    ]
    #expect(expected.subtracting(seen).isEmpty, "not asked for: \(expected.subtracting(seen))")
  }

  // MARK: Running

  /// The record of a run: the kinds of requests and replies, and the number of responses.
  private struct Run {
    var kinds: [String] = []
    var replies: [String] = []
    var samples: [String: StoreReply] = [:]
    var answers = 0
  }

  /// Runs a scenario. The store answers the request at index `place` with `reply` instead of
  /// performing it.
  private static func run(
    _ scenario: Scenario, answering place: Int? = nil, with reply: StoreReply = .done
  ) throws -> Run {
    let rig = GatewayRig(
      isDemo: scenario.isDemo, people: .standard(GatewaySettings()),
      store: MemoryStore(isShared: scenario.isShared)
    ) {
      $0.sharesStore = scenario.isShared
      $0.names.isOffered = true
      // Older entries must be read from the store.
      $0.windowEntries = 1
    }
    rig.book?.enter("ada", user: "ada", tokenID: "s.1", issuedAt: rig.clock.now, everything)
    rig.make("n")
    let begin = try scenario.prepare(rig)
    rig.isStepwise = true
    let answers = begin()
    var run = Run()
    var first = scenario.first
    for _ in 0..<40 {
      _ = rig.restAfterTurn()
      while let next = rig.stored.first {
        let kind = label(next.request)
        if run.kinds.count == place {
          rig.storeAnswers(reply)
          run.replies.append("")
        } else {
          let reply = first.removeValue(forKey: kind) ?? rig.store.perform([next.request])[0]
          run.replies.append(label(reply))
          run.samples[label(reply)] = reply
          rig.storeAnswers(reply)
        }
        run.kinds.append(kind)
        _ = rig.restAfterTurn()
      }
      // Failed work is retried a second later, a limited number of times.
      rig.pass(milliseconds: 500)
      if answers() > 0, place.map({ run.kinds.count > $0 }) ?? true, rig.stored.isEmpty { break }
    }
    run.answers = answers()
    return run
  }

  /// Returns the name of a request or reply, with the name of the nested one.
  private static func label(_ value: Any) -> String {
    switch value as? StoreRequest {
    case .audited(_, let work), .notifying(_, let work): return label(work)
    default: break
    }
    guard let child = Mirror(reflecting: value).children.first, let name = child.label else {
      return "\(value)"
    }
    let isNested = [
      "deleted", "once", "room", "people", "groups", "files", "logins", "links", "folders", "audit",
      "notices",
    ]
    .contains(name)
    return isNested
      ? "\(name).\(Mirror(reflecting: child.value).children.first?.label ?? "\(child.value)")"
      : name
  }

  /// A reply of each kind.
  private static let pool: [String: StoreReply] = {
    var pool: [String: StoreReply] = [
      "done": .done, "undecided": .undecided(.unavailable("x")),
      "appended": .appended(LogChain(high: 1, low: 2)), "sessions": .sessions(["x": 1]),
    ]
    for scenario in scenarios {
      pool.merge((try? run(scenario).samples) ?? [:]) { former, _ in former }
    }
    return pool
  }()

  /// Returns replies of other kinds: of the same family, which the same code reads, and some other
  /// kinds.
  private static func others(than kind: String) -> [(String, StoreReply)] {
    func family(_ kind: String) -> Substring { kind.prefix { $0 != "." } }
    let basic: Set<String> = [
      "done", "note", "document", "undecided", "links.links",
    ]
    return pool.filter { name, _ in
      name != kind && (basic.contains(name) || family(name) == family(kind))
    }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private static let everything = [
    Grant(.documents, NamePattern("*"), .all), Grant(.rooms, NamePattern("*"), .all),
  ]

  // MARK: Scenarios

  private static let scenarios: [Scenario] = requests + messages + shared + programScenarios

  /// Returns scenarios of an HTTP request without a key and, for some requests, with one.
  private static func http(
    _ method: String, _ path: String, _ body: String = "",
    _ prepare: @escaping @Sendable (GatewayRig) -> Void = { _ in }
  ) -> [Scenario] {
    // A key adds the same two steps before and after the work.
    let keyed = ["/api/notes", "/api/notes/n", "/api/notes/n/text", "/api/rooms/r/group"]
    let keys: [String?] = method != "GET" && keyed.contains(path) ? [nil, "key-1"] : [nil]
    return keys.map { key in
      Scenario(name: "\(method) \(path)\(key == nil ? "" : " with a key")") { rig in
        prepare(rig)
        return {
          var headers = ["authorization": "Bearer ada"]
          headers["idempotency-key"] = key
          let id = rig.begin(method, path, headers: headers, body)
          return { rig.answerCounts[id] ?? 0 }
        }
      }
    }
  }

  private static func ask(_ rig: GatewayRig, _ method: String, _ path: String, _ body: String = "")
  {
    _ = rig.request(method, path, token: "ada", body)
  }

  private static let requests: [Scenario] =
    http("GET", "/api/notes") + http("GET", "/api/notes?limit=1")
    + http("GET", "/api/notes?folder=f&limit=1") {
      ask($0, "PATCH", "/api/notes/n", #"{"folder":"f"}"#)
    }
    + http("POST", "/api/notes", #"{"title":"t"}"#) + http("GET", "/api/notes/n")
    + http("PUT", "/api/notes/m", #"{"title":"t"}"#)
    + http("PATCH", "/api/notes/n", #"{"title":"t"}"#)
    + http("PATCH", "/api/notes/n", #"{"folder":"f"}"#) + http("DELETE", "/api/notes/n")
    + http("GET", "/api/folders") + http("POST", "/api/folders/move", #"{"from":"f","to":"g"}"#)
    + http("GET", "/api/notes/n/text") + http("PUT", "/api/notes/n/text", "words")
    + http("POST", "/api/notes/n/changes", #"{"revision":0,"operation":["x"]}"#)
    + http("POST", "/api/notes/n/changes?late", #"{"revision":0,"operation":["x"]}"#, write)
    + http("GET", "/api/notes/n/files") + http("POST", "/api/notes/n/files?name=a", "bytes")
    + http("GET", "/api/notes/n/files/\(String(repeating: "0", count: 64))/a")
    + http("GET", "/api/notes/n/comments")
    + http(
      "POST", "/api/notes/n/comments", #"{"text":"c","anchor":{"revision":1,"from":0,"to":1}}"#
    ) {
      ask($0, "PUT", "/api/notes/n/text", "words")
    }
    + http("POST", "/api/notes/n/comments", #"{"text":"c","thread":"c","mentions":["bob"]}"#)
    + http("PATCH", "/api/notes/n/comments/c", #"{"text":"c"}"#)
    + http("PATCH", "/api/notes/n/comments/c", #"{"resolved":true}"#)
    + http("GET", "/api/notices") + http("GET", "/api/notices/unread")
    + http("POST", "/api/notices/read", #"{"through":1}"#)
    + http("DELETE", "/api/notes/n/comments/c")
    + http("GET", "/api/notes/n/history") + http("GET", "/api/notes/n/versions")
    + http("GET", "/api/notes/n/sessions") + http("GET", "/api/notes/n/diff?from=0&to=0")
    + http("POST", "/api/notes/n/versions", #"{"name":"v","revision":0}"#)
    + http("DELETE", "/api/notes/n/versions/1")
    + http("POST", "/api/notes/n/restore", #"{"revision":0}"#)
    + http("GET", "/api/notes/n/share") + http("POST", "/api/notes/n/share", #"{"access":"read"}"#)
    + http("DELETE", "/api/notes/n/share") + http("DELETE", "/api/notes/n/share/l.1")
    + http("GET", "/api/notes/n/name") + http("PUT", "/api/notes/n/name", #"{"name":"n"}"#)
    + http("DELETE", "/api/notes/n/name")
    + http("GET", "/api/deleted")
    + http("POST", "/api/deleted/n/restore") { ask($0, "DELETE", "/api/notes/n") }
    + http("DELETE", "/api/deleted/n") { ask($0, "DELETE", "/api/notes/n") }
    + http("POST", "/api/rooms/r/publish", #"{"data":1}"#) + http("GET", "/api/rooms/r/history")
    + http(
      "POST", "/api/publish", #"{"publications":[{"room":"r","data":1},{"room":"s","data":2}]}"#)
    + http("GET", "/api/groups") + http("GET", "/api/rooms/r/group")
    + http("PUT", "/api/rooms/r/group", #"{"name":"g"}"#) + http("DELETE", "/api/rooms/r/group")
    + http("GET", "/api/rooms/r/members")
    + http("PUT", "/api/rooms/r/members?person=bea", "{}") {
      ask($0, "PUT", "/api/rooms/r/group", #"{"name":"g"}"#)
    }
    + http("DELETE", "/api/rooms/r/members?person=ada") + http("GET", "/api/rooms/r/likes")
    + http("PUT", "/api/rooms/r/likes?offset=1", #"{"reaction":"like"}"#)
    + http("DELETE", "/api/rooms/r/likes?offset=1")
    + http("GET", "/api/rooms/r/values")
    + http("GET", "/api/rooms/r/values/v") {
      ask($0, "PATCH", "/api/rooms/r/values", #"{"values":[{"set":"v","to":1}]}"#)
    }
    + http("PATCH", "/api/rooms/r/values", #"{"values":[{"set":"v","to":1}]}"#)
    + http("PUT", "/api/rooms/r/read", #"{"offset":1}"#) + http("GET", "/api/badges")
    + http("GET", "/api/sessions") + http("DELETE", "/api/sessions")
    + http("DELETE", "/api/sessions/s.2")

  /// A message over a socket.
  private static func message(
    _ name: String, isShared: Bool = false, first: [String: StoreReply] = [:],
    _ prepare: @escaping @Sendable (GatewayRig, UInt64) -> Void = { _, _ in },
    _ message: @escaping @Sendable () -> ClientMessage
  ) -> Scenario {
    Scenario(name: name, isShared: isShared, first: first) { rig in
      let (line, _) = try rig.connectNative("ada")
      prepare(rig, line)
      return {
        let id = rig.send(line, message())
        // A closed connection counts as a response, as its client joins again.
        return { max(rig.replyCount(line, to: id), rig.closeCodes[line] == nil ? 0 : 1) }
      }
    }
  }

  @Sendable private static func subscribe(_ rig: GatewayRig, _ line: UInt64) {
    rig.ask(line, .subscribe(.init(room: "r", isPresent: true)))
    ask(rig, "POST", "/api/rooms/r/publish", #"{"data":1}"#)
  }

  @Sendable private static func join(_ rig: GatewayRig, _ line: UInt64) {
    rig.ask(line, .join(.init(documentID: "n")))
  }

  private static func change(_ text: String) -> ClientMessage {
    var operation = TextOperation()
    operation.insert(text)
    return .change(
      .init(documentID: "n", epoch: "epoch of n", revision: 0, sequence: 1, operation: operation))
  }

  @Sendable private static func write(_ rig: GatewayRig) {
    for text in ["a", "ab", "abc"] { ask(rig, "PUT", "/api/notes/n/text", text) }
  }

  private static let messages: [Scenario] = [
    message("join ahead of the log") {
      .join(.init(documentID: "n", resume: ResumePoint(epoch: "epoch of n", revision: 5)))
    },
    message("join behind the window", { rig, _ in write(rig) }) {
      .join(.init(documentID: "n", resume: ResumePoint(epoch: "epoch of n", revision: 0)))
    },
    message("page before the window", { rig, _ in write(rig) }) {
      .documentHistory(
        .init(documentID: "n", resume: ResumePoint(epoch: "epoch of n", revision: 0), limit: 1))
    },
    message("join") { .join(.init(documentID: "n")) },
    message("join of no note") { .join(.init(documentID: "none")) },
    message("create") { .create(.init(documentID: "m", title: "t")) },
    message("change", join) { change("x") },
    message(
      "change whose commit may turn up", first: ["append": .undecided(.unavailable("x"))], join
    ) { change("x") },
    message("change that fails", first: ["append": .failed(.unavailable("x"))], join) {
      change("x")
    },
    message("history of a note") {
      .documentHistory(
        .init(documentID: "n", resume: ResumePoint(epoch: "epoch of n", revision: 0), limit: 1))
    },
    message("subscribe") { .subscribe(.init(room: "r")) },
    message("subscribe after a position", subscribe) {
      .subscribe(.init(room: "s", position: RoomPosition(epoch: "e", offset: 1)))
    },
    message("publish", subscribe) { .publish(.init(room: "r", data: .null)) },
    message("history of a room", subscribe) { .roomHistory(.init(room: "r")) },
    message("receipt", subscribe) { .receipt(.init(room: "r", offset: 1, state: .read)) },
    message("receipts", subscribe) { .receipts(.init(room: "r", offset: 1)) },
    message("last online", subscribe) { .lastOnline(.init(room: "r", people: ["ada"])) },
    message("block") { .block(.init(personID: "bea", isBlocked: true)) },
    message("flag", subscribe) { .flag(.init(room: "r", offset: 1, isFlagged: true)) },
    message("unflag", subscribe) { .flag(.init(room: "r", offset: 1, isFlagged: false)) },
    message("flags", subscribe) { .flags(.init(room: "r")) },
    message("follow", subscribe) { .follow(.init(room: "r", isFollowing: true)) },
  ]

  /// Messages while other nodes use the same store.
  private static let shared: [Scenario] = [
    message("change beside other nodes", isShared: true, join) { change("x") },
    message("join after a missed answer", isShared: true) {
      .join(
        .init(
          documentID: "n", resume: ResumePoint(epoch: "epoch of n", revision: 0),
          unanswered: ChangeName(clientID: "former", sequence: 1)))
    },
    message("page beside other nodes", isShared: true, join) {
      .documentHistory(
        .init(documentID: "n", resume: ResumePoint(epoch: "epoch of n", revision: 0), limit: 1))
    },
    message("publish beside other nodes", isShared: true, subscribe) {
      .publish(.init(room: "r", data: .null))
    },
  ]

  /// Work that the program around the gateway begins.
  private static func programScenario(
    _ name: String, isDemo: Bool = false,
    _ begin: @escaping @Sendable (GatewayRig, @escaping () -> Void) -> Void
  ) -> Scenario {
    Scenario(name: name, isDemo: isDemo) { rig in
      {
        let count = Count()
        begin(rig) { count.value += 1 }
        return { count.value }
      }
    }
  }

  private final class Count { var value = 0 }

  private static let programScenarios: [Scenario] = [
    Scenario(name: "a Whaler client makes a note", waitsForGood: true) { rig in
      let line = rig.connectWhaler(pool: nil, token: "ada")
      _ = rig.frames(line)
      let count = Count()
      return {
        rig.say(
          line, #"{"messageId":"1","type":"resourceConnection","data":{"resourceId":"whale"}}"#)
        return {
          count.value += rig.frames(line).count { $0.contains("resourceConnectionConf") }
          return max(count.value, rig.closeCodes[line] == nil ? 0 : 1)
        }
      }
    },
    programScenario("a session begins") { rig, end in
      let session = Session(
        id: "s.1", user: "ada", begunAt: rig.clock.now, endsAt: rig.clock.now + 90_000,
        device: Session.Device(browser: "", system: ""), SessionRule(idleMilliseconds: 10_000))
      rig.perform(.begin(session, countMax: 2)) { _ in end() }
    },
    programScenario("a session is renewed") { rig, end in
      rig.perform(
        .renew(
          id: "s.1", user: "ada", turn: 1, now: rig.clock.now,
          SessionRule(idleMilliseconds: 10_000))
      ) { _ in end() }
    },
    programScenario("sessions end") { rig, end in
      rig.perform(.end(user: "ada", .all)) { _ in end() }
    },
    programScenario("a link is opened") { rig, end in rig.openLink("key") { _ in end() } },
    programScenario("a name is opened") { rig, end in rig.openName("minutes") { _ in end() } },
    programScenario("a title is looked up", isDemo: true) { rig, end in
      rig.openTitle(of: "n") { _ in end() }
    },
  ]
}
