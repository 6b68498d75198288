import ParleyChat
import ParleyClient
import Testing

@MainActor @Suite("A chat and the program", .serialized, .timeLimit(.minutes(30)))
struct ProgramTests {
  private func connect(
    _ server: GatewayProgram, as name: String, rights: String = "*=all"
  ) throws -> Parley {
    let token = try server.token(for: name, room: rights)
    return Parley(server.address, as: name) { token }
  }

  private func server() throws -> GatewayProgram {
    try GatewayProgram("--hmac-secret-file", "secret", "--audience", "parley")
  }

  @Test("two people who talk see each other join, type, read and leave")
  func talk() async throws {
    let server = try server()
    let (ann, ben) = (try connect(server, as: "ann"), try connect(server, as: "ben"))
    let (mine, theirs) = (ChatHandlers(ann), ChatHandlers(ben))
    var people = try #require(mine.contacts).people(in: "team").makeAsyncIterator()
    var theirPeople: AsyncStream<[ChatPerson]>? = try #require(theirs.contacts).people(in: "team")
    var messages = try #require(theirs.threads).messages(in: "team").makeAsyncIterator()
    var list = await people.next()
    while let known = list, known.count != 2 { list = await people.next() }
    #expect(list?.map(\.id) == [.init("ann"), .init("ben")])

    var typists = try #require(mine.typing).typists(in: "team").makeAsyncIterator()
    try #require(theirs.typing).setTyping(true, in: "team")
    while let list = await typists.next(), list != [.init("ben")] {}
    try #require(theirs.typing).setTyping(false, in: "team")
    while let list = await typists.next(), !list.isEmpty {}

    var receipts = try #require(mine.receipts).receipts(in: "team").makeAsyncIterator()
    let sent = try await mine.core.send(text: "hello", to: "team")
    guard case .message(let message)? = await messages.next() else {
      Issue.record("no message")
      return
    }
    #expect(message.id == sent)
    #expect(message.text == "hello")
    #expect(message.sender == .init("ann"))
    try #require(theirs.receipts).confirm(.read, of: message.id)
    #expect(
      await receipts.next()
        == .receipt(.init(message: sent, person: .init("ben"), stage: .read)))
    #expect(try await mine.receipts?.receipts(of: sent) == [.init("ben"): .read])
    #expect(await theirs.search?.search("HELLO", in: nil, limit: 5).map(\.id) == [sent])

    #expect(
      try await mine.lastOnline?.lastOnline(of: [.init("ben")], in: "team") == [.init("ben"): .now])
    _ = theirPeople
    theirPeople = nil
    ben.stop()
    while let known = list, known.count != 1 { list = await people.next() }
    #expect(list?.map(\.id) == [.init("ann")])
  }

  @Test("a blocked person's messages are hidden, earlier ones too; reports reach moderators")
  func peace() async throws {
    let server = try server()
    let (ann, ben) = (try connect(server, as: "ann"), try connect(server, as: "ben"))
    let (mine, theirs) = (ChatHandlers(ann), ChatHandlers(ben))
    let rude = try await theirs.core.send(text: "rude", to: "team")
    let kind = try await mine.core.send(text: "kind", to: "team")
    let page = try await mine.threads?.history(.newest(in: "team"))
    #expect(page?.messages.map(\.id) == [rude, kind])

    var news = try #require(theirs.moderation).newReports(in: "team").makeAsyncIterator()
    try await ben.room("team").opened()
    try await mine.moderation?.report(rude, because: "rude")
    let report = MessageReport(
      message: rude, person: .init("ann"), reason: "rude", isOpen: true)
    #expect(await news.next() == .report(report))
    #expect(try await theirs.moderation?.reports(in: "team") == [report])

    #expect(try await mine.blocking?.block(.init("ben")) == [.init("ben")])
    #expect(try await mine.blocking?.blocked() == [.init("ben")])
    #expect(try await mine.threads?.history(.newest(in: "team")).messages.map(\.id) == [kind])
    #expect(await mine.search?.search("rude", in: nil, limit: 5) == [])
    #expect(try await mine.blocking?.unblock(.init("ben")) == [])
    #expect(try await mine.threads?.history(.after(rude)).messages.map(\.id) == [kind])
    // No push service is configured.
    await until { ann.capabilities != nil }
    #expect(mine.push == nil)
  }

  @Test("a request without the necessary right fails with the code notAllowed")
  func rights() async throws {
    let server = try server()
    let ann = try connect(server, as: "ann", rights: "*=read")
    let chat = ChatHandlers(ann)
    do {
      _ = try await chat.moderation?.reports(in: "team")
      Issue.record("it was not refused")
    } catch RequestError.refused(let refusal) {
      #expect(refusal.code == "notAllowed")
    }
  }

  @Test("a board of resources receives others' changes, also those made while it is disconnected")
  func resources() async throws {
    let server = try server()
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    let token = try server.token(for: "ann")
    let ann = Parley(proxy.address, as: "ann") { token }
    let ben = try connect(server, as: "ben")
    let (mine, theirs) = (ResourceConnections(ann), ResourceConnections(ben))
    let diary = ResourceTests.Diary()
    let registration = mine.register("acc-1", delegate: diary)
    #expect(await diary.next() == "acc-1 connected")
    try await mine.publish("mine", updating: "acc-1")
    try await theirs.publish(1, updating: "acc-1")
    #expect(await diary.next() == "acc-1 updated 1")
    proxy.cut()
    #expect(await diary.next() == "acc-1 offline")
    try await theirs.publish(2, updating: "acc-1")
    try await theirs.publish(updating: "acc-1")
    proxy.mend()
    ann.networkChanged()
    #expect(await diary.next() == "acc-1 updated 2")
    #expect(await diary.next() == "acc-1 updated null")
    #expect(await diary.next() == "acc-1 connected")
    registration.cancel()
  }
}
