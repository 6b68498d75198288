public import ParleyGatewayPorts
import OTCore

/// Requirements for every store whose logs several nodes append to, each through its own handle.
public enum SharedStoreConformance {
  /// All checks. Each needs a new store.
  public static let checks: [SharedStoreCheck] = [
    SharedStoreCheck("both handles say that the store is shared") { rig in
      try require(rig.a.isShared && rig.b.isShared, "both shared")
    },
    SharedStoreCheck("one of two appends at a revision wins, and the other learns what it missed") {
      rig in
      let chain = try rig.chain(rig.a)
      _ = try rig.append(rig.a, [entry(1, op("a"))], after: chain)
      let (missed, head) = try rig.lostRace(
        rig.appending(rig.b, [entry(1, op("b"), client: "ben")], after: chain))
      try expect(missed, [entry(1, op("a"))], "missed")
      let after = try rig.append(
        rig.b, [entry(2, op(1, "b"), client: "ben", sequence: 1)], after: head)
      try expect(after, rig.chain(rig.a), "the chain that the other reads")
      try expect(text: rig.load(rig.a).text, "ab", "the text")
    },
    SharedStoreCheck("a race is lost by as many entries as were appended meanwhile") { rig in
      let chain = try rig.chain(rig.a)
      var entries = [entry(1, op("x"))]
      for revision in 2...20 { entries.append(entry(revision, op(.number(revision - 1), "x"))) }
      let head = try rig.append(rig.a, entries, after: chain)
      let (missed, newest) = try rig.lostRace(
        rig.appending(rig.b, [entry(1, op("y"), client: "ben")], after: chain))
      try expect(missed, entries, "missed")
      try expect(newest, head, "the chain")
    },
    SharedStoreCheck("an append under another chain is not taken, whatever its revision") { rig in
      let chain = try rig.chain(rig.a)
      let first = try rig.append(rig.a, [entry(1, op("a"))], after: chain)
      var other = first
      other.low ^= 1
      let next = [entry(2, op(1, "b"))]
      try expect(
        rig.error(rig.appending(rig.a, next, after: other)), .notNext(headRevision: 1),
        "at the head")
      try expect(
        rig.error(rig.appending(rig.b, [entry(1, op("z"))], after: other)),
        .notNext(headRevision: 1), "before it")
      _ = try rig.append(rig.b, next, after: first)
    },
    SharedStoreCheck("a chain of another life of the database is not believed") { rig in
      let head = try rig.append(rig.a, [entry(1, op("a"))], after: rig.chain(rig.a))
      var other = head
      other.life += 1
      let next = [entry(2, op(1, "b"))]
      try expect(
        rig.error(rig.appending(rig.a, next, after: other)), .notNext(headRevision: 1),
        "an append")
      try expect(rig.news(rig.b, after: 1, chain: other), .otherHistory, "news")
      let replies = rig.b.perform([
        .rename(id: "n", title: "Other", time: 9),
        rig.request(next, after: other),
      ])
      try expect(rig.error(replies[1]), .notNext(headRevision: 1), "an append among other work")
      _ = try rig.append(rig.b, next, after: head)
    },
    SharedStoreCheck("heads beside an append of the same note are of before it, or behind it") {
      rig in
      let chain = try rig.chain(rig.a)
      let replies = rig.a.perform([
        .heads(ids: ["n"]),
        rig.request([entry(1, op("a"))], after: chain),
        .news(id: "x", epoch: StoreRig.epoch, after: 0, chain: chain),
      ])
      let head = try rig.appended(replies[1])
      guard case .heads(let heads) = replies[0], heads.count == 1, let found = heads[0] else {
        throw ConformanceFailure("expected a head")
      }
      try require([chain, head].contains(found.chain), "a chain of the log")
      try expect(rig.error(replies[2]), .unknownDocument, "the error")
    },
    SharedStoreCheck("news of a long log come in stretches, each with the chain at its end") {
      rig in
      var chain = try rig.chain(rig.a)
      let start = chain
      let size = 100_000
      for revision in 1...15 {
        let text = String(repeating: "x", count: size)
        let entries = [entry(revision, op(.number((revision - 1) * size), .text(text)))]
        chain = try rig.append(rig.a, entries, after: chain)
      }
      let first = try rig.stretch(rig.b, after: 0, chain: start, clients: ["ann"])
      try require((8...15).contains(first.entries.count), "about a megabyte at least")
      try expect(first.headRevision, 15, "the head")
      try expect(first.sessions, ["ann": 0], "the sessions")
      let rest = try rig.stretch(rig.b, after: first.entries.count, chain: first.chain)
      try expect(first.entries.count + rest.entries.count, 15, "the entries")
      try expect(rest.chain, chain, "the chain at the head")
    },
    SharedStoreCheck("an append under another epoch is not taken") { rig in
      let chain = try rig.chain(rig.a)
      try rig.done(
        rig.b.perform([.renewEpoch(id: "n", from: StoreRig.epoch, to: "second")])[0])
      try expect(
        rig.error(rig.appending(rig.a, [entry(1, op("a"))], after: chain)),
        .notNext(headRevision: 0), "the error")
      try expect(rig.news(rig.a, after: 0, chain: chain), .otherHistory, "the news")
      try expect(
        rig.error(rig.b.perform([.renewEpoch(id: "n", from: StoreRig.epoch, to: "third")])[0]),
        .notNext(headRevision: 0), "a second renewal")
    },
    SharedStoreCheck("work with a key that two nodes begin is done once") { rig in
      let asked = KeyedRequest(
        owner: "ann", key: "POST notes 1", variant: "", body: [1], time: 100_000)
      func make(_ store: any DocumentStore, _ id: DocumentID) -> StoreReply {
        let draft = AnswerDraft(asked) { reply in
          if case .note(let note) = reply { Array(note.id.text.utf8) } else { nil }
        }
        return store.perform([
          .once(
            .perform(
              .create(id: id, epoch: "e", title: "M", time: 1), keeping: [draft], .standard))
        ])[0]
      }
      // Neither node has found a stored answer.
      try require(make(rig.a, "first").isDone, "the first is done")
      try expect(rig.error(make(rig.b, "second")), .answeredElsewhere([0]), "the second")
      guard case .notes(let notes) = rig.b.perform([.list])[0] else {
        throw ConformanceFailure("expected the notes")
      }
      try expect(notes.map(\.id).sorted(), ["first", "n"], "the notes")
      guard case .once(.answered(let answer)) = rig.b.perform([.once(.answer(asked, .standard))])[0]
      else { throw ConformanceFailure("expected an answer") }
      try expect(answer, Array("first".utf8), "the answer")
    },
    SharedStoreCheck(
      "a commit that is answered elsewhere in part is not done, and the part is named"
    ) {
      rig in
      let asked = (1...3).map {
        KeyedRequest(owner: "ann", key: "k\($0)", variant: "", body: [], time: 100_000)
      }
      func edit(_ store: any DocumentStore, _ revision: Int, keeping places: [Int]) throws
        -> StoreReply
      {
        let chain = try rig.chain(store)
        let edit = entry(
          revision, op(.number(revision - 1), "x"), client: "c\(revision)", sequence: 1)
        let append = rig.request([edit], after: chain)
        let drafts = places.map { place in AnswerDraft(asked[place]) { _ in [UInt8(place)] } }
        return store.perform([.once(.perform(append, keeping: drafts, .standard))])[0]
      }
      _ = try rig.appended(edit(rig.a, 1, keeping: [1]))
      try expect(
        rig.error(edit(rig.b, 2, keeping: [0, 1, 2])), .answeredElsewhere([1]), "the second")
      try expect(rig.load(rig.b).summary.revision, 1, "the revision")
      _ = try rig.appended(edit(rig.b, 2, keeping: [0, 2]))
    },
    SharedStoreCheck("sessions that made-up clients begin leave the newest ones in force") { rig in
      let chain = try rig.chain(rig.a)
      _ = try rig.fence(rig.a, ["ben"])
      let head = try rig.append(
        rig.a, [entry(1, op("a"), client: "ben", sequence: 1)], after: chain, sessions: ["ben": 1])
      for number in 0..<6 { _ = try rig.fence(rig.b, (1...500).map { "made-up \(number) \($0)" }) }
      try expect(rig.fence(rig.b, ["ann"]), ["ann": 1], "the session")
      let late = [entry(2, op(1, "b"), client: "ann", sequence: 1)]
      try expect(rig.error(rig.appending(rig.a, late, after: head)), .fenced(["ann"]), "the newest")
      let own = [entry(2, op(1, "b"), client: "ben", sequence: 2)]
      try expect(
        rig.error(rig.appending(rig.a, own, after: head)), .fenced(["ben"]),
        "one that has changed the note")
    },
    SharedStoreCheck("news are what follows a revision, if the log is the same") { rig in
      let start = try rig.chain(rig.a)
      let entries = [entry(1, op("a")), entry(2, op(1, "b"))]
      let head = try rig.append(rig.a, entries, after: start)
      let all = try rig.stretch(rig.b, after: 0, chain: start)
      try expect(all.entries, entries, "the entries")
      try expect(all.chain, head, "the chain")
      try expect(all.headRevision, 2, "the head")
      let none = try rig.stretch(rig.b, after: 2, chain: head)
      try expect(none.entries, [], "the entries behind the head")
      try expect(none.chain, head, "the chain at the head")
      try expect(rig.news(rig.b, after: 2, chain: start), .otherHistory, "another chain")
      try expect(rig.news(rig.b, after: 3, chain: head), .otherHistory, "beyond the head")
      try expect(rig.news(rig.b, after: 0, chain: head), .otherHistory, "another start")
    },
    SharedStoreCheck("news of a note that is gone say so") { rig in
      let chain = try rig.chain(rig.a)
      try rig.done(rig.b.perform([.delete(id: "n")])[0])
      let asked = StoreRequest.news(id: "n", epoch: StoreRig.epoch, after: 0, chain: chain)
      try expect(rig.error(rig.a.perform([asked])[0]), .unknownDocument, "the error")
      try expect(rig.heads(rig.a, ["n"]), [nil], "the heads")
    },
    SharedStoreCheck("heads are those of each note, in order") { rig in
      let chain = try rig.chain(rig.a)
      let head = try rig.append(rig.a, [entry(1, op("a"))], after: chain)
      let heads = try rig.heads(rig.b, ["x", "n", "x"])
      try expect(
        heads,
        [nil, LogHead(title: "A note", epoch: StoreRig.epoch, revision: 1, chain: head), nil],
        "the heads")
      _ = rig.a.perform([.rename(id: "n", title: "Other", time: 9)])
      try expect(rig.heads(rig.b, ["n"]).first??.title, "Other", "the title")
    },
    SharedStoreCheck("a fence keeps out what was sent in an earlier session, of that client alone")
    {
      rig in
      let chain = try rig.chain(rig.a)
      try expect(rig.fence(rig.b, ["ann"]), ["ann": 1], "the session")
      let late = [entry(1, op("a")), entry(2, op(1, "b"), client: "ben", sequence: 1)]
      try expect(
        rig.error(rig.appending(rig.a, late, after: chain)), .fenced(["ann"]), "the error")
      try expect(text: rig.load(rig.b).text, "", "the text")
      let head = try rig.append(
        rig.a, [entry(1, op("b"), client: "ben")], after: chain)
      _ = try rig.append(
        rig.b, [entry(2, op("a", 1), client: "ann", sequence: 1)], after: head,
        sessions: ["ann": 1])
      try expect(rig.load(rig.a).marks["ann"]?.sequence, 1, "the mark")
    },
    SharedStoreCheck("each fence begins another session, and news tell the newest") { rig in
      let chain = try rig.chain(rig.a)
      try expect(rig.fence(rig.a, ["ann", "ben"]), ["ann": 1, "ben": 1], "the first")
      try expect(rig.fence(rig.b, ["ann"]), ["ann": 2], "the second")
      try expect(
        rig.stretch(rig.a, after: 0, chain: chain, clients: ["ann", "cat"]).sessions,
        ["ann": 2, "cat": 0], "the sessions")
      let ann = [entry(1, op("a"))]
      try expect(
        rig.error(rig.appending(rig.a, ann, after: chain, sessions: ["ann": 1])),
        .fenced(["ann"]), "an earlier session")
      _ = try rig.append(rig.a, ann, after: chain, sessions: ["ann": 2])
    },
    SharedStoreCheck("a fence leaves marks and loading as they were") { rig in
      _ = try rig.fence(rig.a, ["ann"])
      try expect(rig.load(rig.b).marks["ann"]?.sequence ?? 0, 0, "the mark")
      let chain = try rig.chain(rig.a)
      _ = try rig.append(rig.a, [entry(1, op("a"))], after: chain, sessions: ["ann": 1])
      _ = try rig.fence(rig.b, ["ann"])
      try expect(rig.load(rig.b).marks["ann"]?.sequence, 1, "the mark behind a change")
    },
    SharedStoreCheck("a lost race is reported before a fence") { rig in
      let chain = try rig.chain(rig.a)
      _ = try rig.append(rig.b, [entry(1, op("b"), client: "ben")], after: chain)
      _ = try rig.fence(rig.b, ["ann"])
      let (missed, _) = try rig.lostRace(rig.appending(rig.a, [entry(1, op("a"))], after: chain))
      try expect(missed.count, 1, "missed")
    },
    SharedStoreCheck("notes of one batch are decided each by itself") { rig in
      let chain = try rig.chain(rig.a)
      _ = rig.a.perform([.create(id: "m", epoch: StoreRig.epoch, title: "M", time: 1)])
      _ = try rig.append(rig.a, [entry(1, op("a"))], after: chain)
      let other = try rig.chain(rig.b, "m")
      let replies = rig.b.perform([
        rig.request([entry(1, op("b"))], after: chain),
        rig.request(to: "m", [entry(1, op("m"))], after: other),
      ])
      _ = try rig.lostRace(replies[0])
      _ = try rig.appended(replies[1])
    },
    SharedStoreCheck("an append whose answer was lost is found in the log", needsLostAnswers: true)
    {
      rig in
      let chain = try rig.chain(rig.a)
      rig.loseAnswer(rig.a)
      let mine = [entry(1, op("a"))]
      let lost = try rig.error(rig.appending(rig.a, mine, after: chain))
      guard case .unknownOutcome = lost else { throw unexpected(lost, "an unknown outcome") }
      let stretch = try rig.stretch(rig.a, after: 0, chain: chain)
      try expect(stretch.entries, mine, "the entries")
      let (missed, _) = try rig.lostRace(rig.appending(rig.a, mine, after: chain))
      try expect(missed, mine, "missed by doing it again")
    },
  ]
}

