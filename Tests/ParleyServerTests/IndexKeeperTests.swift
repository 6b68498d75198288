import ParleyGatewayPorts
import OTCore
import ParleyServer
import ParleyStoreSQLite
import Testing

@Suite("Keeping the index of words like the store")
struct IndexKeeperTests {
  private let folder = TestFolder()
  private let store: SQLiteStore
  private let index: SQLiteSearchIndex
  private var keeper: IndexKeeper
  private var now: Int64 = 1_000

  private struct NoLog: LogSink {
    let level = LogLevel.error
    func write(_ level: LogLevel, _ message: String, _ data: [(key: String, value: String)]) {}
  }

  init() throws {
    store = try SQLiteStore(path: folder.storePath)
    index = try SQLiteSearchIndex(beside: folder.storePath)
    keeper = Self.keeper(store, index)
  }

  private static func keeper(_ store: SQLiteStore, _ index: SQLiteSearchIndex) -> IndexKeeper {
    IndexKeeper(store: store, open: { index }, log: NoLog())
  }

  /// Performs a request, and notifies the keeper of the change.
  private mutating func perform(_ request: StoreRequest, isTold: Bool = true) {
    let reply = store.perform([request])[0]
    #expect(reply.isDone)
    if isTold, let change = request.traits.changedNote { keeper.note([change], at: now) }
  }

  private mutating func make(_ id: String, title: String = "", isTold: Bool = true) {
    perform(.create(id: DocumentID(id), epoch: "e", title: title, time: 1), isTold: isTold)
  }

  private mutating func write(
    _ text: String, in id: String, revision: Int = 1, isTold: Bool = true
  ) {
    var operation = TextOperation()
    operation.insert(text)
    if revision > 1 { operation.retain(length) }
    length = revision > 1 ? length + text.unicodeScalars.count : text.unicodeScalars.count
    let entry = LogEntry(
      revision: revision, client: "c", sequence: revision, digest: 0, operation: operation,
      author: "Ann", time: Timestamp(revision))
    perform(.append(id: DocumentID(id), epoch: "e", entries: [entry]), isTold: isTold)
  }
  private var length = 0

  /// Advances the time, and performs the work that is due meanwhile.
  private mutating func pass(_ milliseconds: Int64) {
    let end = now + milliseconds
    while true {
      let pause = keeper.pause(at: now)
      if pause == 0 {
        keeper.work(at: now)
      } else if now + pause <= end {
        now += pause
      } else {
        break
      }
    }
    now = end
  }

  private mutating func found(_ words: String) throws -> [String] {
    let query = try SearchQuery(words)
    guard case .ids(let ids, _) = keeper.reply(to: .find(query, skipping: 0, limit: 99)),
      case .hits(let hits) = keeper.reply(to: .places(query, ids))
    else {
      Issue.record("not found out")
      return []
    }
    return hits.map(\.note.id.text).sorted()
  }

  @Test("a note is found at most 5 s after its last edit, and not before it rests")
  mutating func resting() throws {
    pass(10_000)
    make("n", title: "Plan")
    write("one ", in: "n")
    pass(1_500)
    write("two ", in: "n", revision: 2)
    pass(1_500)
    #expect(try found("one") == [])
    pass(3_000)
    #expect(try found("one two plan") == ["n"])
    #expect(keeper.indexed == 1, "edits that follow one another are indexed once")
  }

  @Test("a note that is edited on and on is found after 30 s")
  mutating func busy() throws {
    pass(1)
    make("n")
    for revision in 1...40 {
      write("word\(revision) ", in: "n", revision: revision)
      pass(1_000)
    }
    #expect(try found("word20") == ["n"])
    #expect(try found("word39") == [])
    pass(5_000)
    #expect(try found("word39") == ["n"])
    #expect(keeper.indexed == 2)
  }

  @Test("a deleted note is gone at once, even before the index knows, and found when restored")
  mutating func deletion() throws {
    make("n")
    write("a duck", in: "n")
    pass(10_000)
    #expect(try found("duck") == ["n"])
    perform(.delete(id: "n", keeping: Deletion(time: 5, author: "Ann")))
    #expect(try found("duck") == [])
    pass(1)
    #expect(try index.text(of: "n") == nil)
    perform(.deleted(.bringBack(id: "n")))
    pass(1)
    #expect(try found("duck") == ["n"])
    perform(.delete(id: "n"))
    perform(.create(id: "n", epoch: "e", title: "Another", time: 9))
    #expect(try found("duck") == [])
    pass(10_000)
    #expect(try found("another") == ["n"])
  }

