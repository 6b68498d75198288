import OTCore
import ParleyClient
import ParleyClientCore
import SocketMessages
import ParleyLocks
import Testing

/// A client whose disk, tokens and rooms do not behave.
@MainActor @Suite("A client and what surrounds it", .timeLimit(.minutes(30)))
struct SurroundingsTests {
  private func connect(
    _ server: ScriptedServer, storage: any ClientStorage = MemoryStorage(),
    time: any ClientTime = ManualTime(), token: TokenSource? = nil
  ) -> Parley {
    Parley(transport: server, as: "Ann", storage: storage, time: time, token: token, seed: 1)
  }

  // MARK: Opening and closing

  @Test("a note that is closed before it was read from the disk is not joined")
  func closedEarly() async throws {
    let server = ScriptedServer("abc")
    let storage = ScriptedStorage()
    let parley = connect(server, storage: storage)
    await until { parley.connection == .online }
    await storage.holdReading()
    parley.note("a").close()
    for _ in 0..<2 { parley.note("b").close() }
    await storage.letThroughReading()
    let read = { await storage.reads.filter { ["note/a", "note/b"].contains($0) }.count }
    while await read() < 3 { await Task.yield() }
    // One more question to the storage is answered after those. It is of another note: one that was
    // opened against its closing would hide that it is opened a second time.
    try await parley.note("n").opened()
    #expect(server.state.withLock { $0.joins } == 1)
  }

  @Test("a note that outlives its client refuses edits with the error closed")
  func outlivingNote() async throws {
    let note: Note
    do {
      let parley = connect(ScriptedServer("abc"))
      note = parley.note("n")
      try await note.opened()
    }
    #expect(throws: NoteError.closed) { try note.append("x") }
    #expect(note.text == "abc")
  }

  @Test("edits that wait for the disk are written after the client was released")
  func releasedEarly() async throws {
    let server = ScriptedServer("abc")
    server.set { $0.holdsAnswers = true }
    let storage = ScriptedStorage()
    do {
      let parley = connect(server, storage: storage)
      let note = parley.note("n")
      try await note.opened()
      try note.append("1")
      await storage.hold()
      parley.willSuspend()
      while await !storage.isWriting { await Task.yield() }
      try note.append("2")
      parley.willSuspend()
    }
    await storage.letThrough()
    while await storage.writes.filter({ $0 == "note/n" }).count < 2 { await Task.yield() }
    let parley = connect(ScriptedServer(), storage: storage)
    let note = parley.note("n")
    try await note.opened()
    #expect(note.text == "abc12")
  }

  @Test("edits made just before a client is stopped are on the disk")
  func stoppedEarly() async throws {
    let server = ScriptedServer("abc")
    server.set { $0.holdsAnswers = true }
    let storage = ScriptedStorage()
    let parley = connect(server, storage: storage)
    let note = parley.note("n")
    try await note.opened()
    try note.append("1")
    parley.stop()
    // Steps for the disk are done in their order: once this note was asked for, the other is kept.
    _ = parley.note("z")
    while await !storage.reads.contains("note/z") { await Task.yield() }
    #expect(await storage.writes.contains("note/n"))
    let later = connect(ScriptedServer(), storage: storage)
    let next = later.note("n")
    try await next.opened()
    #expect(next.text == "abc1")
  }

  @Test("edits made just before the client is released are on the disk", arguments: [false, true])
  func letGo(isStopped: Bool) async throws {
    let server = ScriptedServer("abc")
    server.set { $0.holdsAnswers = true }
    let storage = ScriptedStorage()
    do {
      let parley = connect(server, storage: storage)
      let note = parley.note("n")
      try await note.opened()
      if isStopped { parley.stop() }
      try note.append("1")
    }
    while await !storage.writes.contains("note/n") { await Task.yield() }
    let later = connect(ScriptedServer(), storage: storage)
    let next = later.note("n")
    try await next.opened()
    #expect(next.text == "abc1")
  }

  @Test("on a slow disk only the newest state of a note waits to be written")
  func slowDisk() async throws {
    let server = ScriptedServer("")
    server.set { $0.holdsAnswers = true }
    let storage = ScriptedStorage()
    let time = ManualTime()
    let parley = connect(server, storage: storage, time: time)
    let note = parley.note("n")
    try await note.opened()
    try note.append("x")
    await storage.hold()
    parley.willSuspend()
    while await !storage.isWriting { await Task.yield() }
    for _ in 0..<5_000 {
      try note.append("x")
      parley.willSuspend()
    }
    #expect(parley.connection == .online)
    await storage.letThrough()
    try note.append("!")
    parley.willSuspend()
    while try await !storage.holds("!", in: "note/n") { await Task.yield() }
    #expect(await storage.writes.filter { $0 == "note/n" }.count <= 3)
  }

  // MARK: Rooms

  @Test("two callers that publish under one key at once both get the answer")
  func oneKey() async throws {
    var publishing = Publishing()
    let waiting = [publishing.wait(for: "k"), publishing.wait(for: "k")]
    publishing.take(.published(key: "k", .init(epoch: "e", offset: 3), isRepeated: false))
    for feed in waiting {
      #expect(try await feed.next()?.get() == RoomPosition(epoch: "e", offset: 3))
    }
    #expect(publishing.isEmpty)
  }

