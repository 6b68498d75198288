import ParleyLocks
import OTCore
import ParleyOTWorkloads
import ParleyClient
import SocketMessages
import Testing

/// A clock that moves only when a test moves it.
final class ManualTime: ClientTime {
  private struct State {
    var now: Int64 = 0
    var waiting: [(time: Int64, feed: Feed<Void>)] = []
  }

  private let state = Locked(State())

  var now: Int64 { state.withLock { $0.now } }

  func wait(until time: Int64) async {
    let feed = Feed<Void>(bound: 1)
    state.withLock { state in
      if state.now >= time { feed.finish() } else { state.waiting.append((time, feed)) }
    }
    _ = await feed.next()
  }

  /// Moves the clock to the next time for which a caller waits, if that is near enough.
  func passToNext(within milliseconds: Int64 = .max) {
    let next = state.withLock { state in state.waiting.map(\.time).min().map { $0 - state.now } }
    if let next, next <= milliseconds { pass(next) }
  }

  func pass(_ milliseconds: Int64) {
    state.withLock { state in
      state.now += milliseconds
      for waiter in state.waiting where waiter.time <= state.now { waiter.feed.finish() }
      state.waiting.removeAll { $0.time <= state.now }
    }
  }
}

/// A storage that a test slows down and breaks.
actor ScriptedStorage: ClientStorage {
  struct Broken: Error {}

  private(set) var values: [String: [UInt8]] = [:]
  private(set) var writes: [String] = []
  private(set) var reads: [String] = []
  private(set) var isWriting = false
  private var isBroken = false
  private var isFull = false
  private var unreadable: Set<String> = []
  private var writers: [Feed<Void>]?
  private var readers: [Feed<Void>]?

  init(_ values: [String: [UInt8]] = [:]) { self.values = values }

  func breakDown(_ isBroken: Bool) { self.isBroken = isBroken }

  /// Has every write fail.
  func fillUp() { isFull = true }

  /// Has every read of a value fail.
  func damage(_ key: String) { unreadable.insert(key) }

  /// Has every write wait until ``letThrough()``.
  func hold() { writers = [] }

  func letThrough() {
    let waiting = writers ?? []
    writers = nil
    for writer in waiting { writer.finish() }
  }

  /// Has every read wait until ``letThroughReading()``.
  func holdReading() { readers = [] }

  func letThroughReading() {
    let waiting = readers ?? []
    readers = nil
    for reader in waiting { reader.finish() }
  }

  func read(_ key: String) async throws -> [UInt8]? {
    if readers != nil {
      let reader = Feed<Void>(bound: 1)
      readers?.append(reader)
      _ = await reader.next()
    }
    reads.append(key)
    if isBroken || unreadable.contains(key) { throw Broken() }
    return values[key]
  }

  func write(_ value: [UInt8], for key: String) async throws {
    isWriting = true
    defer { isWriting = false }
    if writers != nil {
      let writer = Feed<Void>(bound: 1)
      writers?.append(writer)
      _ = await writer.next()
    }
    if isBroken || isFull { throw Broken() }
    values[key] = value
    writes.append(key)
  }

  func remove(_ key: String) throws {
    if isBroken { throw Broken() }
    values[key] = nil
  }

  func keys(beginningWith prefix: String) -> [String] {
    values.keys.filter { $0.hasPrefix(prefix) }
  }
}

/// A text view: its own text, changed by ranges only.
@MainActor final class PlainView: NoteView {
  var units: [UInt16] = []
  var resets = 0
  var whenChanged: (() -> Void)?

  func note(_ note: Note, changed edits: [TextEdit]) {
    for edit in edits { units.replaceSubrange(edit.range, with: Array(edit.text.utf16)) }
    whenChanged?()
  }

  func note(_ note: Note, becomes text: String) {
    units = Array(text.utf16)
    resets += 1
  }
}

@MainActor @Suite("Notes without sockets", .timeLimit(.minutes(30)))
struct ModelTests {
  private func connect(
    _ server: ScriptedServer, storage: any ClientStorage = MemoryStorage(),
    time: any ClientTime = ManualTime(), token: TokenSource? = nil
  ) -> Parley {
    Parley(transport: server, as: "Ann", storage: storage, time: time, token: token, seed: 1)
  }

