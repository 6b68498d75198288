import ParleyJSON
import ParleyChat
import ParleyClient
import SocketMessages
import Testing

@MainActor @Suite("Handlers without sockets", .timeLimit(.minutes(30)))
struct HandlerTests {
  private let server = ScriptedRooms()

  private func connect() -> Parley {
    Parley(transport: server, as: "Ann", timeout: .seconds(600), seed: 1)
  }

  /// A connection that has been welcomed.
  private func online() async throws -> Parley {
    let parley = connect()
    try await parley.room("lobby").opened()
    return parley
  }

  private nonisolated static let message = ChatMessage.ID(
    thread: "team", position: .init(epoch: "e", offset: 4))

  // MARK: The container

  @Test("what the server does not offer is absent, once that is known")
  func capabilities() async throws {
    server.set { $0.capabilities = ["typing", "membership"] }
    let parley = connect()
    let chat = ChatHandlers(parley)
    #expect(chat.receipts != nil)
    try await parley.room("lobby").opened()
    #expect(chat.typing != nil)
    #expect(chat.receipts == nil)
    #expect(chat.contacts == nil)
    #expect(chat.lastOnline == nil)
    #expect(chat.blocking == nil)
    #expect(chat.moderation == nil)
    // To follow a thread is no use without a push service.
    #expect(chat.push == nil)
    #expect(chat.threads != nil)
    #expect(chat.search != nil)
  }

  @MainActor private final class OwnTyping: TypingHandler {
    var said: [Bool] = []
    func setTyping(_ isTyping: Bool, in thread: ChatThread) { said.append(isTyping) }
    func typists(in thread: ChatThread) -> AsyncStream<[ChatPerson.ID]> {
      AsyncStream { $0.finish() }
    }
  }

  private struct OwnThreads: ThreadHandler {
    func messages(in thread: ChatThread) -> AsyncStream<ThreadUpdate> {
      AsyncStream { $0.finish() }
    }
    func history(
      _ range: HistoryRange, limit: Int
    ) async throws(RequestError) -> HistoryPage { throw .cancelled }
  }

  @Test("an app takes handlers out, and puts its own in, whatever the server offers")
  func replacing() async throws {
    server.set { $0.capabilities = [] }
    let parley = try await online()
    let chat = ChatHandlers(parley)
    #expect(chat.typing == nil)
    let own = OwnTyping()
    chat.typing = own
    chat.typing?.setTyping(true, in: "team")
    #expect(own.said == [true])
    // What is searched came through the gateway's threads.
    chat.threads = OwnThreads()
    #expect(chat.search == nil)
    chat.threads = nil
    #expect(chat.threads == nil)
  }

  // MARK: Core