/// A requirement for every shared store.
public struct SharedStoreCheck: Sendable, CustomStringConvertible {
  /// The checked requirement.
  public let description: String
  /// Whether the check needs a lost reply to a batch.
  public let needsLostAnswers: Bool

  private let body: @Sendable (SharedStoreRig) throws -> Void

  init(
    _ description: String, needsLostAnswers: Bool = false,
    _ body: @escaping @Sendable (SharedStoreRig) throws -> Void
  ) {
    self.description = description
    self.needsLostAnswers = needsLostAnswers
    self.body = body
  }

  /// Runs the check.
  ///
  /// - Parameters:
  ///   - open: Opens a handle on the store, which is empty at first. Called twice.
  ///   - loseAnswer: Makes the next batch of a handle succeed, but its reply be lost.
  /// - Throws: `ConformanceFailure`, or an error of `open`.
  public func run<Store: DocumentStore>(
    opening open: () throws -> Store,
    losingAnswerOf loseAnswer: @escaping (Store) -> Void = { _ in }
  ) throws {
    let (a, b) = (try open(), try open())
    let made = a.perform([.create(id: "n", epoch: StoreRig.epoch, title: "A note", time: 1_000)])
    guard case .note = made[0] else { throw unexpected(made[0], "a note") }
    try body(SharedStoreRig(a, b) { if let store = $0 as? Store { loseAnswer(store) } })
  }
}