  @Test("a rename is found")
  mutating func renaming() throws {
    make("n", title: "Old")
    pass(5_000)
    perform(.rename(id: "n", title: "New", time: 3))
    pass(5_000)
    #expect(try found("old") == [])
    #expect(try found("new") == ["n"])
  }

  @Test("what happened before the start is caught up with")
  mutating func start() throws {
    for number in 0..<450 { make("n\(number)", title: "Note x\(number)", isTold: false) }
    write("words of one", in: "n7", isTold: false)
    pass(60_000)
    #expect(keeper.isSettled)
    #expect(try found("note").count == 99)
    #expect(keeper.indexed == 450)

    // A process ends between commit and index; the next one has no further changes.
    write("other", in: "n8", isTold: false)
    perform(.delete(id: "n9", keeping: Deletion(time: 5, author: "")), isTold: false)
    perform(.rename(id: "n10", title: "Elsewhere", time: 3), isTold: false)
    perform(.delete(id: "n11"), isTold: false)
    perform(.create(id: "n11", epoch: "e", title: "Made anew", time: 9), isTold: false)
    keeper = Self.keeper(store, index)
    pass(60_000)
    #expect(keeper.isSettled)
    #expect(try found("other") == ["n8"])
    #expect(try index.text(of: "n9") == nil)
    #expect(try found("elsewhere") == ["n10"])
    #expect(try found("x11 note") == [])
    #expect(try found("made anew") == ["n11"])
    #expect(keeper.indexed == 3, "the others are not looked at again")
    keeper = Self.keeper(store, index)
    pass(60_000)
    #expect(keeper.indexed == 0)
  }

  @Test("an index that cannot be opened is tried again, and searches fail meanwhile")
  mutating func failing() throws {
    make("n", title: "Plan")
    let path = folder.path + "/nowhere/notes.parley"
    keeper = IndexKeeper(
      store: store, open: { try SQLiteSearchIndex(beside: path) }, log: NoLog())
    keeper.work(at: now)
    #expect(keeper.failure != nil)
    #expect(keeper.pause(at: now) > 0)
    guard case .failed = keeper.reply(to: .find(try SearchQuery("plan"), skipping: 0, limit: 9))
    else {
      Issue.record("found")
      return
    }
    #expect(!keeper.isSettled)
  }

  @Test("a place far behind in a long text is not looked for, and its beginning is shown")
  mutating func longText() throws {
    make("n")
    write("begin " + String(repeating: "x", count: 150_000) + " duck", in: "n")
    make("long")
    write("begin " + String(repeating: "x", count: 250_000) + " duck", in: "long")
    pass(60_000)
    let query = try SearchQuery("duck")
    guard case .hits(let hits) = keeper.reply(to: .places(query, ["n", "long"])) else {
      Issue.record("not found out")
      return
    }
    #expect(hits.map(\.place.marks.isEmpty) == [false, true])
    #expect(hits.last?.place.text.hasPrefix("begin xxx") == true)
  }

  @Test("more removals than may wait are found by comparing")
  mutating func manyRemovals() throws {
    make("n", title: "Plan", isTold: false)
    pass(60_000)
    #expect(try found("plan") == ["n"])
    keeper.note((0..<12_000).map { .removed("gone \($0)") }, at: now)
    perform(.delete(id: "n"))
    pass(60_000)
    #expect(keeper.isSettled)
    #expect(try index.text(of: "n") == nil)
  }

  @Test("more edited notes than may wait are found by comparing")
  func tooMany() {
    var resting = UnindexedNotes()
    for number in 0...UnindexedNotes.countMax { resting.edited("n\(number)", at: 1) }
    #expect(resting.isOverfull)
    #expect(resting.count == UnindexedNotes.countMax)
    var due = 0
    while resting.takeDue(at: 10_000) != nil { due += 1 }
    #expect(due == UnindexedNotes.countMax)
  }

  /// An index that rejects a note, or has no free space.
  private final class RejectingIndex: SearchIndex {
    private let index: SQLiteSearchIndex
    var refused: DocumentID?
    var hasRoom = true

    init(_ index: SQLiteSearchIndex) { self.index = index }

