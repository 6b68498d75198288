import ParleyGatewayPorts
import ParleyGrowthKit
import ParleyStoreSQLite
import Testing

@Suite("The cost of reading history", .serialized)
struct HistoryGrowthTests {
  @Test("a page costs as much in a long history as in a short one", arguments: [1, 40])
  func growthOfPages(authors: Int) throws {
    let law = GrowthLaw("history of \(authors) authors", size: 2_000) { size in
      PreparedStore(entries: size, authors: authors)
    } run: { prepared in
      let head = prepared.entries
      for after in [0, head / 2, head - 20] {
        let reply = prepared.store.one(.history(id: "n", after: after, limit: 4, pause: .max))
        guard case .history(let page) = reply, page.head == head, !page.groups.isEmpty else {
          preconditionFailure("no history came")
        }
      }
    }
    // Eight times the history must not cost more; a factor of two leaves room for cache effects.
    let ratio = min(law.check().ratio, law.check().ratio)
    #expect(ratio < 2)
  }

  @Test("a page of sessions costs as much in a long history as in a short one", arguments: [1, 40])
  func growthOfSessions(authors: Int) throws {
    let law = GrowthLaw("sessions of \(authors) authors", size: 12_000) { size in
      PreparedStore(entries: size, authors: authors)
    } run: { prepared in
      let head = prepared.entries
      for before in [.max, head - 500] {
        let reply = prepared.store.one(
          .past(id: "n", .sessions(before: before, limit: 100, pause: .max)))
        guard case .editingSessions(let page) = reply, page.head == head, page.isLastCut,
          let session = page.sessions.first,
          session.authors.reduce(0, { $0 + $1.changes }) == EditingSessionPage.changesMax
        else { preconditionFailure("no cut session came") }
      }
    }
    // Eight times the history must not cost more; a factor of two leaves room for cache effects.
    let ratio = min(law.check().ratio, law.check().ratio)
    #expect(ratio < 2)
  }

  @Test("a text of the past costs what lies between it and the snapshot before it")
  func growthOfTexts() throws {
    let law = GrowthLaw("text of revision 700", size: 2_000) { size in
      PreparedStore(entries: size, authors: 1)
    } run: { prepared in
      let reply = prepared.store.one(.text(id: "n", at: .revision(700)))
      guard case .text(let text) = reply, text.text.utf8.count == 700 else {
        preconditionFailure("no text came")
      }
    }
    let ratio = min(law.check().ratio, law.check().ratio)
    #expect(ratio < 2)
  }

  @Test("the cost of the newest texts does not depend on the length of an imported log")
  func growthOfImportedTexts() throws {
    let law = GrowthLaw("difference in an imported log", size: 2_000) { size in
      PreparedStore(importing: size)
    } run: { prepared in
      let head = prepared.entries
      let reply = prepared.store.one(.past(id: "n", .difference(from: head - 11, to: head - 10)))
      guard case .difference(.difference(let found)) = reply, found.parts.count == 1 else {
        preconditionFailure("no difference came")
      }
    }
    // Eight times the log must not cost more; a factor of two leaves room for cache effects.
    let ratio = min(law.check().ratio, law.check().ratio)
    #expect(ratio < 2)
  }
}

@Suite("Reading during commits")
struct ConcurrentReadTests {
  @Test("an open read keeps its snapshot, and no commit waits for it")
  func openRead() throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file())
    store.create("n")
    store.type("before", in: "n", after: 0)
    let other = try SecondConnection(folder.file())
    let revision = "SELECT revision FROM documents"
    try other.run("BEGIN")
    #expect(try other.integer(revision) == 6)
    store.type("after", in: "n", after: 6)
    #expect(try other.integer(revision) == 6)
    let reader = try SQLiteStore(reading: folder.file())
    guard case .text(let text) = reader.one(.text(id: "n", at: .revision(.max))) else {
      Issue.record("no text came")
      return
    }
    #expect(text.text == "beforeafter")
    try other.run("COMMIT")
    #expect(try other.integer(revision) == 11)
  }
}