/// Two handles on one store under test, which contains a note `n`.
final class SharedStoreRig: ReplyReader {
  let a: any DocumentStore
  let b: any DocumentStore
  let loseAnswer: (any DocumentStore) -> Void

  init(
    _ a: any DocumentStore, _ b: any DocumentStore,
    losingAnswer: @escaping (any DocumentStore) -> Void
  ) {
    self.a = a
    self.b = b
    loseAnswer = losingAnswer
  }

  func appending(
    _ store: any DocumentStore, _ entries: [LogEntry], after chain: LogChain,
    sessions: [String: Int] = [:]
  ) throws -> StoreReply {
    store.perform([request(entries, after: chain, sessions: sessions)])[0]
  }

  /// Returns a request to append entries if the log still has a chain.
  func request(
    to id: DocumentID = "n", _ entries: [LogEntry], after chain: LogChain,
    sessions: [String: Int] = [:]
  ) -> StoreRequest {
    .append(
      id: id, epoch: StoreRig.epoch, entries: entries,
      condition: AppendCondition(chain: chain, sessions: sessions))
  }

  /// Appends entries, and returns the new chain.
  func append(
    _ store: any DocumentStore, _ entries: [LogEntry], after chain: LogChain,
    sessions: [String: Int] = [:]
  ) throws -> LogChain {
    try appended(appending(store, entries, after: chain, sessions: sessions))
  }

