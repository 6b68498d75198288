import Gateway
import ParleyGatewayPorts
import ParleyOTWorkloads
import ParleySimulationKit
import Testing

@Suite("Sessions of signed-in users")
struct SessionTests {
  private static let rule = SessionRule(idleMilliseconds: 10_000, graceMilliseconds: 100)

  private func session(endsAt: Timestamp = 100_000) -> Session {
    Session(
      id: "s.1", user: "ada", begunAt: 0, endsAt: endsAt,
      device: Session.Device(browser: "", system: ""), Self.rule)
  }

  @Test("a session lasts while it is used, up to its maximum age")
  func slides() {
    var session = session(endsAt: 25_000)
    #expect(session.expiresAt == 10_000)
    #expect(session.renew(turn: 1, now: 9_999, Self.rule) == .renewed)
    #expect(session.expiresAt == 19_999)
    #expect(session.renew(turn: 2, now: 19_000, Self.rule) == .renewed)
    #expect(session.expiresAt == 25_000)
    var atEnd = session
    #expect(atEnd.renew(turn: 3, now: 25_000, Self.rule) == .expired)
    #expect(session.renew(turn: 3, now: 24_999, Self.rule) == .renewed)
  }

  @Test("a lost answer is repeated for a while; after that the session ends")
  func grace() {
    var session = session()
    _ = session.renew(turn: 1, now: 1_000, Self.rule)
    let renewed = session
    #expect(session.renew(turn: 1, now: 1_100, Self.rule) == .repeated)
    #expect(session == renewed)
    #expect(session.renew(turn: 1, now: 1_101, Self.rule) == .reused)
  }

  @Test("a session keeps its newest token after the store was set back", arguments: [2, 7])
  func restored(turn: Int) {
    var session = session()
    #expect(session.renew(turn: turn, now: 1_000, Self.rule) == .renewed)
    #expect(session.turn == turn + 1)
  }

  /// A holder of refresh tokens, which stores the newest token that it receives.
  private struct Holder {
    var turn: Int
  }

  @Test("if two holders use one token, at most one stays signed in", arguments: UInt64(1)...200)
  func theft(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var session = session(endsAt: .max)
    var holders = [Holder(turn: 1), Holder(turn: 1)]
    var now: Timestamp = 0
    var isOver = false
    for _ in 0..<100 where !isOver {
      // The grace period has passed: within it, both holders may get the same token.
      now += 101 + Timestamp(random.next() % 5_000)
      let index = Int(random.next() % 2)
      switch session.renew(turn: holders[index].turn, now: now, Self.rule) {
      case .renewed:
        #expect(session.turn == holders[index].turn + 1)
        holders[index].turn = session.turn
        #expect(holders.count { $0.turn == session.turn } == 1, "two have a token that counts")
      case .reused:
        #expect(holders[index].turn < session.turn)
        isOver = true
      case .repeated, .expired: Issue.record("nothing was lost, nor late")
      }
    }
    #expect(isOver, "the session has not ended after both had asked")
  }

  @Test("an honest browser stays signed in although answers are lost", arguments: UInt64(1)...200)
  func lossy(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var session = session(endsAt: .max)
    var turn = 1
    var now: Timestamp = 0
    for _ in 0..<100 {
      now += Timestamp(random.next() % 9_000)
      // The browser retries until a response arrives, also from several windows; the clock may step
      // back.
      let tries = 1 + random.next() % 4
      for attempt in 0..<tries {
        let outcome = session.renew(turn: turn, now: now, Self.rule)
        #expect(outcome == (attempt == 0 ? .renewed : .repeated))
        now += Timestamp(random.next() % 30) - 5
      }
      turn += 1
      #expect(session.turn == turn, "more than one token counts")
    }
  }

