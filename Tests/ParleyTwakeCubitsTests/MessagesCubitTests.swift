import ParleyDialectModels
import ParleyJSON
import Synchronization
import Testing

import ParleyTwakeCubits

/// A server's messages, and whether it takes anything.
final class FakeMessages: MessagesSource {
  struct Refused: Error {}

  struct State {
    var messages: [Twake.Message] = []
    var isThere = true
    var keys: [String] = []
    var fetches = 0
  }

  let state = Mutex(State())
  /// Requests wait here while it is held.
  let gate = Gate()

  func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

  private func answer<Value>(_ value: (inout State) throws -> Value) async throws -> Value {
    await gate.pass()
    return try state.withLock { state in
      guard state.isThere else { throw Refused() }
      return try value(&state)
    }
  }

  func messages(
    in place: MessagesPlace, before message: Twake.Message?
  ) async throws -> [Twake.Message] {
    try await answer { state in
      state.fetches += 1
      return state.messages.filter {
        $0.channelID == place.channelID && $0.threadID == place.threadID
          && $0.creationDate < (message?.creationDate ?? .max)
      }.suffix(2)
    }
  }

  func message(_ id: String, in place: MessagesPlace) async throws -> Twake.Message? {
    try await answer { state in state.messages.first { $0.id == id } }
  }

  func send(
    _ text: String, attachments: [Twake.File], to place: MessagesPlace, key: String
  ) async throws -> Twake.Message {
    try await answer { state in
      state.keys.append(key)
      let message = makeMessage(
        "s\(state.keys.count)", text, at: 1_000 + state.keys.count, in: place.channelID,
        place.threadID)
      state.messages.append(message)
      return message
    }
  }

  func edit(
    _ message: Twake.Message, text: String, attachments: [Twake.File]
  ) async throws -> Twake.Message {
    try await answer { state in
      guard let index = state.messages.firstIndex(where: { $0.id == message.id }) else {
        throw Refused()
      }
      state.messages[index].content.originalText = text
      return state.messages[index]
    }
  }

  func react(to message: Twake.Message, _ reaction: String) async throws {
    try await answer { _ in }
  }

  func delete(_ message: Twake.Message) async throws {
    try await answer { state in state.messages.removeAll { $0.id == message.id } }
  }
}

/// Lets requests wait until they are released.
final class Gate: Sendable {
  private struct State {
    var isHeld = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var arrived: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func hold() { state.withLock { $0.isHeld = true } }

  func release() {
    let waiting = state.withLock { state in
      state.isHeld = false
      defer { state.waiting = [] }
      return state.waiting
    }
    for one in waiting { one.resume() }
  }

  func pass() async {
    await withCheckedContinuation { continuation in
      let (isHeld, arrived) = state.withLock { state in
        guard state.isHeld else { return (false, [CheckedContinuation<Void, Never>]()) }
        state.waiting.append(continuation)
        defer { state.arrived = [] }
        return (true, state.arrived)
      }
      if !isHeld { continuation.resume() }
      for one in arrived { one.resume() }
    }
  }

  /// Waits until a request is held.
  func arrival() async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.waiting.isEmpty { state.arrived.append(continuation) }
        return !state.waiting.isEmpty
      }
      if isThere { continuation.resume() }
    }
  }
}

func makeMessage(
  _ id: String, _ text: String, at time: Int, in channel: String = "c", _ thread: String? = nil
) -> Twake.Message {
  var message = Twake.Message()
  message.id = id
  message.channelID = channel
  message.threadID = thread
  message.creationDate = time
  message.modificationDate = time
  message.content.originalText = text
  return message
}

/// The lines of the page on the messages cubit.
@MainActor @Suite("Messages cubit", .timeLimit(.minutes(30)))
struct MessagesCubitTests {
  private let server = FakeMessages()
  private let storage = MemoryCubitStorage()
  private let globals = Globals()

  init() {
    globals.set { $0.userID = "ann" }
    server.set {
      $0.messages = [
        makeMessage("1", "one", at: 1), makeMessage("2", "two", at: 2),
        makeMessage("3", "3", at: 3),
      ]
    }
  }

  private func cubit() -> MessagesCubit {
    MessagesCubit(server, storage: storage, globals: globals) { 5_000 }
  }