  @Test("a message is sent with its key, its sender and its notification, without a subscription")
  func send() async throws {
    let parley = try await online()
    let chat = ChatHandlers(parley)
    let sent = try await chat.core.send(
      text: "hello", to: "team",
      SendOptions(key: "k", senderID: "app", notifiesFollowers: true))
    #expect(sent == .init(thread: "team", position: .init(epoch: "e", offset: 1)))
    guard case .publish(let publish)? = server.messages.last else {
      Issue.record("nothing was published")
      return
    }
    #expect(publish.key == "k")
    #expect(publish.senderID == "app")
    #expect(publish.pushes)
    #expect(publish.data?.fields?["text"]?.string == "hello")
    #expect(publish.data?.fields?["type"]?.string == "text")
    #expect(chat.core.person == ChatPerson.ID("u-ann"))
    #expect((chat.core.serverTime ?? 0) >= 1_000)
    await #expect(throws: PublishError.notJSON) {
      try await chat.core.send(json: Array("{".utf8), to: "team", SendOptions())
    }
  }

  // MARK: People

  @Test("who is there comes at once, and again with each change")
  func people() async throws {
    let chat = ChatHandlers(try await online())
    let stream = try #require(chat.contacts).people(in: "team")
    var lists = stream.makeAsyncIterator()
    // The empty list of the first moment may have given way by now.
    var first = await lists.next()
    if first == [] { first = await lists.next() }
    #expect(first?.map(\.id.name) == ["u-ann"])
    server.say(.roomPresence(.init(room: "team", joined: [.init(personID: "u-ben", name: "Ben")])))
    #expect(await lists.next()?.map(\.name) == ["Ann", "Ben"])
  }

  @Test("a stream ends when the server takes the thread away")
  func refusedRoom() async throws {
    let chat = ChatHandlers(try await online())
    var lists = try #require(chat.contacts).people(in: "team").makeAsyncIterator()
    while let list = await lists.next(), list.isEmpty {}
    server.say(.unsubscribed(.init(room: "team")))
    while await lists.next() != nil {}
  }

  @Test("own typing is sent, and others' typing is received")
  func typing() async throws {
    let chat = ChatHandlers(try await online())
    let typing = try #require(chat.typing)
    var lists = typing.typists(in: "team").makeAsyncIterator()
    #expect(await lists.next() == [])
    typing.setTyping(true, in: "team")
    typing.setTyping(true, in: "team")
    typing.setTyping(false, in: "team")
    server.say(.typing(.init(room: "team", personID: "u-ben", isTyping: true)))
    #expect(await lists.next() == [ChatPerson.ID("u-ben")])
    #expect(
      server.messages.filter { if case .typing = $0 { true } else { false } } == [
        .typing(.init(room: "team", isTyping: true)), .typing(.init(room: "team", isTyping: false)),
      ])
  }

  @Test("when people were online last")
  func lastOnline() async throws {
    let handler = try #require(ChatHandlers(try await online()).lastOnline)
    async let times = handler.lastOnline(
      of: [.init("u-ben"), .init("u-cid"), .init("u-dan"), .init("u-eve")], in: "team")
    await server.answer { message in
      #expect(
        message
          == .lastOnline(.init(room: "team", people: ["u-ben", "u-cid", "u-dan", "u-eve"])))
      return .lastOnline(
        .init(
          room: "team",
          people: [
            .init(personID: "u-ben", isOnline: true, time: 3),
            .init(personID: "u-cid", isOnline: false, time: 7),
            .init(personID: "u-dan", isOnline: false, time: nil),
          ]))
    }
    #expect(
      try await times == [.init("u-ben"): .now, .init("u-cid"): .at(7), .init("u-dan"): .never])
  }

  @Test("blocking asks, answers who is blocked, and takes their messages from the search")
  func blocking() async throws {
    let chat = ChatHandlers(try await online())
    var updates = try #require(chat.threads).messages(in: "team").makeAsyncIterator()
    server.publish(#"{"text":"tea?"}"#, in: "team", by: "u-ben")
    server.publish(#"{"text":"Tea, yes"}"#, in: "team", by: "u-cid")
    _ = await updates.next()
    _ = await updates.next()
    let search = try #require(chat.search)
    #expect(await search.search("TEA", in: nil, limit: 10).count == 2)
    let handler = try #require(chat.blocking)
    async let blocked = handler.block(.init("u-ben"))
    await server.answer { message in
      #expect(message == .block(.init(personID: "u-ben", isBlocked: true)))
      return .blocks(.init(people: ["u-ben"]))
    }
    #expect(try await blocked == [.init("u-ben")])
    #expect(await search.search("tea", in: nil, limit: 10).map(\.text) == ["Tea, yes"])
    async let none = handler.unblock(.init("u-ben"))
    await server.answer { _ in .blocks(.init(people: [])) }
    #expect(try await none == [])
  }

  @Test("a refusal is an error, and so is a request that is cancelled")
  func refusal() async throws {
    let chat = ChatHandlers(try await online())
    let handler = try #require(chat.push)
    async let done: Void = handler.follow("team")
    await server.answer { _ in
      .error(.init(code: .notAllowed, message: "", retryable: false, retryAfter: nil))
    }
    do {
      try await done
      Issue.record("it was not refused")
    } catch RequestError.refused(let refusal) {
      #expect(refusal.code == "notAllowed")
    }
    let task = Task { try await handler.unfollow("team") }
    _ = await server.requests.next()
    task.cancel()
    await #expect(throws: RequestError.cancelled) { try await task.value }
    // The answer of an abandoned request blocks nothing.
    async let again: Void = handler.follow("team")
    await server.answer { _ in .following(.init(room: "team", isFollowing: true)) }
    try await again
  }

  // MARK: Messages

  @Test("receipts are sent, requested and reported; after a lost connection some may be missing")
  func receipts() async throws {
    let parley = try await online()
    let handler = try #require(ChatHandlers(parley).receipts)
    var updates = handler.receipts(in: "team").makeAsyncIterator()
    try await parley.share(room: "team").room.opened()
    try handler.confirm(.read, of: Self.message)
    server.say(.receipt(.init(room: "team", offset: 4, personID: "u-ben", state: .delivered)))
    #expect(
      await updates.next()
        == .receipt(.init(message: Self.message, person: .init("u-ben"), stage: .delivered)))
    #expect(server.messages.contains(.receipt(.init(room: "team", offset: 4, state: .read))))
    server.cut()
    parley.networkChanged()
    #expect(await updates.next() == .missed)
    async let stages = handler.receipts(of: Self.message)
    await server.answer { _ in
      .receipts(
        .init(
          room: "team", offset: 4,
          receipts: [
            .init(personID: "u-ben", stage: .read), .init(personID: "u-cid", stage: .delivered),
          ]))
    }
    #expect(try await stages == [.init("u-ben"): .read, .init("u-cid"): .delivered])
  }

  @Test("a message of a former history cannot be confirmed, reported, or read on from")
  func otherHistory() async throws {
    let parley = try await online()
    let chat = ChatHandlers(parley)
    let former = ChatMessage.ID(thread: "lobby", position: .init(epoch: "old", offset: 1))
    #expect(throws: RequestError.otherHistory) {
      try #require(chat.receipts).confirm(.read, of: former)
    }
    await #expect(throws: RequestError.otherHistory) {
      try await #require(chat.moderation).report(former, because: nil)
    }
    // Where the room is not open, its answer tells.
    let elsewhere = ChatMessage.ID(thread: "team", position: .init(epoch: "old", offset: 1))
    let threads = try #require(chat.threads)
    let task = Task { try await threads.history(.after(elsewhere)) }
    await server.answer { _ in Self.page([], head: 3) }
    await #expect(throws: RequestError.otherHistory) { try await task.value }
  }

  private nonisolated static func page(_ offsets: [Int], head: Int) -> ServerMessage {
    .roomHistory(
      .init(
        room: "team", position: .init(epoch: "e", offset: head),
        publications: offsets.map {
          .init(
            offset: $0, time: Int64($0), personID: "u-ben",
            data: .init(Array("\"m\($0)\"".utf8)) ?? .null)
        }, hasGap: false, hasMore: offsets.first != 1))
  }

  @Test("reports are made, withdrawn, listed, and sent to moderators")
  func moderation() async throws {
    let parley = try await online()
    let handler = try #require(ChatHandlers(parley).moderation)
    var updates = handler.newReports(in: "team").makeAsyncIterator()
    try await parley.share(room: "team").room.opened()
    async let done: Void = handler.report(Self.message, because: "spam")
    await server.answer { message in
      #expect(message == .flag(.init(room: "team", offset: 4, isFlagged: true, reason: "spam")))
      return .flag(
        .init(room: "team", offset: 4, personID: "u-ann", isFlagged: true, reason: "spam"))
    }
    try await done
    server.say(
      .flag(.init(room: "team", offset: 4, personID: "u-ben", isFlagged: false, reason: nil)))
    #expect(
      await updates.next()
        == .report(
          .init(message: Self.message, person: .init("u-ben"), reason: nil, isOpen: false)))
    async let reports = handler.reports(in: "team")
    await server.answer { _ in Self.page([9], head: 9) }
    await server.answer { _ in
      .flags(
        .init(room: "team", flags: [.init(offset: 4, personID: "u-ben", reason: "rude", time: 2)]))
    }
    #expect(
      try await reports == [
        .init(message: Self.message, person: .init("u-ben"), reason: "rude", isOpen: true)
      ])
  }

  @Test("a page of history, and the messages before it")
  func history() async throws {
    let chat = ChatHandlers(try await online())
    let threads = try #require(chat.threads)
    async let newest = threads.history(.newest(in: "team"), limit: 2)
    await server.answer { message in
      #expect(message == .roomHistory(.init(room: "team", limit: 2)))
      return Self.page([2, 3], head: 3)
    }
    let page = try await newest
    #expect(page.messages.map(\.text) == ["m2", "m3"])
    #expect(page.hasMore)
    let first = try #require(page.messages.first)
    async let rest = threads.history(.before(first.id))
    await server.answer { message in
      #expect(message == .roomHistory(.init(room: "team", before: 2, limit: 20)))
      return Self.page([1], head: 3)
    }
    #expect(try await rest.hasMore == false)
    let search = try #require(chat.search)
    #expect(await search.search("m", in: "team", limit: 2).map(\.text) == ["m3", "m2"])
    #expect(await search.search("m", in: "other", limit: 2) == [])
    #expect(await search.search("  ", in: nil, limit: 2) == [])
  }

  @Test("messages come once each, in order, over a lost connection; another history is a gap")
  func messages() async throws {
    let parley = try await online()
    let threads = try #require(ChatHandlers(parley).threads)
    var updates = threads.messages(in: "team").makeAsyncIterator()
    try await parley.share(room: "team").room.opened()
    server.publish("1", in: "team", by: "u-ben")
    server.set { state in
      _ = state.store(.init(room: "team", data: .init(Array("2".utf8)) ?? .null), by: "u-ben")
    }
    server.cut()
    parley.networkChanged()
    for offset in 1...2 {
      guard case .message(let message)? = await updates.next() else {
        Issue.record("no message")
        return
      }
      #expect(message.id.position.offset == offset)
    }
    server.set { $0.epoch = "f" }
    server.cut()
    parley.networkChanged()
    #expect(
      await updates.next()
        == .gap(after: .init(epoch: "e", offset: 2), through: .init(epoch: "f", offset: 2)))
  }

  // MARK: Rooms in common

  @Test("a room is left when the last loop is over, and stays where the app has it open")
  func sharing() async throws {
    let parley = try await online()
    let chat = ChatHandlers(parley)
    func unsubscriptions() -> [ClientMessage] {
      server.messages.filter { if case .unsubscribe = $0 { true } else { false } }
    }
    let app = parley.room("kept")
    for room in ["kept", "left"] as [ChatThread] { _ = chat.threads?.messages(in: room) }
    let left = ClientMessage.unsubscribe(.init(room: "left"))
    while !unsubscriptions().contains(left) {
      let next = parley.share(room: "next")
      try await next.room.opened()
      withExtendedLifetime(next) {}
      await Task.yield()
    }
    #expect(!unsubscriptions().contains(.unsubscribe(.init(room: "kept"))))
    #expect(app.state == .live)
  }

  @Test("another person who signs in finds nothing of the former one's")
  func otherPerson() async throws {
    let parley = try await online()
    let chat = ChatHandlers(parley)
    var updates = try #require(chat.threads).messages(in: "team").makeAsyncIterator()
    server.publish(#""secret""#, in: "team", by: "u-ben")
    _ = await updates.next()
    #expect(await chat.search?.search("secret", in: nil, limit: 1).count == 1)
    server.set { $0.person = "u-eve" }
    parley.signedIn()
    await until { parley.personID == "u-eve" }
    #expect(await chat.search?.search("secret", in: nil, limit: 1) == [])
  }
}
