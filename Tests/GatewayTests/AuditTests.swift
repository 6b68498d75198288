import Gateway
import ParleyGatewayPorts
import ParleySimulationKit
import Testing

@Suite("The audit log")
struct AuditTests {
  private static let everything = [
    Grant(.documents, NamePattern("*"), .all), Grant(.rooms, NamePattern("*"), .all),
  ]

  private static func rig() -> GatewayRig {
    let rig = GatewayRig(isDemo: false)
    rig.book?.enter("ada", user: "ada", tokenID: "t", issuedAt: rig.clock.now, everything)
    rig.make("n")
    return rig
  }

  /// Returns the records that the store contains, the oldest first.
  private static func records(_ rig: GatewayRig) -> [AuditRecord] {
    let request = StoreRequest.audit(.page(before: nil, limit: 1_000, AuditFilter()))
    guard case .audit(.page(let records, _)) = rig.store.perform([request])[0] else { return [] }
    return records.reversed()
  }

  /// A request that changes rights or accounts, and the action that is recorded.
  struct Work: Sendable, CustomStringConvertible {
    let method: String
    let path: String
    let body: String
    let token: String
    let action: AuditAction
    let target: String
    let outcome: AuditOutcome
    var description: String { "\(method) \(path) \(outcome.word)" }

    init(
      _ method: String, _ path: String, _ action: AuditAction, _ target: String = "n",
      body: String = "", by token: String = "ada", _ outcome: AuditOutcome = .done
    ) {
      self.method = method
      self.path = path
      self.body = body
      self.token = token
      self.action = action
      self.target = target
      self.outcome = outcome
    }
  }

