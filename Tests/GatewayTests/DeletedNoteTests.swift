import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Deleted notes")
struct DeletedNoteTests {
  private let rig = GatewayRig()

  init() {
    for (name, verbs) in [
      ("manager", Verbs.all), ("reader", .read), ("writer", [.read, .write]),
    ] {
      _ = rig.token(name, [Grant(.documents, NamePattern("*"), verbs)])
    }
    _ = rig.token("few", [Grant(.documents, NamePattern("few-*"), .all)])
    _ = rig.token("nobody", [])
  }

  private func delete(_ ids: String..., by author: String = "") {
    for id in ids {
      rig.make(id)
      #expect(
        rig.request("DELETE", "/api/notes/\(id)?author=\(author)", token: "manager").status == 204)
      rig.clock.advance(milliseconds: 1)
    }
  }

  private func listed(_ query: String = "", token: String = "manager") throws -> JSONFields {
    let (status, body) = rig.request("GET", "/api/deleted" + query, token: token)
    #expect(status == 200)
    return try #require(JSONFields(Array(body.utf8)))
  }

  private func ids(_ query: String = "", token: String = "manager") throws -> [String] {
    let notes = try listed(query, token: token)["notes"]?.elements
    return notes?.compactMap { $0.fields?["id"]?.string } ?? []
  }

  @Test("a deleted note disappears for all clients, and is restored with its text")
  func comesBack() throws {
    rig.make("n1")
    #expect(rig.request("PUT", "/api/notes/n1/text", token: "manager", "kept").status == 200)
    let (connection, _) = try rig.connectNative("reader")
    _ = rig.ask(connection, .join(.init(documentID: "n1")))
    _ = rig.pushes(connection)
    let deletedAt = rig.clock.now
    #expect(rig.request("DELETE", "/api/notes/n1", token: "manager").status == 204)
    #expect(
      rig.pushes(connection).contains {
        if case .documentChanged(let news) = $0 { news.deleted } else { false }
      })
    #expect(rig.request("GET", "/api/notes/n1/text", token: "manager").status == 404)
    let note = try #require(try listed()["notes"]?.elements?.first?.fields)
    #expect(note["id"]?.string == "n1")
    #expect(note["deletedBy"]?.string == "The manager")
    #expect(note["deletedAt"]?.integer == Int(deletedAt))
    #expect(note["removedAt"]?.integer == Int(deletedAt) + 30 * 86_400_000)

    let (status, body) = rig.request("POST", "/api/deleted/n1/restore", token: "manager")
    #expect(status == 200)
    #expect(body.contains(#""id":"n1""#))
    #expect(rig.request("GET", "/api/notes/n1/text", token: "reader").body.contains("kept"))
    #expect(try ids() == [])
    #expect(rig.request("POST", "/api/deleted/n1/restore", token: "manager").status == 404)
  }

  @Test("a client that was disconnected while a note was deleted and restored resumes")
  func resumes() throws {
    rig.make("n1")
    let (connection, welcome) = try rig.connectNative("manager")
    guard case .joined(let first) = rig.ask(connection, .join(.init(documentID: "n1"))) else {
      Issue.record("not joined")
      return
    }
    rig.close(connection)
    #expect(rig.request("DELETE", "/api/notes/n1", token: "manager").status == 204)
    #expect(rig.request("POST", "/api/deleted/n1/restore", token: "manager").status == 200)
    let (again, _) = try rig.connectNative(
      "manager", client: .init(id: welcome.clientID, resumeToken: welcome.resumeToken))
    let resume = ResumePoint(epoch: first.epoch, revision: first.revision)
    guard
      case .joined(let second) = rig.ask(again, .join(.init(documentID: "n1", resume: resume)))
    else {
      Issue.record("not joined")
      return
    }
    #expect(second.epoch == first.epoch)
  }

  @Test("managers of a note list it, restore it and remove it; other users do not")
  func rights() throws {
    delete("n1", "few-1", "n2")
    #expect(rig.request("GET", "/api/deleted").status == 401)
    #expect(try ids() == ["n2", "few-1", "n1"])
    #expect(try ids(token: "few") == ["few-1"])
    for token in ["reader", "writer", "nobody"] {
      #expect(try ids(token: token) == [])
      #expect(rig.request("POST", "/api/deleted/n1/restore", token: token).status == 403)
      #expect(rig.request("DELETE", "/api/deleted/n1", token: token).status == 403)
    }
    #expect(rig.request("POST", "/api/deleted/n1/restore", token: "few").status == 403)
    #expect(rig.request("POST", "/api/deleted/n1/restore").status == 401)
    #expect(rig.request("DELETE", "/api/deleted/n1").status == 401)
    #expect(rig.request("DELETE", "/api/deleted/few-1", token: "few").status == 204)
    #expect(rig.request("DELETE", "/api/deleted/few-1", token: "few").status == 404)
    #expect(try ids() == ["n2", "n1"])
  }

  @Test("pages list every deleted note once, also if few are visible", arguments: [1, 2, 3, 7])
  func pages(limit: Int) throws {
    for number in 0..<7 { delete("n\(number)", "few-\(number)") }
    for (token, expected) in [("manager", 14), ("few", 7)] {
      var found: [String] = []
      var query = "?limit=\(limit)"
      while true {
        let page = try listed(query, token: token)
        found += page["notes"]?.elements?.compactMap { $0.fields?["id"]?.string } ?? []
        guard let next = page["next"]?.string else { break }
        query = "?limit=\(limit)&after=\(next)"
      }
      #expect(found.count == expected)
      #expect(Set(found).count == expected)
    }
  }

  @Test(
    "an invalid page is refused",
    arguments: ["limit=0", "limit=1001", "limit=x", "after=", "after=6e", "after=zz"])
  func noPage(query: String) {
    #expect(rig.request("GET", "/api/deleted?\(query)", token: "manager").status == 400)
  }

  @Test("a note whose id is in use again cannot be restored")
  func taken() {
    delete("n1")
    rig.make("n1")
    #expect(rig.request("POST", "/api/deleted/n1/restore", token: "manager").status == 409)
    #expect(rig.request("DELETE", "/api/notes/n1", token: "manager").status == 204)
    #expect(rig.request("POST", "/api/deleted/n1/restore", token: "manager").status == 200)
  }

  @Test("a deleted note is removed permanently after its time, and not before")
  func time() throws {
    delete("n1")
    let day: Int64 = 86_400_000
    for _ in 0..<29 {
      // The clock advances in steps, as a server's does.
      rig.pass(milliseconds: day)
    }
    #expect(try ids() == ["n1"])
    rig.pass(milliseconds: day)
    rig.pass(milliseconds: 600_000)
    #expect(try ids() == [])
    #expect(rig.request("POST", "/api/deleted/n1/restore", token: "manager").status == 404)
  }

  @Test("a wall clock that jumps ahead does not remove deleted notes at once")
  func jump() {
    var times = DueTimes()
    let year: Timestamp = 365 * 86_400_000
    let looks: [(now: Timestamp, uptime: Int64)] = [
      (1_000, 0), (year, 500), (year, 700_000), (800_000, 1_400_000), (1_500_000, 2_100_000),
      (1_600_000, 2_200_000),
    ]
    let due = looks.map { times.isDue(now: $0.now, uptime: $0.uptime) }
    #expect(due == [false, false, false, false, true, false])
  }

  @Test("without a time for deleted notes, a note is removed permanently at once")
  func atOnce() {
    let rig = GatewayRig(isDemo: true) { $0.deletedMilliseconds = 0 }
    rig.make("n1")
    #expect(rig.request("DELETE", "/api/notes/n1").status == 204)
    #expect(rig.request("POST", "/api/deleted/n1/restore").status == 404)
  }
}