  private func texts(_ cubit: MessagesCubit) -> [String] {
    switch cubit.state {
    case .loaded(let shown), .loadingBefore(let shown):
      shown.messages.map { $0.content.originalText ?? "" }
    case .initial, .loading: []
    }
  }

  @Test("states: initial, in progress, loaded; followers get the newest")
  func states() async throws {
    let cubit = cubit()
    var states = cubit.states.makeAsyncIterator()
    #expect(await states.next() == .initial)
    server.gate.hold()
    let fetching = Task { try await cubit.fetch(channelID: "c") }
    #expect(await states.next() == .loading)
    await server.gate.arrival()
    server.gate.release()
    try await fetching.value
    guard case .loaded(let shown)? = await states.next() else {
      Issue.record("not loaded")
      return
    }
    #expect(shown.messages.map(\.id) == ["2", "3"])
    #expect(shown.hash == shown.messages[0].hash &+ shown.messages[1].hash)
  }

  @Test("fetch: first from local storage, then from remote")
  func fetch() async throws {
    try await cubit().fetch(channelID: "c")
    server.set { $0.isThere = false }
    let offline = cubit()
    await #expect(throws: FakeMessages.Refused.self) { try await offline.fetch(channelID: "c") }
    #expect(texts(offline) == ["two", "3"])
    server.set {
      $0.isThere = true
      $0.messages.removeAll { $0.id == "2" }
    }
    try await offline.fetch(channelID: "c")
    #expect(texts(offline) == ["one", "3"])
  }

  @Test("fetchBefore: those that precede the first one, shown while they are fetched")
  func fetchBefore() async throws {
    let cubit = cubit()
    try await cubit.fetch(channelID: "c")
    server.gate.hold()
    let fetching = Task { try await cubit.fetchBefore() }
    await server.gate.arrival()
    guard case .loadingBefore(let shown) = cubit.state else {
      Issue.record("not loading")
      return
    }
    #expect(shown.messages.map(\.id) == ["2", "3"])
    server.gate.release()
    try await fetching.value
    #expect(texts(cubit) == ["one", "two", "3"])
    server.set { $0.isThere = false }
    await #expect(throws: FakeMessages.Refused.self) { try await cubit.fetchBefore() }
    #expect(texts(cubit) == ["one", "two", "3"])
  }

  @Test("send: shown before the request, and once more with what the server has made of it")
  func send() async throws {
    let cubit = cubit()
    try await cubit.fetch(channelID: "c")
    server.gate.hold()
    let sending = Task { try await cubit.send("hello") }
    await server.gate.arrival()
    #expect(texts(cubit) == ["two", "3", "hello"])
    server.gate.release()
    try await sending.value
    #expect(texts(cubit) == ["two", "3", "hello"])
    guard case .loaded(let shown) = cubit.state else { return }
    #expect(shown.messages.last?.id == "s1")
  }

  @Test("send that fails: the message goes, and what came meanwhile stays")
  func failedSend() async throws {
    let cubit = cubit()
    try await cubit.fetch(channelID: "c")
    server.gate.hold()
    let sending = Task { try await cubit.send("lost") }
    await server.gate.arrival()
    let deleting = Task { try await cubit.delete(makeMessage("2", "", at: 2)) }
    while texts(cubit) != ["3", "lost"] { await Task.yield() }
    server.set { $0.isThere = false }
    server.gate.release()
    await #expect(throws: FakeMessages.Refused.self) { try await sending.value }
    await #expect(throws: FakeMessages.Refused.self) { try await deleting.value }
    #expect(texts(cubit) == ["two", "3"])
  }