  func load(_ store: any DocumentStore, _ id: DocumentID = "n") throws -> StoredDocument {
    let reply = store.perform([.load(id: id, recentMax: 100)])[0]
    guard case .document(let document) = reply else { throw unexpected(reply, "a document") }
    return document
  }

  func chain(_ store: any DocumentStore, _ id: DocumentID = "n") throws -> LogChain {
    guard let chain = try load(store, id).chain else {
      throw ConformanceFailure("expected a chain with the document")
    }
    return chain
  }

  func news(_ store: any DocumentStore, after: Int, chain: LogChain) throws -> LogChanges {
    let reply = store.perform([
      .news(id: "n", epoch: StoreRig.epoch, after: after, chain: chain)
    ])[0]
    guard case .news(let news) = reply else { throw unexpected(reply, "news") }
    return news
  }

  func stretch(
    _ store: any DocumentStore, after: Int, chain: LogChain, clients: [String] = []
  ) throws -> LogRange {
    let reply = store.perform([
      .news(id: "n", epoch: StoreRig.epoch, after: after, chain: chain, clients: clients)
    ])[0]
    guard case .news(.entries(let stretch)) = reply else { throw unexpected(reply, "entries") }
    return stretch
  }

  func heads(_ store: any DocumentStore, _ ids: [DocumentID]) throws -> [LogHead?] {
    let reply = store.perform([.heads(ids: ids)])[0]
    guard case .heads(let heads) = reply else { throw unexpected(reply, "heads") }
    return heads
  }

  func fence(_ store: any DocumentStore, _ clients: [String]) throws -> [String: Int] {
    let reply = store.perform([.fence(id: "n", clients: clients)])[0]
    guard case .sessions(let sessions) = reply else { throw unexpected(reply, "sessions") }
    return sessions
  }

  func appended(_ reply: StoreReply) throws -> LogChain {
    guard case .appended(let chain) = reply else { throw unexpected(reply, "appended") }
    return chain
  }

  func lostRace(_ reply: StoreReply) throws -> ([LogEntry], LogChain) {
    guard case .lostRace(let entries, let chain?) = reply else {
      throw unexpected(reply, "a lost race with its chain")
    }
    return (entries, chain)
  }
}