  private static let works = [
    Work("DELETE", "/api/notes/n", .deleteNote),
    Work("PATCH", "/api/notes/n", .moveNote, body: #"{"folder":"team"}"#),
    Work("POST", "/api/notes/n/share", .makeLink, body: #"{"access":"read"}"#),
    Work("POST", "/api/revoke", .revoke, "bea", body: #"{"user":"bea"}"#, by: "pk_operator"),
    Work("POST", "/api/revoke", .revoke, "t.1", body: #"{"token":"t.1"}"#, by: "pk_operator"),
    Work(
      "POST", "/api/tokens", .makeToken, "__proto__", body: #"{"user":"__proto__"}"#,
      by: "pk_operator"),
    Work("POST", "/api/users/bea/disconnect", .disconnect, "bea", by: "pk_operator"),
    Work(
      "POST", "/api/users/bea/refresh-rights", .refreshRights, "bea", body: #"{"within":1}"#,
      by: "pk_operator"),
  ]

  @Test("an action is recorded once, with who and what", arguments: works)
  func actions(work: Work) throws {
    let rig = Self.rig()
    let response = rig.request(work.method, work.path, token: work.token, work.body)
    #expect((200..<300).contains(response.status), "\(response.status)")
    let records = Self.records(rig)
    #expect(records.count == 1)
    let record = try #require(records.first)
    #expect(record.action == work.action)
    #expect(record.target == work.target)
    #expect(record.outcome == work.outcome)
    #expect(record.actor == (work.token == "ada" ? "ada" : "key:pk_operator"))
    #expect(record.time == rig.clock.now)
  }

  @Test("a refused request changes nothing, and has no record")
  func refused() {
    let rig = Self.rig()
    #expect(rig.request("DELETE", "/api/notes/other", token: "ada").status == 404)
    #expect(rig.request("POST", "/api/revoke", token: "ada", #"{"user":"bea"}"#).status == 403)
    #expect(Self.records(rig).isEmpty)
  }

  @Test("a token in a request is not recorded")
  func tokens() throws {
    let rig = Self.rig()
    let response = rig.request(
      "POST", "/api/tokens", token: "pk_operator", #"{"user":"bea","rooms":["r=read"]}"#)
    let token = try #require(response.body.firstMatch(of: /"token":"([^"]+)"/)).1
    #expect(Self.records(rig).map(\.action) == [.makeToken])
    for record in Self.records(rig) { #expect(!record.detail.contains(token)) }
  }

  @Test("only operators read the log")
  func rights() {
    let rig = Self.rig()
    #expect(rig.request("GET", "/api/audit").status == 401)
    #expect(rig.request("GET", "/api/audit", token: "ada").status == 403)
    #expect(rig.request("GET", "/api/audit", token: "pk_operator").status == 200)
  }

  private static func page(
    _ rig: GatewayRig, _ query: String
  ) -> (targets: [String], next: Int?) {
    let response = rig.request("GET", "/api/audit?" + query, token: "pk_operator")
    #expect(response.status == 200)
    let targets = response.body.matches(of: /"target":"([^"]*)"/).map { String($0.1) }
    return (targets, response.body.firstMatch(of: /"next":(\d+)/).flatMap { Int($0.1) })
  }

  @Test(
    "pages of any size together have all records, the newest first", arguments: [1, 2, 3, 7, 1_000])
  func pages(limit: Int) {
    let rig = Self.rig()
    let all = (0..<2_050).map { "t\($0)" }
    for (time, target) in all.enumerated() {
      let record = AuditRecord(
        time: Timestamp(time), actor: time % 293 == 0 ? "ada" : "bea", action: .revoke,
        target: target)
      _ = rig.store.perform([.audit(.add(record))])
    }
    var (found, next): ([String], Int?) = ([], nil)
    repeat {
      let before = next.map { "&before=\($0)" } ?? ""
      let page = Self.page(rig, "limit=\(limit)&actor=ada" + before)
      #expect(page.targets.count <= limit)
      found += page.targets
      next = page.next
    } while next != nil
    #expect(found == stride(from: 0, to: all.count, by: 293).reversed().map { all[$0] })
  }

  @Test(
    "invalid queries are refused",
    arguments: [
      "limit=0", "limit=1001", "before=x", "before=-1", "outcome=maybe", "since=x", "until=1.5",
      "actor=%ff",
    ])
  func queries(query: String) {
    let response = Self.rig().request("GET", "/api/audit?" + query, token: "pk_operator")
    #expect(response.status == 400)
  }

  @Test("refused sign-ins are recorded up to a number for each address, and in total")
  func refusals() {
    var counter = RefusalCounter()
    let one = LimitedClient(address: IPAddress("192.0.2.1"))
    let verdicts = (0..<20).map { _ in counter.count(one, uptime: 0) }
    #expect(verdicts.prefix(9).allSatisfy { $0 == .recorded })
    #expect(verdicts[9] == .recordedLast)
    #expect(verdicts.suffix(10).allSatisfy { $0 == .dropped })
    // Addresses of one IPv6 network count as one.
    let recorded = (0..<20).filter { number in
      let address = LimitedClient(address: IPAddress("2001:db8::\(number)"))
      return counter.count(address, uptime: 0) != .dropped
    }
    #expect(recorded.count == RefusalCounter.countMaxOfEach)
    var total = 20
    for number in 0..<1_000 {
      let address = LimitedClient(address: IPAddress("198.51.\(number / 250).\(number % 250)"))
      if counter.count(address, uptime: 1) != .dropped { total += 1 }
    }
    #expect(total == RefusalCounter.countMax)
    #expect(counter.count(one, uptime: RefusalCounter.windowMilliseconds) == .recorded)
  }

  @Test("old records are removed in steps while the server runs")
  func trimming() {
    let rig = Self.rig()
    let old = AuditRecord(time: rig.clock.now, actor: "ada", action: .revoke, target: "old")
    _ = rig.store.perform((0..<1_200).map { _ in .audit(.add(old)) })
    rig.pass(milliseconds: 1)
    let year: Int64 = 365 * 86_400_000
    var new = old
    new.time += year
    _ = rig.store.perform([.audit(.add(new))])
    rig.pass(milliseconds: year)
    rig.pass(milliseconds: 3_600_001)
    #expect(Self.records(rig).count <= 1)
  }
}