    func states(of ids: [DocumentID]) throws(StoreError) -> [IndexedState?] {
      try index.states(of: ids)
    }
    func ids(after id: DocumentID?, limit: Int) throws(StoreError) -> [DocumentID] {
      try index.ids(after: id, limit: limit)
    }
    func find(tag: String, skipping count: Int, limit: Int) throws(StoreError) -> [DocumentID] {
      try index.find(tag: tag, skipping: count, limit: limit)
    }
    func tags(after place: TaggedNote?, limit: Int) throws(StoreError) -> [TaggedNote] {
      try index.tags(after: place, limit: limit)
    }
    func tags(of id: DocumentID) throws(StoreError) -> [String] { try index.tags(of: id) }
    @discardableResult
    func put(_ note: IndexedNote) throws(StoreError) -> Bool {
      if note.id == refused { throw .unavailable("no such letters") }
      return try index.put(note)
    }
    func remove(_ ids: [DocumentID]) throws(StoreError) { try index.remove(ids) }
    func find(
      _ query: SearchQuery, skipping count: Int, limit: Int
    ) throws(StoreError) -> [DocumentID] {
      try index.find(query, skipping: count, limit: limit)
    }
    func text(of id: DocumentID) throws(StoreError) -> String? { try index.text(of: id) }
    func clear() throws(StoreError) { try index.clear() }
    func checkRoom() throws(StoreError) { if !hasRoom { throw .unavailable("no room") } }
  }

  @Test("tags are counted in the notes that may be read, in the folders where they are now")
  mutating func tags() throws {
    for (id, text) in [("a", "#plan and #Plan"), ("b", "see #plan, #b"), ("c", "#plan")] {
      make(id)
      write(text, in: id)
    }
    pass(60_000)
    perform(.folders(.move(id: "b", to: FolderPath(stored: "team"), time: 9)))
    perform(.delete(id: "c"))
    func counted(
      _ notes: [NamePattern], _ folders: [String], madeUntil: Timestamp? = nil
    ) -> [String] {
      let counting = FolderCounting(
        notes: notes, folders: folders.compactMap { NamePattern(folders: $0) },
        madeUntil: madeUntil)
      guard case .tags(let tags, isCut: false) = keeper.reply(to: .tags(counting)) else {
        return ["?"]
      }
      return tags.map { "\($0.tag) \($0.notes)" }
    }
    #expect(counted([NamePattern("*")], []) == ["plan 2", "b 1"])
    #expect(counted([NamePattern("a")], []) == ["plan 1"])
    #expect(counted([NamePattern("a"), NamePattern("b"), NamePattern("c")], []).count == 2)
    // A link's token applies to the note for which it was created, not to a later one with that id.
    #expect(counted([NamePattern("a")], [], madeUntil: 1) == ["plan 1"])
    #expect(counted([NamePattern("a")], [], madeUntil: 0) == [])
    #expect(counted([], ["team/*"]) == ["b 1", "plan 1"])
    #expect(counted([], ["other"]) == [])
  }

  @Test("changed tags are reported, and other words are not")
  mutating func tagNews() {
    make("n")
    write("#plan ", in: "n")
    pass(60_000)
    var isNews = [keeper.takeTagNews()]
    for (revision, text) in [(2, "words "), (3, "#other ")] {
      write(text, in: "n", revision: revision)
      pass(60_000)
      isNews.append(keeper.takeTagNews())
    }
    #expect(isNews == [true, false, true])
    #expect(!keeper.hasTagNews)
  }

  @Test("a note that the index refuses keeps no other from being found")
  mutating func refusal() throws {
    let picky = RejectingIndex(index)
    picky.refused = "b"
    keeper = IndexKeeper(store: store, open: { picky }, log: NoLog())
    for id in ["a", "b", "c"] {
      make(id, isTold: false)
      write("duck", in: id, isTold: false)
    }
    pass(300_000)
    #expect(try found("duck") == ["a", "c"])
    picky.refused = nil
    write("pond ", in: "b", revision: 2)
    pass(10_000)
    #expect(try found("duck") == ["a", "b", "c"])
  }

  @Test("an index that has no room waits until there is some")
  mutating func room() throws {
    let picky = RejectingIndex(index)
    picky.hasRoom = false
    keeper = IndexKeeper(store: store, open: { picky }, log: NoLog())
    make("n")
    write("duck", in: "n")
    pass(60_000)
    #expect(try found("duck") == [])
    #expect(keeper.failure != nil)
    picky.hasRoom = true
    pass(60_000)
    #expect(try found("duck") == ["n"])
  }
}