  @Test("text, view and server agree in the end, whichever edits come between", arguments: 1...30)
  func histories(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let server = ScriptedServer(RandomTexts.text(scalars: 20, using: &random))
    let time = ManualTime()
    let parley = connect(server, time: time)
    let note = parley.note("n")
    let view = PlainView()
    try await note.opened()
    note.attach(view)
    for _ in 0..<40 {
      switch random.below(8) {
      case 0...3:
        let start = random.below(note.utf16Count + 1)
        let range = start..<start + random.below(min(5, note.utf16Count - start + 1))
        let text = RandomTexts.text(scalars: random.below(4), using: &random)
        let before = Array(note.text.utf16)
        try note.replace(range, with: text)
        // The view has changed before the note was asked.
        let after = Array(note.text.utf16)
        #expect(after.count - before.count <= text.utf16.count - range.count)
        view.units = after
      case 4, 5:
        let seed = random.next()
        server.change { document in
          var random = SplitMix64(seed: seed)
          return TextOperation.random(length: document.scalarCount, using: &random)
        }
      case 6:
        server.cut()
        if random.chance(50), parley.connection == .waiting { time.pass(20_000) }
      default: await Task.yield()
      }
      if random.chance(50) { await Task.yield() }
    }
    // A connection that ends in this moment is followed by another, at the latest after the delay.
    while note.unsaved > 0 || !note.text.utf8.elementsEqual(server.text.utf8) {
      if parley.connection == .waiting { time.pass(20_000) }
      await Task.yield()
    }
    #expect(view.units == Array(note.text.utf16))
  }

  @Test("a view may not edit while it is notified of a change")
  func within() async throws {
    let server = ScriptedServer("abc")
    let parley = connect(server)
    let note = parley.note("n")
    try await note.opened()
    let view = PlainView()
    note.attach(view)
    var failure: NoteError?
    view.whenChanged = {
      do throws(NoteError) { try note.append("!") } catch { failure = error }
    }
    server.change { _ in [.insert("x"), .retain(3)] }
    await until { note.text == "xabc" }
    #expect(failure == .isShowing)
    try note.append("!")
    try await note.saved()
    #expect(server.text == "xabc!")
  }

  @Test("after a refusal the edits wait until the app retries or discards them")
  func refusal() async throws {
    let server = ScriptedServer("abc")
    let parley = connect(server)
    let note = parley.note("n")
    try await note.opened()
    server.set { $0.refusal = .tooLarge }
    try note.append("!")
    await #expect(throws: NoteError.self) { try await note.saved() }
    #expect(note.refusal?.code == "tooLarge")
    #expect(note.unsaved == 1)
    server.set { $0.refusal = nil }
    note.retry()
    try await note.saved()
    #expect(note.refusal == nil)
    #expect(server.text == "abc!")
    server.set { $0.refusal = .tooLarge }
    try note.append("?")
    await until { note.refusal != nil }
    server.set { $0.refusal = nil }
    note.discard()
    try await note.opened()
    await until { note.text == "abc!" && note.unsaved == 0 }
  }

  @Test("restored edits are on the disk before they are sent")
  func keptFirst() async throws {
    let server = ScriptedServer("abc")
    let storage = ScriptedStorage()
    let time = ManualTime()
    do {
      let parley = connect(server, storage: storage, time: time)
      let note = parley.note("n")
      try await note.opened()
      server.set { $0.refusal = .busy }
      try note.append("1")
      parley.willSuspend()
      while await !storage.writes.contains("note/n") { await Task.yield() }
      parley.stop()
    }
    server.set { $0.refusal = nil }
    let before = server.changeCount
    await storage.hold()
    let parley = connect(server, storage: storage, time: time)
    let note = parley.note("n")
    try await note.opened()
    #expect(note.text == "abc1")
    try note.append("2")
    await until { note.state == .live }
    // A change sent now would contain more than the disk has, which cannot be written.
    for _ in 0..<50 { await Task.yield() }
    #expect(server.changeCount == before)
    await storage.letThrough()
    try await note.saved()
    #expect(server.text == "abc12")
  }

