import Foundation
import ParleyLocks
import ParleyOTWorkloads
import Observation
import ParleyClient
import Testing

/// Waits until something holds that views could observe.
@MainActor func until(_ condition: @escaping @MainActor () -> Bool) async {
  while !condition() {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isResumed = Locked(false)
      _ = withObservationTracking(condition) {
        let isFirst = isResumed.withLock { isResumed in
          defer { isResumed = true }
          return !isResumed
        }
        // The value changes after this.
        if isFirst { Task { @MainActor in continuation.resume() } }
      }
    }
  }
}

@MainActor @Suite("A client and the program", .serialized, .timeLimit(.minutes(30)))
struct ProgramTests {
  @Test("two people who write in one note get the same text")
  func together() async throws {
    let server = try GatewayProgram()
    try await server.makeNote("n")
    let ann = Parley(server.address, as: "Ann", timeout: .seconds(600))
    let ben = Parley(server.address, as: "Ben", timeout: .seconds(600))
    let (mine, theirs) = (ann.note("n"), ben.note("n"))
    try await mine.opened()
    try await theirs.opened()
    var random = SplitMix64(seed: 7)
    for step in 0..<200 {
      let note = step % 2 == 0 ? mine : theirs
      let start = random.below(note.utf16Count + 1)
      let end = start + random.below(min(4, note.utf16Count - start + 1))
      try note.replace(start..<end, with: RandomTexts.text(scalars: 3, using: &random))
      if random.chance(20) { await Task.yield() }
    }
    try await mine.saved()
    try await theirs.saved()
    await until { mine.text.utf8.elementsEqual(theirs.text.utf8) }
    #expect(mine.unsaved == 0)
    #expect(!mine.text.isEmpty)
  }

  @Test("a participant is seen with their name and carets, and until they leave")
  func people() async throws {
    let server = try GatewayProgram()
    try await server.makeNote("n")
    let ann = Parley(server.address, as: "Ann", timeout: .seconds(600))
    let note = ann.note("n")
    try await note.opened()
    try note.append("a😀b")
    try await note.saved()
    let ben = Parley(server.address, as: "Ben", color: "#102030")
    let other = ben.note("n")
    try await other.opened()
    await until { note.people.map(\.name) == ["Ben"] }
    other.select([TextSelection(anchor: 1, head: 3)])
    await until { note.people.first?.selections == [TextSelection(anchor: 1, head: 3)] }
    #expect(note.people.first?.color == "#102030")
    try note.replace(0..<0, with: "😀")
    #expect(note.people.first?.selections == [TextSelection(anchor: 3, head: 5)])
    other.close()
    await until { note.people.isEmpty }
  }

  @Test("a killed connection is opened again, and typed text is neither lost nor doubled")
  func killed() async throws {
    let server = try GatewayProgram()
    try await server.makeNote("n")
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    let ann = Parley(proxy.address, as: "Ann")
    let note = ann.note("n")
    try await note.opened()
    var expected = ""
    for round in 0..<12 {
      for step in 0..<5 {
        let piece = "\(round).\(step) "
        expected += piece
        try note.append(piece)
        await Task.yield()
      }
      proxy.interrupt()
      ann.networkChanged()
    }
    try await note.saved()
    #expect(note.text == expected)
    let ben = Parley(server.address, as: "Ben", timeout: .seconds(600))
    let other = ben.note("n")
    try await other.opened()
    #expect(other.text == expected)
  }

  @Test("text typed offline is stored when the server is reachable again")
  func offline() async throws {
    let server = try GatewayProgram()
    try await server.makeNote("n")
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    let ann = Parley(proxy.address, as: "Ann")
    let note = ann.note("n")
    try await note.opened()
    proxy.cut()
    await until { note.state == .offline }
    try note.append("offline ")
    let ben = ParleyService(server.address, as: "Ben", timeout: .seconds(600))
    try await ben.note("n").append("meanwhile ")
    #expect(note.unsaved > 0)
    proxy.mend()
    ann.networkChanged()
    try await note.saved()
    #expect(note.text.contains("offline "))
    #expect(note.text.contains("meanwhile "))
    #expect(note.text.utf8.count == "offline meanwhile ".utf8.count)
  }

  @Test("another process restores the storage: it starts offline, is typed in, and is stored")
  func storage() async throws {
    let server = try GatewayProgram()
    try await server.makeNote("n")
    let folder = server.folder.appendingPathComponent("client").path
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    do {
      let ann = Parley(proxy.address, as: "Ann", storage: try FileStorage(folder: folder))
      let note = ann.note("n")
      try await note.opened()
      try note.append("before ")
      try await note.saved()
      proxy.cut()
      await until { note.state == .offline }
      try note.append("kept ")
      // On the disk at once, as when the system ends the app.
      ann.willSuspend()
      note.close()
    }
    let storage = try await reopened(folder)
    #expect(try await storage.keys(beginningWith: "note/") == ["note/n"])
    let ann = Parley(proxy.address, as: "Ann", storage: storage)
    let note = ann.note("n")
    try await note.opened()
    #expect(note.state == .offline)
    #expect(note.text == "before kept ")
    try note.append("later ")
    proxy.mend()
    ann.networkChanged()
    try await note.saved()
    let text = try await ParleyService(server.address, as: "Ben", timeout: .seconds(600)).note("n")
      .text()
    #expect(text == "before kept later ")
  }