  @Test("a closed room still answers callers that publish in it")
  func closedRoom() async throws {
    let server = ScriptedServer()
    let parley = connect(server)
    await until { parley.connection == .online }
    let room = parley.room("r")
    let publishing = Task { try await room.publish(json: Array("1".utf8)) }
    while server.publicationCount == 0 { await Task.yield() }
    room.close()
    server.answerPublications()
    #expect(try await publishing.value.offset == 1)
    let service = ParleyService(
      transport: server, as: "bot", time: ManualTime(), token: nil, seed: 1)
    let other = await service.room("r")
    let another = Task { try await other.publish(json: Array("1".utf8)) }
    while server.publicationCount == 0 { await Task.yield() }
    await other.close()
    server.answerPublications()
    #expect(try await another.value.offset == 1)
  }

  // MARK: People

  @Test("a token that arrives after another was requested is ignored")
  func lateToken() async throws {
    let server = ScriptedServer("abc")
    let gates = Gates()
    // A login that does not hear that it is no longer wanted.
    let parley = connect(server) { await Task { await gates.next() }.value }
    while await gates.count < 1 { await Task.yield() }
    parley.signedIn()
    while await gates.count < 2 { await Task.yield() }
    await gates.open(0, "of ann")
    for _ in 0..<50 { await Task.yield() }
    #expect(server.tokens.isEmpty)
    await gates.open(1, "of ben")
    try await parley.note("n").opened()
    #expect(server.tokens == ["of ben"])
  }

  private actor Gates {
    private var gates: [Feed<String>] = []
    var count: Int { gates.count }

    func next() async -> String? {
      let gate = Feed<String>(bound: 1)
      gates.append(gate)
      return await gate.next()
    }

    func open(_ index: Int, _ token: String) { gates[index].put(token) { Array($0) } }
  }

  @Test("edits of one person are kept, and never sent with the token of another person")
  func otherPerson() async throws {
    let server = ScriptedServer("abc")
    server.set { $0.person = "ann" }
    let storage = ScriptedStorage()
    let parley = connect(server, storage: storage) { "token" }
    let note = parley.note("n")
    try await note.opened()
    server.set { $0.refusal = .busy }
    try note.append("1")
    parley.willSuspend()
    while await !storage.writes.contains("note/n") { await Task.yield() }
    let before = server.changeCount
    server.set {
      $0.person = "ben"
      $0.refusal = nil
    }
    parley.signedIn()
    await until { parley.connection == .stopped(.otherPerson) || note.unsaved == 0 }
    try #require(parley.connection == .stopped(.otherPerson))
    try note.append("2")
    parley.willSuspend()
    while try await !storage.holds("\"2\"", in: "note/n") { await Task.yield() }
    #expect(server.changeCount == before)
    #expect(note.unsaved == 2)

    // Nor by another process on the same storage.
    let second = connect(server, storage: storage) { "token" }
    let again = second.note("n")
    try await again.opened()
    await until { second.connection == .stopped(.otherPerson) || again.unsaved == 0 }
    #expect(second.connection == .stopped(.otherPerson))
    #expect(again.text == "abc12")
    #expect(server.changeCount == before)

    // They are still the former person's, who sends them.
    server.set { $0.person = "ann" }
    second.signedIn()
    try await again.saved()
    #expect(server.text == "abc12")
  }

  @Test("edits whose person cannot be read are not sent")
  func unknownPerson() async throws {
    let server = ScriptedServer("abc")
    server.set {
      $0.person = "ann"
      $0.refusal = .busy
    }
    let storage = ScriptedStorage()
    let parley = connect(server, storage: storage) { "token" }
    let note = parley.note("n")
    try await note.opened()
    try note.append("1")
    parley.willSuspend()
    while await !storage.writes.contains("note/n") { await Task.yield() }
    let before = server.changeCount
    server.set {
      $0.person = "ben"
      $0.refusal = nil
    }
    await storage.damage("person")
    let second = connect(server, storage: storage) { "token" }
    let again = second.note("n")
    await until { second.connection == .stopped(.otherPerson) || again.state == .live }
    #expect(second.connection == .stopped(.otherPerson))
    #expect(server.changeCount == before)
  }

  @Test("without edits that wait another person may sign in, and the notes are theirs")
  func nextPerson() async throws {
    let server = ScriptedServer("abc")
    server.set { $0.person = "ann" }
    let storage = ScriptedStorage()
    let parley = connect(server, storage: storage) { "token" }
    let note = parley.note("n")
    try await note.opened()
    try note.append("1")
    try await note.saved()
    while await storage.values["note/n"] != nil { await Task.yield() }
    server.set { $0.person = "ben" }
    parley.signedIn()
    await until { parley.connection == .stopped(.otherPerson) || parley.connection == .online }
    await until { parley.connection == .online }
    await until { note.state == .live }
    try note.append("2")
    try await note.saved()
    #expect(server.text == "abc12")
    while await storage.values["person"] != Array("ben".utf8) { await Task.yield() }
  }
}

extension ScriptedStorage {
  /// Whether a value has this text in it.
  func holds(_ text: String, in key: String) throws -> Bool {
    guard let value = values[key] else { return false }
    return String(decoding: value, as: UTF8.self).contains(text)
  }
}