  @Test("edit: shown before the request, and taken back if it fails")
  func edit() async throws {
    let cubit = cubit()
    try await cubit.fetch(channelID: "c")
    server.gate.hold()
    let editing = Task { try await cubit.edit(makeMessage("3", "3", at: 3), text: "three") }
    await server.gate.arrival()
    #expect(texts(cubit) == ["two", "three"])
    server.gate.release()
    try await editing.value
    #expect(texts(cubit) == ["two", "three"])
    server.set { $0.isThere = false }
    await #expect(throws: FakeMessages.Refused.self) {
      try await cubit.edit(makeMessage("3", "three", at: 3), text: "four")
    }
    #expect(texts(cubit) == ["two", "three"])
  }

  @Test("react: one reaction of each user, taken back by the same, rolled back if it fails")
  func react() async throws {
    let cubit = cubit()
    var first = makeMessage("1", "one", at: 1)
    first.reactions = [reaction("👍", ["ben"])]
    let stored = first
    server.set { $0.messages = [stored] }
    try await cubit.fetch(channelID: "c")
    func reactions() -> [String] {
      guard case .loaded(let shown) = cubit.state else { return [] }
      return shown.messages[0].reactions.map { "\($0.name)\($0.count)\($0.users)" }
    }
    try await cubit.react(to: stored, "👍")
    #expect(reactions() == [#"👍2["ben", "ann"]"#])
    try await cubit.react(to: stored, "🎉")
    #expect(reactions() == [#"👍1["ben"]"#, #"🎉1["ann"]"#])
    server.set { $0.isThere = false }
    await #expect(throws: FakeMessages.Refused.self) { try await cubit.react(to: stored, "🎉") }
    #expect(reactions() == [#"👍1["ben"]"#, #"🎉1["ann"]"#])
    server.set { $0.isThere = true }
    try await cubit.react(to: stored, "🎉")
    #expect(reactions() == [#"👍1["ben"]"#])
  }

  private func reaction(_ name: String, _ users: [String]) -> Twake.Reaction {
    var reaction = Twake.Reaction()
    reaction.name = name
    reaction.users = users
    reaction.count = users.count
    return reaction
  }

  @Test("delete: gone before the request, and restored in its place if it fails")
  func delete() async throws {
    let cubit = cubit()
    try await cubit.fetch(channelID: "c")
    server.set { $0.isThere = false }
    server.gate.hold()
    let deleting = Task { try await cubit.delete(makeMessage("2", "two", at: 2)) }
    await server.gate.arrival()
    #expect(texts(cubit) == ["3"])
    server.gate.release()
    await #expect(throws: FakeMessages.Refused.self) { try await deleting.value }
    #expect(texts(cubit) == ["two", "3"])
    server.set { $0.isThere = true }
    try await cubit.delete(makeMessage("2", "two", at: 2))
    #expect(texts(cubit) == ["3"])
  }

  @Test("an answer for a channel that was left is dropped")
  func leaving() async throws {
    let cubit = cubit()
    server.set { $0.messages.append(makeMessage("d", "other", at: 9, in: "d")) }
    try await cubit.fetch(channelID: "c")
    server.gate.hold()
    let sending = Task { try await cubit.send("late") }
    await server.gate.arrival()
    let fetching = Task { try await cubit.fetch(channelID: "d") }
    while cubit.state != .loading { await Task.yield() }
    server.gate.release()
    try await sending.value
    try await fetching.value
    #expect(texts(cubit) == ["other"])
  }

  @Test("selectThread, clearSelectedThread: the globals follow, and a thread has its parent")
  func threads() async throws {
    let cubit = cubit()
    try await cubit.fetch(channelID: "c")
    cubit.selectThread("3")
    #expect(globals.state.threadID == "3")
    try await cubit.fetch(channelID: "c", threadID: "3")
    guard case .loaded(let shown) = cubit.state else { return }
    #expect(shown.parent?.id == "3")
    cubit.clearSelectedThread()
    #expect(globals.state.threadID == nil)
  }

  @Test("listenToMessageChanges: what others send, edit and remove is shown")
  func listen() async throws {
    let cubit = cubit()
    try await cubit.fetch(channelID: "c")
    server.set {
      $0.messages[2].content.originalText = "edited"
      $0.messages.append(makeMessage("4", "new", at: 4))
    }
    func event(_ action: DomainEvent.Action, _ id: String) -> DomainEvent {
      .message(action, id: id, place: "c", thread: nil, content: nil)
    }
    let events = AsyncStream<DomainEvent> { continuation in
      for event in [
        event(.updated, "3"), event(.created, "4"), event(.deleted, "2"), .nothing,
      ] {
        continuation.yield(event)
      }
      continuation.finish()
    }
    await cubit.listen(to: events)
    #expect(texts(cubit) == ["edited", "new"])
  }

  /// Events in a channel `c` whose message 1 has a thread with the reply r, and what is shown after
  /// each.
  private nonisolated static let placed:
    [(event: DomainEvent, channel: [String], thread: [String])] = {
      func event(
        _ action: DomainEvent.Action, _ id: String, in channel: String = "c", _ thread: String?
      ) -> DomainEvent {
        .message(
          action, id: id, place: "previous::channels/\(channel)/messages/updates", thread: thread,
          content: nil)
      }
      let known = (channel: ["1 (1)", "2 (0)"], thread: ["r (0)"])
      return [
        (event(.saved, "new", nil), ["1 (1)", "2 (0)", "new (0)"], known.thread),
        (event(.saved, "other", in: "d", nil), known.channel, known.thread),
        (event(.saved, "reply", "1"), ["1 (2)", "2 (0)"], ["r (0)", "reply (0)"]),
        (event(.saved, "old reply", "0"), known.channel, known.thread),
        (event(.saved, "reply", nil), known.channel, known.thread),
        (event(.deleted, "r", "1"), ["1 (2)", "2 (0)"], []),
        (event(.deleted, "r", in: "d", nil), known.channel, known.thread),
        (event(.deleted, "2", nil), ["1 (1)"], known.thread),
        (event(.updated, "1", "1"), ["1 (2)", "2 (0)"], known.thread),
        (
          .message(
            .saved, id: "x", place: "r", thread: nil,
            content: JSONFields([.init("channel_id", JSONValue("d"))])),
          known.channel, known.thread
        ),
      ]
    }()

  @Test("listen: an event changes the list of its own place alone", arguments: placed.indices)
  func places(index: Int) async throws {
    let (event, channel, thread) = Self.placed[index]
    for (place, expected) in [(nil, channel), ("1", thread)] as [(String?, [String])] {
      server.set {
        $0.messages = [
          makeMessage("1", "", at: 1), makeMessage("2", "", at: 2),
          makeMessage("r", "", at: 3, in: "c", "1"),
        ]
        $0.messages[0].responsesCount = 1
      }
      let cubit = MessagesCubit(server, globals: Globals()) { 5_000 }
      if place != nil { try await cubit.fetch(channelID: "c") }
      try await cubit.fetch(channelID: "c", threadID: place)
      server.set {
        $0.messages[0].responsesCount = 2
        $0.messages += [
          makeMessage("new", "", at: 4), makeMessage("other", "", at: 5, in: "d"),
          makeMessage("x", "", at: 5, in: "d"),
          makeMessage("reply", "", at: 6, in: "c", "1"), makeMessage("0", "", at: 0),
          makeMessage("old reply", "", at: 7, in: "c", "0"),
        ]
      }
      let (events, continuation) = AsyncStream.makeStream(of: DomainEvent.self)
      continuation.yield(event)
      continuation.finish()
      await cubit.listen(to: events)
      guard case .loaded(let shown) = cubit.state else { return }
      #expect(
        shown.messages.map { "\($0.id) (\($0.responsesCount))" } == expected,
        "\(event) in \(place ?? "the channel")")
      if place != nil, case .message(_, "1", _, _, _) = event {
        #expect(shown.parent?.responsesCount == 2)
      }
    }
  }

  @Test("logout: messages that come after it are neither kept nor shown, and the next user's are")
  func logout() async throws {
    let authentication = AuthenticationCubit(FakeTwake(), storage: storage, globals: globals) { 0 }
    let cubit = cubit()
    try await cubit.fetch(channelID: "c")
    #expect(await storage.read("messages/c/") != nil)
    for request: @MainActor @Sendable () async throws -> Void in [
      { try await cubit.fetch(channelID: "c") }, { try await cubit.send("late") },
    ] {
      try await cubit.fetch(channelID: "c")
      server.gate.hold()
      let late = Task { try await request() }
      await server.gate.arrival()
      await authentication.logout()
      server.gate.release()
      try await late.value
      #expect(await storage.read("messages/c/") == nil)
    }
    let events = AsyncStream<DomainEvent> { continuation in
      continuation.yield(.message(.deleted, id: "3", place: "c", thread: nil, content: nil))
      continuation.finish()
    }
    await cubit.listen(to: events)
    #expect(await storage.read("messages/c/") == nil)
    server.set { $0.messages = [makeMessage("9", "theirs", at: 9)] }
    try await cubit.fetch(channelID: "c")
    #expect(texts(cubit) == ["theirs"])
    #expect(await storage.read("messages/c/") != nil)
  }

  @Test("a loop over states ends with its cubit")
  func ending() async {
    var cubit: MessagesCubit? = cubit()
    let states = cubit?.states
    cubit = nil
    var count = 0
    if let states { for await _ in states { count += 1 } }
    #expect(count == 1)
  }
}