  @Test("a failing storage is reported, and blocks nothing")
  func brokenStorage() async throws {
    let server = ScriptedServer("abc")
    let storage = ScriptedStorage()
    let parley = connect(server, storage: storage)
    let note = parley.note("n")
    try await note.opened()
    await storage.breakDown(true)
    server.set { $0.holdsAnswers = true }
    try note.append("!")
    parley.willSuspend()
    await until { note.isStorageFailing }
    server.cut()
    parley.networkChanged()
    server.set { $0.holdsAnswers = false }
    await until { parley.connection != .online || note.unsaved == 0 }
    parley.networkChanged()
    try await note.saved()
    #expect(server.text == "abc!")
  }

  @Test("a note fails while its storage is unreadable, and can be reopened later")
  func unreadable() async throws {
    let storage = ScriptedStorage(["note/n": Array("7\nnothing".utf8)])
    let server = ScriptedServer("abc")
    let parley = connect(server, storage: storage)
    let note = parley.note("n")
    await #expect(throws: NoteError.self) { try await note.opened() }
    guard case .failed(.storage) = note.state else {
      Issue.record("the state is \(note.state)")
      return
    }
    #expect(await storage.values["note/n"] != nil)
    try await storage.remove("note/n")
    note.reopen()
    try await note.opened()
    #expect(note.text == "abc")
  }

  @Test("a reader who falls behind gets the current text, and then each change")
  func slowReader() async throws {
    let server = ScriptedServer("")
    let parley = connect(server)
    let note = parley.note("n")
    try await note.opened()
    let updates = note.updates
    let count = 700
    for _ in 0..<count { server.change { [.insert("x"), .retain($0.scalarCount)] } }
    await until { note.utf16Count == count }
    var units: [UInt16] = []
    var resets = 0
    var total = 0
    for await update in updates {
      total += 1
      switch update {
      case .reset(let text):
        resets += 1
        units = Array(text.utf16)
      case .changed(let change):
        for edit in change.edits { units.replaceSubrange(edit.range, with: Array(edit.text.utf16)) }
      }
      if units.count == count { break }
    }
    #expect(resets == 1)
    #expect(total <= 256)
  }

  @Test("updates begin with a reset to the text, unless the text is empty", arguments: ["", "abc"])
  func firstUpdate(text: String) async throws {
    let server = ScriptedServer(text)
    let parley = connect(server)
    let note = parley.note("n")
    let updates = note.updates.makeAsyncIterator()
    try await note.opened()
    server.change { [.retain($0.scalarCount), .insert("!")] }
    if !text.isEmpty { #expect(await updates.next() == .reset(text)) }
    guard case .changed(let change) = await updates.next() else {
      Issue.record("expected the change")
      return
    }
    #expect(change.inserted == "!")
  }

  @Test("after a failure the token is requested again after a pause")
  func tokenLater() async throws {
    let server = ScriptedServer("abc")
    let time = ManualTime()
    let (asked, asking) = AsyncStream.makeStream(of: Int.self)
    let count = Counter()
    let parley = connect(server, time: time) {
      let number = count.next()
      asking.yield(number)
      if number < 3 { throw ScriptedStorage.Broken() }
      return "token"
    }
    let note = parley.note("n")
    for await number in asked {
      if number == 3 { break }
      // Its pause may begin a moment after this.
      while count.value == number {
        time.pass(30_000)
        await Task.yield()
      }
    }
    try await note.opened()
    #expect(note.text == "abc")
  }

  private final class Counter: Sendable {
    private let count = Locked(0)
    var value: Int { count.withLock { $0 } }
    func next() -> Int {
      count.withLock {
        $0 += 1
        return $0
      }
    }
  }

  @Test("ranges are converted from indices to UTF-16 units and back")
  func ranges() async throws {
    let server = ScriptedServer("a😀e\u{301}b")
    let parley = connect(server)
    let open = parley.note("n")
    try await open.opened()
    let range = try #require(open.text.firstRange(of: "😀"))
    #expect(open.utf16Range(of: range) == 1..<3)
    #expect(open.range(ofUTF16: 1..<3) == range)
    #expect(open.range(ofUTF16: 0..<99) == nil)
    try open.replace(range, with: "")
    open.text += "!"
    try await open.saved()
    #expect(server.text.utf8.elementsEqual("ae\u{301}b!".utf8))
  }
}