  /// The folder's storage, once the client before has released it.
  private func reopened(_ folder: String) async throws -> FileStorage {
    while true {
      if let storage = try? FileStorage(folder: folder) {
        // The last write of the former client has arrived.
        if !(try await storage.keys(beginningWith: "note/")).isEmpty { return storage }
      }
      await Task.yield()
    }
  }

  @Test("an expired token is replaced, and the note continues")
  func tokens() async throws {
    let server = try GatewayProgram(
      "--hmac-secret-file", "secret", "--audience", "parley", "--clock-skew", "0s")
    try await server.makeNote("n", token: try server.token(for: "ann"))
    let (asked, asking) = AsyncStream.makeStream(of: Void.self)
    let ann = Parley(server.address, as: "Ann", timeout: .seconds(600)) { [server] in
      asking.yield()
      return try server.token(for: "ann", lasting: "8s")
    }
    let note = ann.note("n")
    try await note.opened()
    var count = 0
    for await _ in asked {
      count += 1
      try note.append("\(count) ")
      if count == 3 { break }
    }
    try await note.saved()
    #expect(note.text.hasSuffix("3 "))
    #expect(note.state == .live)
  }

  @Test("a note opens with the right to it, and is refused with the reason without it")
  func refused() async throws {
    let server = try GatewayProgram("--hmac-secret-file", "secret", "--audience", "parley")
    try await server.makeNote("n", token: try server.token(for: "ann"))
    let ben = Parley(server.address, as: "Ben", timeout: .seconds(600)) { [server] in
      try server.token(for: "ben", document: "other=read,write")
    }
    let note = ben.note("n")
    await #expect(throws: NoteError.self) { try await note.opened() }
    guard case .failed(.refused) = note.state else {
      Issue.record("the state is \(note.state)")
      return
    }
    #expect(throws: NoteError.self) { try note.append("x") }
    let reader = Parley(server.address, as: "Cid", timeout: .seconds(600)) { [server] in
      try server.token(for: "cid", document: "n=read")
    }
    let read = reader.note("n")
    try await read.opened()
    #expect(!read.isWritable)
    #expect(throws: NoteError.readOnly) { try read.append("x") }
  }

  @Test("without a token the client does not connect until the person has signed in")
  func signIn() async throws {
    let server = try GatewayProgram("--hmac-secret-file", "secret", "--audience", "parley")
    try await server.makeNote("n", token: try server.token(for: "ann"))
    let token = Locked<String?>(nil)
    let login = Login(token: token)
    let ann = Parley(server.address, as: "Ann", timeout: .seconds(600)) {
      login.token.withLock { $0 }
    }
    await until { ann.connection == .stopped(.noToken) }
    let fresh = try server.token(for: "ann")
    login.token.withLock { $0 = fresh }
    ann.signedIn()
    try await ann.note("n").opened()
    #expect(ann.connection == .online)
  }

  private final class Login: Sendable {
    let token: Locked<String?>
    init(token: Locked<String?>) { self.token = token }
  }

  @Test("a room delivers each publication once, also publications missed while offline")
  func rooms() async throws {
    let server = try GatewayProgram()
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    let ann = Parley(proxy.address, as: "Ann")
    let room = ann.room("orders")
    let updates = room.updates
    try await room.opened()
    let bot = ParleyService(server.address, as: "bot", timeout: .seconds(600))
    let orders = await bot.room("orders")
    try await orders.publish(["number": 1])
    proxy.cut()
    await until { room.state == .offline }
    try await orders.publish(["number": 2])
    let repeated = try await orders.publish(["number": 3], key: "three")
    #expect(try await orders.publish(["number": 3], key: "three") == repeated)
    proxy.mend()
    ann.networkChanged()
    try await orders.publish(["number": 4])
    var numbers: [Int] = []
    for await update in updates {
      guard case .publication(let publication) = update else {
        Issue.record("\(update)")
        break
      }
      numbers.append(try publication.decode([String: Int].self)["number"] ?? 0)
      if numbers.last == 4 { break }
    }
    #expect(numbers == [1, 2, 3, 4])
    #expect(room.position?.offset == 4)
  }

  @Test("a room shows who is present and whether they type")
  func presence() async throws {
    let server = try GatewayProgram()
    let ann = Parley(server.address, as: "Ann", timeout: .seconds(600))
    let ben = Parley(server.address, as: "Ben", timeout: .seconds(600))
    let room = ann.room("r", isPresent: true)
    try await room.opened()
    let other = ben.room("r", isPresent: true)
    await until { room.people.contains { $0.name == "Ben" } }
    other.isTyping = true
    await until { room.people.contains { $0.name == "Ben" && $0.isWriting } }
    other.close()
    await until { !room.people.contains { $0.name == "Ben" } }
  }

  @Test("an unreachable server is reported as a problem, and the client continues to try")
  func absent() async throws {
    let server = try GatewayProgram()
    try await server.makeNote("n")
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    proxy.cut()
    let ann = Parley(proxy.address, as: "Ann")
    let note = ann.note("n")
    await until { ann.problem != nil }
    proxy.mend()
    ann.networkChanged()
    try await note.opened()
    #expect(ann.problem == nil)
    let lost = Parley("nonsense", as: "Ann")
    await until { lost.problem?.contains("ws://host") == true }
  }
}
