import Foundation
import ParleyJSON
import ParleyClient
import Testing

import ParleyOffline

/// Offline checks against the running program, over a network that is cut.
@Suite("Offline, against the program", .serialized, .timeLimit(.minutes(30)))
struct ProtocolCheckTests {
  private let folder = TemporaryFolder()

  private func draft(_ kind: MutationKind, _ id: ResourceID, _ body: String) -> MutationDraft {
    MutationDraft(kind, "notes", id, body: Array(body.utf8))
  }

  private func titles(_ server: GatewayProgram) async throws -> [JSONFields] {
    let response = try await SystemWebTransport().send(
      WebRequest("GET", "http://127.0.0.1:\(server.port)/api/notes"))
    let notes = try #require(JSONFields(response.body)?["notes"]?.elements)
    return notes.compactMap(\.fields)
  }

  private func versions(_ server: GatewayProgram, _ id: String) async throws -> [String] {
    let response = try await SystemWebTransport().send(
      WebRequest("GET", "http://127.0.0.1:\(server.port)/api/notes/\(id)/versions"))
    let list = try #require(JSONFields(response.body)?["versions"]?.elements)
    return list.compactMap { $0.fields?["name"]?.string }
  }

  private func drained(_ outbox: Outbox) async {
    for await count in await outbox.counts where count == 0 { return }
  }

  @Test(
    "E1: an offline create, three edits and a comment become one create, and the comment with its id"
  )
  func e1() async throws {
    let server = try GatewayProgram()
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    proxy.cut()
    let outbox = try Outbox(
      OfflineStore(folder: folder.path), user: "ann",
      sender: RESTService("http://127.0.0.1:\(proxy.port)/api"))
    // Something before it, so that the create itself is not tried yet.
    let first = ResourceID.temporary()
    try await outbox.add(draft(.create, first, #"{"title":"first"}"#))
    let id = ResourceID.temporary()
    try await outbox.add(draft(.create, id, #"{"title":"one"}"#))
    for title in ["two", "three", "four"] {
      try await outbox.add(draft(.update, id, #"{"title":"\#(title)"}"#))
    }
    let comment = try await outbox.add(
      draft(.action("versions"), id, #"{"name":"a comment","revision":0}"#))
    #expect(await outbox.count == 3)
    proxy.mend()
    await outbox.networkChanged()
    for await _ in comment {}
    await drained(outbox)
    let notes = try await titles(server)
    #expect(notes.compactMap { $0["title"]?.string }.sorted() == ["first", "four"])
    let note = try #require(notes.first { $0["title"]?.string == "four" })
    let real = try #require(note["id"]?.string)
    #expect(await outbox.canonical(id) == ResourceID(real))
    #expect(try await versions(server, real) == ["a comment"])
  }

  @Test("E2: a cut after the server has made a change, and a restart, make nothing twice")
  func e2() async throws {
    let server = try GatewayProgram()
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    let id = ResourceID.temporary()
    var keys: Set<String> = []
    do {
      // The answer is lost: the request goes to the server itself.
      let lossy = LossySender(
        RESTService("http://127.0.0.1:\(server.port)/api"), losing: 3)
      let outbox = try Outbox(OfflineStore(folder: folder.path), user: "ann", sender: lossy)
      try await outbox.add(draft(.create, id, #"{"title":"once"}"#))
      try await outbox.add(draft(.action("versions"), id, #"{"name":"a comment","revision":0}"#))
      await lossy.waitUntilLost(1)
      #expect(await outbox.count == 2)
      keys = Set(await outbox.waiting.map(\.key))
    }
    proxy.cut()
    let service = RESTService("http://127.0.0.1:\(proxy.port)/api")
    let outbox = try await reopened(service)
    #expect(await Set(outbox.waiting.map(\.key)) == keys)
    // A refused change stays, with its reason.
    proxy.mend()
    await outbox.networkChanged()
    await drained(outbox)
    let refused = try await outbox.add(draft(.update, id, #"{"title":7}"#))
    for await step in refused {
      if case .problem = step { break }
    }
    let problem = try #require(await outbox.waiting.first)
    guard case .refused(.status(400, let reason)) = problem.state else {
      Issue.record("\(problem.state)")
      return
    }
    #expect(reason != nil)
    let notes = try await titles(server)
    #expect(notes.compactMap { $0["title"]?.string } == ["once"])
    let real = try #require(notes.first?["id"]?.string)
    #expect(try await versions(server, real) == ["a comment"])
    try await outbox.decide(problem, .discard)
    #expect(await outbox.count == 0)
  }

  /// An outbox on the folder's store, once the one before has released it.
  private func reopened(_ sender: any MutationSender) async throws -> Outbox {
    while true {
      do throws(OfflineStoreError) {
        return try Outbox(OfflineStore(folder: folder.path), user: "ann", sender: sender)
      } catch {
        guard error == .inUse else { throw error }
        await Task.yield()
      }
    }
  }

  @Test(
    "E3: a note edited offline by two, and by a third who was there, has one text with everything")
  @MainActor func e3() async throws {
    let server = try GatewayProgram()
    try await server.makeNote("n")
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    let folders = [TemporaryFolder(), TemporaryFolder()]
    let writers = try folders.map {
      Parley(proxy.address, as: "A", storage: try OfflineStore(folder: $0.path))
    }
    let notes = writers.map { $0.note("n") }
    for note in notes { try await note.opened() }
    proxy.cut()
    for note in notes { await until { note.state == .offline } }
    let online = ParleyService(server.address, as: "B", timeout: .seconds(600))
    for step in 0..<100 {
      for (writer, note) in notes.enumerated() {
        let place = step % 2 == 0 ? 0 : note.utf16Count
        try note.replace(place..<place, with: "<\(writer).\(step)>")
      }
      if step % 10 == 0 { try await online.note("n").append("<b.\(step)>") }
    }
    proxy.mend()
    for writer in writers { writer.networkChanged() }
    for note in notes { try await note.saved() }
    await until { notes[0].text == notes[1].text }
    let fresh = ParleyService(server.address, as: "C", timeout: .seconds(600))
    #expect(try await fresh.note("n").text() == notes[0].text)
    for writer in 0..<2 {
      for step in 0..<100 {
        #expect(notes[0].text.components(separatedBy: "<\(writer).\(step)>").count == 2)
      }
    }
    for step in stride(from: 0, to: 100, by: 10) {
      #expect(notes[0].text.components(separatedBy: "<b.\(step)>").count == 2)
    }
    // Notes are closed with the client that they belong to.
    withExtendedLifetime(writers) {}
  }
}

/// Sends, and loses the answers to the first requests.
actor LossySender: MutationSender {
  private let inner: RESTService
  private var left: Int
  private var lost = 0
  private var waiting: [(Int, CheckedContinuation<Void, Never>)] = []

  init(_ inner: RESTService, losing count: Int) {
    self.inner = inner
    left = count
  }

  func send(_ request: MutationRequest) async -> MutationAnswer {
    let answer = await inner.send(request)
    guard left > 0 else { return answer }
    left -= 1
    lost += 1
    for (count, continuation) in waiting where count <= lost { continuation.resume() }
    waiting.removeAll { $0.0 <= lost }
    return .unreachable
  }

  func waitUntilLost(_ count: Int) async {
    if lost >= count { return }
    await withCheckedContinuation { waiting.append((count, $0)) }
  }
}
