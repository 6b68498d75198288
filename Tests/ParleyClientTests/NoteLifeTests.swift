import Foundation
import ParleyClient
import ParleyLocks
import Testing

/// A note's whole life over HTTP, and the protocol that both kinds of connections conform to.
@Suite("A note's whole life", .serialized, .timeLimit(.minutes(30)))
struct NoteLifeTests {
  /// A server that checks tokens.
  private func guarded() throws -> GatewayProgram {
    try GatewayProgram("--hmac-secret-file", "secret", "--audience", "parley")
  }

  @Test func `a note is made, found, changed, shared, deleted and restored`() async throws {
    let server = try guarded()
    let token = try server.token(for: "ann")
    let service = ParleyService(server.address, as: "Ann", timeout: .seconds(600)) { token }
    let notes = service.notes
    let made = try await notes.create("Shopping", folder: "home")
    try await service.note(made.id).append("milk and bread")
    #expect(try await notes.info(made.id).createdAt == made.createdAt)
    let page = try await notes.list(folder: "home", limit: 1)
    #expect(page.notes.first?.id == made.id && page.notes.first?.may?.contains("manage") == true)
    #expect(try await notes.rename(made.id, to: "Groceries").title == "Groceries")
    #expect(try await notes.move(made.id, to: "home/old").folder == "home/old")
    #expect(try await notes.folders().contains { $0.folder == "home/old" })
    _ = try await notes.search("groc")
    try await changeAndComment(made.id, notes)
    try await shareAndUpload(made.id, notes)
    try await notes.delete(made.id)
    await #expect(throws: RequestError.unknownNote) { try await notes.info(made.id) }
    #expect(try await notes.deleted().notes.map(\.id) == [made.id])
    #expect(try await notes.restore(made.id).title == "Groceries")
    try await notes.delete(made.id)
    try await notes.purge(made.id)
    #expect(try await notes.deleted().notes.isEmpty)
  }