  @Test("ending many sessions waits for the disk once")
  func oneWait() {
    let rig = GatewayRig()
    _ = rig.token("ada", [Grant(.documents, NamePattern("*"), .all)])
    let now = rig.clock.now
    for number in 1...9 {
      let session = Session(
        id: "s.\(number)", user: "ada", begunAt: now, endsAt: now + 90_000,
        device: Session.Device(browser: "", system: ""), Self.rule)
      _ = rig.store.perform([.logins(.begin(session, countMax: 32))])
    }
    let answer = rig.request("DELETE", "/api/sessions", token: "ada")
    #expect(answer.body == #"{"ended":9}"#)
    #expect(rig.revocations.waits == 1)
    for number in 1...9 {
      #expect(
        rig.revocations.isRevoked(Identity(user: "ada", tokenID: "s.\(number)", grants: [])))
    }
  }

  /// A user whose password was changed at `since`.
  private final class ChangedUser: UserSource {
    let since: Timestamp
    init(since: Timestamp) { self.since = since }
    var generation: Int { 0 }
    func refresh(now: Timestamp) {}
    func user(_ id: String) -> User? { User(id: id, name: id, grants: [], since: since) }
    func user(_ id: String, password: String) -> User? { nil }
  }

  @Test("sessions of a former password are not listed")
  func formerPassword() {
    let since = VirtualClock().now
    let rig = GatewayRig(users: ChangedUser(since: since))
    rig.book?.enter("ada", user: "ada", issuedAt: since)
    for (id, begunAt) in [("s.1", since - 1), ("s.2", since)] {
      let session = Session(
        id: id, user: "ada", begunAt: begunAt, endsAt: rig.clock.now + 90_000_000,
        device: Session.Device(browser: "", system: ""), SessionRule(idleMilliseconds: 90_000_000))
      _ = rig.store.perform([.logins(.begin(session, countMax: 32))])
    }
    let answer = rig.request("GET", "/api/sessions", token: "ada")
    #expect(answer.status == 200)
    #expect(answer.body.contains(#""s.2""#) && !answer.body.contains(#""s.1""#))
  }

  @Test(
    "tokens of an ended session are invalid wherever the process ends",
    arguments: ["a token used twice", "a logout", "another password"])
  func crash(reason: String) {
    let identity = Identity(user: "ada", tokenID: "s.1", issuedAt: 0, grants: [])
    for broken in [false, true] {
      let rig = GatewayRig()
      rig.revocations.isBroken = broken
      let now = rig.clock.now
      let session = Session(
        id: "s.1", user: "ada", begunAt: now, endsAt: now + 90_000,
        device: Session.Device(browser: "", system: ""), Self.rule)
      _ = rig.store.perform([.logins(.begin(session, countMax: 32))])
      for turn in 1...2 {
        _ = rig.store.perform([
          .logins(
            .renew(
              id: "s.1", user: "ada", turn: turn, now: now + Timestamp(turn),
              Self.rule))
        ])
      }
      func isThere() -> Bool {
        guard
          case .logins(.sessions(let sessions)) = rig.store.perform([
            .logins(.list(user: "ada", now: now))
          ])[0]
        else { return false }
        return !sessions.isEmpty
      }
      let request: SessionRequest =
        switch reason {
        case "a logout": .end(user: "ada", .one("s.1"))
        case "another password": .end(user: "ada", .all)
        // The token of two renewals ago.
        default:
          .renew(id: "s.1", user: "ada", turn: 1, now: now + 3, Self.rule)
        }
      rig.isStepwise = true
      var isDone = false
      rig.perform(request) { _ in isDone = true }
      while !rig.stored.isEmpty {
        rig.performStoreRequests(on: 1)
        if !broken { #expect(isThere() || rig.revocations.isRevoked(identity)) }
      }
      #expect(isDone && !isThere())
      #expect(rig.revocations.isRevoked(identity) != broken)
    }
  }

  @Test("tokens of a replaced session are invalid wherever the process ends")
  func crowd() {
    let rig = GatewayRig()
    let now = rig.clock.now
    let sessions = (1...4).map { number in
      Session(
        id: "s.\(number)", user: "ada", begunAt: now + Timestamp(number), endsAt: now + 90_000,
        device: Session.Device(browser: "", system: ""), Self.rule)
    }
    for session in sessions.prefix(3) {
      _ = rig.store.perform([.logins(.begin(session, countMax: 3))])
    }
    func kept() -> [String] {
      let reply = rig.store.perform([.logins(.list(user: "ada", now: now))])[0]
      guard case .logins(.sessions(let sessions)) = reply else { return [] }
      return sessions.map(\.id)
    }
    let first = Identity(user: "ada", tokenID: "s.1", issuedAt: 0, grants: [])
    rig.isStepwise = true
    var isDone = false
    rig.perform(.begin(sessions[3], countMax: 3)) { _ in isDone = true }
    while !rig.stored.isEmpty {
      rig.performStoreRequests(on: 1)
      #expect(kept().contains("s.1") || rig.revocations.isRevoked(first))
    }
    #expect(isDone && kept() == ["s.4", "s.3", "s.2"])
    #expect(rig.revocations.isRevoked(first))
    #expect(!rig.revocations.isRevoked(Identity(user: "ada", tokenID: "s.2", grants: [])))
  }

  @Test(
    "while the disk hangs a session continues, and its new tokens can be revoked, too")
  func hangingDisk() throws {
    let rig = GatewayRig()
    _ = rig.token("ada", [Grant(.documents, NamePattern("*"), .all)])
    let begun = rig.clock.now
    let session = Session(
      id: "s.1", user: "ada", begunAt: begun, endsAt: begun + 90_000_000,
      device: Session.Device(browser: "", system: ""), SessionRule(idleMilliseconds: 90_000_000))
    _ = rig.store.perform([.logins(.begin(session, countMax: 32))])
    rig.revocations.hangs = true
    let request = rig.begin("DELETE", "/api/sessions/s.1", headers: ["authorization": "Bearer ada"])
    #expect(rig.answer(request) == nil)
    #expect(rig.request("GET", "/api/sessions", token: "ada").status == 200)
    // The session is renewed a minute later, so its new token expires later than earlier tokens.
    rig.pass(milliseconds: 60_000)
    let token = Identity(user: "ada", tokenID: "s.1", grants: [])
    _ = rig.store.perform([
      .logins(
        .renew(
          id: "s.1", user: "ada", turn: 1, now: rig.clock.now,
          SessionRule(idleMilliseconds: 90_000_000)))
    ])
    rig.revocations.hangs = false
    rig.pass(milliseconds: 0)
    #expect(rig.answer(request)?.body == #"{"ended":1}"#)
    let lifetime = GatewaySettings().accessTokenMilliseconds
    #expect(rig.revocations.all == [.timed("s.1", until: begun + 60_000 + lifetime)])
    #expect(rig.revocations.isRevoked(token))
  }

  @Test("tokens are revoked until they expire, with a separate limit")
  func revocations() {
    var revoked = RevokedTokens()
    let identity = Identity(user: "ada", tokenID: "s.1", issuedAt: 5, grants: [])
    let isNews = revoked.insert(.timed("s.1", until: 100))
    let isNewsAgain = revoked.insert(.timed("s.1", until: 90))
    #expect(isNews && !isNewsAgain)
    #expect(revoked.isRevoked(identity))
    #expect(revoked.all == [.timed("s.1", until: 100)])
    revoked.forget(endedBy: 99)
    #expect(revoked.isRevoked(identity))
    revoked.forget(endedBy: 100)
    #expect(!revoked.isRevoked(identity))
    for number in 0..<RevokedTokens.sessionsMax {
      revoked.insert(.timed("s.\(number)", until: 200))
    }
    #expect(!revoked.hasRoom(for: .timed("s.x", until: 200)))
    #expect(revoked.hasRoom(for: .timed("s.0", until: 300)))
    #expect(revoked.hasRoom(for: .timed("l.x", until: 200)))
    #expect(revoked.hasRoom(for: .user("bea", before: 1)))
    revoked.forget(endedBy: 200)
    #expect(revoked.count == 0)
  }
}