  private func changeAndComment(_ id: String, _ notes: NoteRequests) async throws {
    let newest = try await notes.text(of: id)
    #expect(newest.text == "milk and bread")
    let comment = try await notes.comment("Which?", on: id, at: 0..<4, of: newest.revision)
    try await notes.answer("Oats", to: comment.id, on: id)
    try await notes.edit(comment: comment.id, on: id, to: "Which one?")
    #expect(try await notes.resolve(comment: comment.id, on: id).resolved != nil)
    #expect(try await notes.comments(on: id).map(\.text) == ["Which one?", "Oats"])
    try await notes.delete(comment: comment.id, on: id)
    try await notes.addVersion("first", of: id, at: newest.revision)
    #expect(try await notes.versions(of: id).map(\.name) == ["first"])
    try await notes.removeVersion(of: id, at: newest.revision)
    let history = try await notes.history(of: id)
    #expect(
      history.head == newest.revision && history.sessions.first?.authors.first?.inserted == 14)
    let changes = try await notes.changes(in: id, from: 0, to: newest.revision)
    #expect(changes.first?.inserted == "milk and bread")
    #expect(try await notes.restore(id, to: 0) == newest.revision + 1)
    #expect(try await notes.text(of: id, at: newest.revision).text == "milk and bread")
  }

  private func shareAndUpload(_ id: String, _ notes: NoteRequests) async throws {
    let link = try await notes.share(id, access: .write, for: .seconds(60))
    #expect(link.path?.hasPrefix("/s/") == true)
    #expect(try await notes.links(of: id).map(\.id) == [link.id])
    try await notes.unshare(id, link: link.id)
    #expect(try await notes.links(of: id).isEmpty)
    let file = try await notes.upload(Array("plan".utf8), named: "a plan.txt", to: id)
    #expect(try await notes.files(of: id).map(\.hash) == [file.hash])
    #expect(try await notes.download(file, of: id) == Array("plan".utf8))
  }

  enum Token: CaseIterable { case missing, none, garbage, otherAudience, failing }

  @Test(arguments: Token.allCases)
  func `without a valid token each call fails with the reason`(kind: Token) async throws {
    let server = try guarded()
    let other = try server.token(for: "ann", audience: "another app")
    let source: TokenSource = {
      switch kind {
      case .missing, .none: return nil
      case .garbage: return "garbage"
      case .otherAudience: return other
      case .failing: throw AwaitTests.LoginFailed()
      }
    }
    let service = ParleyService(
      server.address, as: "Ann", timeout: kind == .failing ? .milliseconds(300) : .seconds(60),
      token: kind == .missing ? nil : source
    )
    let appending = await #expect(throws: NoteError.self) {
      try await service.note("x").append("y")
    }
    let publishing = await #expect(throws: PublishError.self) {
      try await service.room("x").publish(7)
    }
    let asking = await #expect(throws: RequestError.self) { try await service.notes.list() }
    #expect(await service.problem != nil)
    switch kind {
    case .none:
      #expect(appending == .noAnswer(.stopped(.noToken)))
      #expect(publishing == .noAnswer(.stopped(.noToken)))
      #expect(asking == .noAnswer(.stopped(.noToken)))
    case .missing, .garbage, .otherAudience:
      #expect("\(try #require(appending))".contains("it expected a token that it accepts"))
      #expect("\(try #require(publishing))".contains("it expected a token that it accepts"))
      #expect("\(try #require(asking))".contains("unauthorised"))
    case .failing:
      for error in [appending, publishing, asking] as [(any Error)?] {
        #expect("\(try #require(error))".contains("no answer of the login"))
      }
    }
  }

  @Test func `after a refusal of its token the client requests a new one`() async throws {
    let server = try guarded()
    let (old, new) = (
      try server.token(for: "ann", audience: "another app"), try server.token(for: "ann")
    )
    let calls = Locked(0)
    let sender = ParleyService(
      transport: ScriptedServer(), requests: SystemTransport(server.address), as: "Ann",
      time: ManualTime(),
      token: {
        calls.withLock { count in
          count += 1
          return count == 1 ? old : new
        }
      })
    // The connection of this service may have asked for the first one.
    _ = try await sender.notes.list()
    _ = try await sender.notes.list()
    #expect(calls.withLock { $0 } <= 3)
  }

  /// What code for both kinds of connections does.
  private func write(_ text: String, by parley: some ParleyConnecting) async throws -> String {
    let id = try await parley.notes.create("Shared").id
    let note = await parley.note(id)
    try await note.opened()
    try await note.append(text)
    try await note.saved()
    await note.select([TextSelection(at: 1)])
    let room = await parley.room("r", isPresent: false, from: nil)
    try await room.opened()
    let position = try await room.publish(json: Array("1".utf8), key: nil, senderID: nil)
    #expect(position.offset >= 1)
    await parley.rename("Renamed", color: "#102030")
    #expect(await parley.name == "Renamed")
    #expect(await parley.color == "#102030")
    #expect(await note.title == "Shared")
    #expect(await note.state == .live)
    #expect(await note.unsaved == 0)
    #expect(await note.isWritable)
    #expect(await note.refusal == nil)
    #expect(await !note.isStorageFailing)
    #expect(await note.participants.isEmpty)
    #expect(await room.state == .live)
    #expect(await room.participants.isEmpty)
    #expect(await parley.connection == .online)
    #expect(await parley.problem == nil)
    #expect(await parley.unsaved == 0)
    #expect(await parley.serverTime != nil)
    #expect(await parley.capabilities?.isEmpty == false)
    await parley.stop()
    for await state in await parley.connections {
      if state == .stopped(.asked) { break }
    }
    await parley.start()
    await parley.networkChanged()
    return try await note.currentText()
  }

  @Test func `the same code works with the connection of an app and of a service`() async throws {
    let server = try GatewayProgram()
    #expect(
      try await write("app", by: Parley(server.address, as: "Ann", timeout: .seconds(600))) == "app"
    )
    #expect(
      try await write("bot", by: ParleyService(server.address, as: "Bot", timeout: .seconds(600)))
        == "bot")
  }

  @Test func `a service sees the other participants, as an app does`() async throws {
    let server = try GatewayProgram()
    try await server.makeNote("n")
    let service = ParleyService(server.address, as: "Bot", timeout: .seconds(600))
    let note = await service.note("n")
    try await note.append("abc")
    let ann = await Parley(server.address, as: "Ann", color: "#102030")
    try await ann.note("n").opened()
    await ann.note("n").select([TextSelection(anchor: 1, head: 2)])
    while await note.participants.first?.selections != [TextSelection(anchor: 1, head: 2)] {
      await Task.yield()
    }
    #expect(await note.participants.map(\.name) == ["Ann"])
    #expect(await note.participants.map(\.color) == ["#102030"])
  }

  @Test func `answers of other servers and transports without HTTP are errors`() async throws {
    let notes = ParleyService(
      transport: ScriptedServer(), requests: Portal(), as: "Ann", time: ManualTime()
    ).notes
    await #expect(throws: RequestError.notParley(status: 200)) { try await notes.list() }
    let without = ParleyService(transport: ScriptedServer(), as: "Ann", time: ManualTime()).notes
    let error = await #expect(throws: RequestError.self) { try await without.info("n") }
    #expect("\(try #require(error))".contains("sends no requests over HTTP"))
  }

  /// A network's page to sign in, which answers every request.
  private struct Portal: RequestTransport {
    func send(_ request: ServerRequest) -> ServerAnswer {
      ServerAnswer(status: 200, body: Array("<html>".utf8))
    }
  }
}
