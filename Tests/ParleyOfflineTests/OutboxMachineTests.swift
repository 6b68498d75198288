import ParleyJSON
import Testing

import ParleyOffline

@Suite("The outbox's rules")
struct OutboxMachineTests {
  private let temporary = ResourceID.temporary()

  @Test("a change is kept, marked as tried, before it is sent, in one step")
  func order() throws {
    var machine = OutboxMachine(user: "ann", seed: 1)
    let draft = MutationDraft(.update, "contacts", "7", body: fields(("name", JSONValue("A"))))
    let actions = try machine.handle(.enqueue(draft, key: "k"), now: 0)
    guard case .keep(let writes) = actions.first, case .put(let entry) = writes.first else {
      Issue.record("\(actions)")
      return
    }
    #expect(writes.count == 1)
    #expect(entry.isTried)
    #expect(entry.key == "k")
    #expect(
      actions.dropFirst().contains {
        if case .send(let request) = $0 { request.key == "k" } else { false }
      })
  }

  @Test("one is under way at a time, and the next goes when it is answered")
  func inOrder() throws {
    var bench = Bench()
    try bench.add(.update, "7", #"{"a":1}"#)
    try bench.add(.update, "8", #"{"b":1}"#)
    #expect(bench.lines == [#"update 7 {"a":1}"#])
    try bench.answer(.done())
    #expect(bench.lines == [#"update 7 {"a":1}"#, #"update 8 {"b":1}"#])
    try bench.answer(.done())
    #expect(bench.machine.count == 0)
    #expect(bench.disk.entries.isEmpty)
  }

  @Test("lanes go side by side, but two changes of one thing never do")
  func lanes() throws {
    var bench = Bench()
    try bench.add(.update, "7", #"{"a":1}"#)
    try bench.add(.action("photos"), "8", lane: "photos")
    try bench.add(.action("photos"), "7", lane: "photos")
    #expect(bench.lines == [#"update 7 {"a":1}"#, "photos 8 {}"])
    try bench.answer(.done(), to: bench.sent[1].key)
    #expect(bench.sent.count == 2)
    try bench.answer(.done(), to: bench.sent[0].key)
    #expect(bench.lines.last == "photos 7 {}")
  }

  @Test("a key that the app would have to remember is on the disk, the same after a restart")
  func keyAfterRestart() throws {
    var bench = Bench()
    let key = try bench.add(.create, temporary, #"{"name":"A"}"#)
    let first = bench.sent
    try bench.restart()
    #expect(bench.sent == first)
    #expect(bench.sent.map(\.key) == [key])
  }

  @Test("a tried change is not merged with, even after a restart")
  func triedStays() throws {
    var bench = Bench()
    try bench.add(.update, "7", #"{"a":1}"#)
    try bench.restart()
    try bench.add(.update, "7", #"{"a":2}"#)
    try bench.add(.update, "7", #"{"b":3}"#)
    try bench.answer(.done())
    #expect(bench.lines == [#"update 7 {"a":1}"#, #"update 7 {"a":2,"b":3}"#])
  }

  @Test("a merged update takes the later place")
  func laterPlace() throws {
    var bench = Bench()
    try bench.goOffline()
    try bench.add(.update, "7", #"{"a":1,"b":1}"#)
    try bench.add(.update, "8", "{}")
    try bench.add(.update, "7", #"{"a":2}"#)
    #expect(bench.machine.waiting.suffix(2).map(\.draft.id) == ["8", "7"])
    #expect(bench.machine.waiting.last.map { text($0.draft.body) } == #"{"a":2,"b":1}"#)
  }

  @Test("a delete takes updates with it, and a thing that was never sent leaves no trace")
  func deletes() throws {
    var bench = Bench()
    try bench.goOffline()
    let before = bench.machine.count
    try bench.add(.create, temporary, #"{"name":"A"}"#)
    try bench.add(.action("comments"), temporary, #"{"text":"x"}"#)
    try bench.add(.update, temporary, #"{"name":"B"}"#)
    try bench.add(.delete, temporary)
    #expect(bench.machine.count == before)
    #expect(bench.disk.entries.count == before)
    try bench.add(.update, "7", #"{"a":1}"#)
    try bench.add(.delete, "7")
    #expect(bench.machine.waiting.suffix(1).map(\.draft.kind) == [.delete])
    #expect(bench.machine.count == before + 1)
    #expect(throws: OutboxError.deleted) { try bench.add(.update, "7", "{}") }
  }

  @Test("a thing that others refer to is created, and then deleted")
  func deletedReference() throws {
    var bench = Bench()
    try bench.goOffline()
    try bench.add(.create, temporary, "{}")
    try bench.add(.update, "7", text(fields(("friend", temporary.json))))
    try bench.add(.delete, temporary)
    #expect(bench.machine.waiting.suffix(3).map(\.draft.kind) == [.create, .update, .delete])
  }

  @Test("an update that names a thing created later does not become part of an earlier create")
  func mergeWithReference() throws {
    var bench = Bench()
    let other = ResourceID.temporary()
    try bench.goOffline()
    try bench.add(.create, temporary, "{}")
    try bench.add(.create, other, "{}")
    try bench.add(.update, temporary, text(fields(("friend", other.json))))
    #expect(bench.machine.waiting.suffix(3).map(\.draft.kind) == [.create, .create, .update])
    // Nor does the next, which would then be overtaken by the one before.
    try bench.add(.update, temporary, #"{"a":1}"#)
    #expect(bench.machine.waiting.suffix(3).map(\.draft.kind) == [.create, .create, .update])
    try bench.restart()
    for _ in 0..<5 {
      let number = bench.sent.count
      try bench.answer(.done(id: ResourceID("s\(number)")))
    }
    #expect(bench.lines.last == #"update s3 {"friend":"s4","a":1}"#)
    #expect(bench.machine.count == 0)
  }

  @Test("temporary ids are replaced where they are references, and nowhere else")
  func references() throws {
    var bench = Bench()
    let name = try #require(temporary.temporaryName)
    try bench.add(.create, temporary, "{}")
    try bench.answer(.done(id: 42))
    try bench.add(
      .update, "7",
      #"{"list":[{"id":{"$ref":"\#(name)"}}],"text":"\#(name)","\#(name)":1}"#)
    #expect(bench.lines.last == #"update 7 {"list":[{"id":42}],"text":"\#(name)","\#(name)":1}"#)
    // A later change by the temporary id goes to the server's.
    try bench.answer(.done())
    try bench.add(.update, temporary, #"{"a":1}"#)
    #expect(bench.lines.last == #"update 42 {"a":1}"#)
    let unknown = ResourceID.temporary()
    #expect(throws: OutboxError.unknownReference(unknown)) {
      try bench.add(.update, unknown, "{}")
    }
  }

  @Test(
    "a change that was not sent is merged with the next, and a change that may have arrived is not")
  func notSent() throws {
    for (answers, expected) in [
      ([.notSent, .notSent], [#"update 7 {"a":2}"#]), ([.noToken], [#"update 7 {"a":2}"#]),
      ([.unreachable], [#"update 7 {"a":1}"#, #"update 7 {"a":2}"#]),
      ([.unreachable, .notSent], [#"update 7 {"a":1}"#, #"update 7 {"a":2}"#]),
      ([.notSent, .unreachable], [#"update 7 {"a":1}"#, #"update 7 {"a":2}"#]),
    ] as [([MutationAnswer], [String])] {
      var bench = Bench()
      try bench.add(.update, "7", #"{"a":1}"#)
      for (index, answer) in answers.enumerated() {
        if index > 0 { try bench.handle(.reachable) }
        try bench.answer(answer)
      }
      try bench.add(.update, "7", #"{"a":2}"#)
      try bench.restart()
      while bench.machine.count > 0 { try bench.answer(.done()) }
      #expect(bench.lines == expected, "\(answers)")
    }
  }

  @Test("a fetch ends the pause of an unanswered create, unless the server requested the pause")
  func fetched() throws {
    for (answers, kind, isRetried) in [
      ([.unreachable], .create, true), ([.busy(retryAfter: nil)], .create, false),
      ([.busy(retryAfter: nil), .unreachable], .create, true), ([.unreachable], .update, false),
    ] as [([MutationAnswer], MutationKind, Bool)] {
      var bench = Bench()
      try bench.add(kind, kind == .create ? .temporary() : 7, #"{"a":1}"#)
      for (index, answer) in answers.enumerated() {
        if index > 0 { try bench.handle(.reachable) }
        try bench.answer(answer)
      }
      let count = bench.sent.count
      try bench.handle(.fetched(resource: "groups"))
      #expect(bench.sent.count == count, "another collection")
      try bench.handle(.fetched(resource: "contacts"))
      #expect(bench.sent.count == (isRetried ? count + 1 : count), "\(answers) \(kind)")
    }
  }

  @Test("a conflict stores what the server has; a retry is sent on that version, with what follows")
  func adoption() throws {
    var bench = Bench()
    let key = try bench.add(.update, "7", #"{"a":1}"#, base: "v1")
    try bench.add(.update, "7", #"{"b":1}"#, base: "v1")
    try bench.answer(.conflict(theirs: Array(#"{"a":9}"#.utf8), version: "v2"))
    guard case .adopted(_, let theirs)? = bench.disk.applied.first else {
      Issue.record("nothing is adopted")
      return
    }
    #expect(text(theirs.utf8) == #"{"a":9,"id":"7"}"#)
    try bench.decide(key, .retry)
    #expect(bench.sent.last?.base == "v2")
    try bench.answer(.done(version: "v3"))
    #expect(bench.sent.last?.base == "v3")
    // Without a version there is no other base.
    try bench.answer(.conflict())
    try bench.decide(bench.sent[2].key, .retry)
    #expect(bench.sent.last?.base == "v3")
  }

  @Test("a conflict stays until it is decided, with what comes after it; the others continue")
  func conflict() throws {
    var bench = Bench()
    let key = try bench.add(.update, "7", #"{"a":1}"#, base: "v1")
    try bench.answer(.conflict(theirs: Array(#"{"a":9}"#.utf8), version: "v2"))
    try bench.add(.update, "7", #"{"b":1}"#, base: "v1")
    try bench.add(.update, "8", #"{"c":1}"#)
    #expect(bench.lines.last == #"update 8 {"c":1}"#)
    try bench.answer(.done())
    #expect(bench.sent.count == 2)
    try bench.restart()
    #expect(bench.sent.isEmpty)
    #expect(bench.machine.undecided.map(\.key) == [key])
    #expect(
      bench.machine.undecided.map(\.state)
        == [.conflict(theirs: Array(#"{"a":9}"#.utf8), version: "v2")])
    try bench.decide(key, .send(body: Array(#"{"a":1}"#.utf8), base: "v2"))
    #expect(bench.sent.last?.base == "v2")
    #expect(bench.sent.last?.key != key)
    try bench.answer(.done(version: "v3"))
    // The own change before has made this version.
    #expect(bench.lines.last == #"update 7 {"b":1}"#)
    #expect(bench.sent.last?.base == "v3")
  }

  @Test(
    "a refused create holds what was done to the thing and what names it; discarded, it ends it")
  func refusedCreate() throws {
    var bench = Bench()
    let key = try bench.add(.create, temporary, "{}")
    try bench.add(.action("comments"), temporary)
    let reference = try bench.add(.update, "7", text(fields(("friend", temporary.json))))
    try bench.answer(.refused(status: 422, reason: "no name"))
    #expect(bench.sent.count == 1)
    #expect(bench.machine.undecided.map(\.key) == [key])
    try bench.decide(key, .discard)
    #expect(bench.machine.undecided.map(\.key) == [reference])
    #expect(bench.machine.undecided.map(\.state) == [.refused(.missingReference)])
    #expect(bench.machine.count == 1)
    #expect(throws: OutboxError.unknownReference(temporary)) {
      try bench.decide(reference, .retry)
    }
    try bench.decide(reference, .send(body: Array("{}".utf8), base: nil))
    #expect(bench.lines.last == "update 7 {}")
    #expect(throws: OutboxError.notUndecided) { try bench.decide(key, .retry) }
  }

  @Test("what waited behind a held update that is merged away continues")
  func mergedHeld() throws {
    var bench = Bench()
    let key = try bench.add(.create, temporary, "{}")
    try bench.answer(.refused(status: 422))
    try bench.add(.update, "7", text(fields(("friend", temporary.json))))
    try bench.add(.action("comments"), "7")
    #expect(bench.sent.count == 1)
    try bench.add(.update, "7", #"{"a":1}"#)
    #expect(bench.lines.last == "comments 7 {}")
    try bench.answer(.done())
    try bench.decide(key, .retry)
    try bench.answer(.done(id: "s1"))
    #expect(bench.lines.last == #"update 7 {"friend":"s1","a":1}"#)
  }

  @Test("a create is held by the things that it names after an update, and by no others")
  func mergedReference() throws {
    var bench = Bench()
    let (refused, made) = (ResourceID.temporary(), ResourceID.temporary())
    let key = try bench.add(.create, refused, "{}")
    try bench.add(.update, "8", "{}")
    try bench.answer(.refused(status: 422), to: key)
    try bench.add(.create, made, "{}")
    try bench.add(.action("comments"), made)
    try bench.add(.update, made, text(fields(("friend", refused.json))))
    try bench.answer(.done())
    #expect(bench.lines.last == "update 8 {}")
    try bench.add(.update, made, #"{"friend":null}"#)
    #expect(bench.lines.last == #"create - {"friend":null}"#)
    try bench.answer(.done(id: "s1"))
    #expect(bench.lines.last == "comments s1 {}")
  }

  @Test("a create whose answer has no id leaves its dependants to be decided on")
  func noID() throws {
    var bench = Bench()
    try bench.add(.create, temporary, "{}")
    try bench.add(.action("comments"), temporary)
    try bench.answer(.done())
    #expect(bench.machine.undecided.map(\.state) == [.refused(.unknownID)])
  }

  @Test("401 asks for a token, and the change goes again; without a token it waits for a sign-in")
  func tokens() throws {
    var bench = Bench()
    let key = try bench.add(.update, "7", "{}")
    try bench.answer(.unauthorised)
    #expect(bench.tokensAsked == 1)
    #expect(bench.sent.count == 1)
    try bench.handle(.token(isThere: true))
    #expect(bench.sent.map(\.key) == [key, key])
    // The fresh one does not count either: not at once again.
    try bench.answer(.unauthorised)
    #expect(bench.tokensAsked == 2)
    try bench.handle(.token(isThere: true))
    #expect(bench.sent.count == 2)
    bench.now = try #require(bench.wakeAt)
    try bench.handle(.wake)
    #expect(bench.sent.count == 3)
    try bench.answer(.noToken)
    try bench.handle(.reachable)
    #expect(bench.sent.count == 3)
    try bench.handle(.token(isThere: true))
    #expect(bench.sent.count == 4)
  }

  @Test("another person's changes wait for them, and no request names another user")
  func users() throws {
    var bench = Bench()
    try bench.add(.update, "7", #"{"a":1}"#)
    try bench.add(.update, "8", #"{"b":1}"#)
    try bench.handle(.user("ben"))
    // The answer to what was on its way counts.
    try bench.answer(.done())
    #expect(bench.sent.count == 1)
    #expect(bench.machine.pending("contacts").isEmpty)
    try bench.add(.update, "8", #"{"c":1}"#)
    #expect(bench.sent.map(\.user) == ["ann", "ben"])
    try bench.answer(.done())
    try bench.restart(user: "ben")
    #expect(bench.sent.isEmpty)
    try bench.handle(.user("ann"))
    #expect(bench.lines == [#"update 8 {"b":1}"#])
    #expect(bench.sent.map(\.user) == ["ann"])
  }

  @Test("users and resources are distinguished by the bytes of their names")
  func bytes() throws {
    let composed = "e\u{301}"
    let whole = "\u{e9}"
    var bench = Bench(user: whole)
    try bench.add(.update, ResourceID(whole), #"{"a":1}"#)
    try bench.answer(.unreachable)
    try bench.handle(.user(composed))
    try bench.handle(.reachable)
    #expect(bench.sent.count == 1)
    #expect(bench.machine.pending("contacts").isEmpty)
    try bench.add(.update, ResourceID(whole), #"{"b":1}"#, lane: "one")
    try bench.add(.update, ResourceID(composed), #"{"c":1}"#, lane: "two")
    #expect(
      bench.sent.dropFirst().map { Array($0.user.utf8) }
        == Array(repeating: Array(composed.utf8), count: 2))
    #expect(bench.lines.count == 3)
  }

  @Test("pauses grow, are never longer than the bound, and heed Retry-After")
  func backOff() throws {
    var bench = Bench()
    try bench.add(.update, "7", "{}")
    var pauses: [Int64] = []
    for _ in 0..<12 {
      try bench.answer(.busy())
      let at = try #require(bench.wakeAt)
      pauses.append(at - bench.now)
      bench.now = at
      try bench.handle(.wake)
    }
    #expect(bench.sent.count == 13)
    for (index, pause) in pauses.enumerated() {
      let longest: Int64 = min(60_000, 1_000 << Int64(index))
      #expect((longest / 2...longest).contains(pause))
    }
    #expect(Set(pauses.suffix(5)).count > 1, "no chance in the pauses")
    try bench.answer(.busy(retryAfter: 90_000))
    #expect(bench.wakeAt == bench.now + 90_000)
    try bench.handle(.reachable)
    #expect(bench.sent.count == 14)
    #expect(bench.wakeAt == nil)
  }

  @Test("at the bounds a change is refused by an error that says so, and nothing has changed")
  func bounds() throws {
    var settings = OutboxSettings()
    settings.entriesMax = 3
    settings.bytesMax = 4_000
    var bench = Bench(settings: settings)
    for id in ["1", "2", "3"] { try bench.add(.update, ResourceID(id), "{}") }
    #expect(throws: OutboxError.full(entries: 3, bytes: 3 * 258)) {
      try bench.add(.update, "4", "{}")
    }
    // What is merged takes no further place, but bytes.
    try bench.add(.update, "3", #"{"a":1}"#)
    let long = #"{"b":"\#(String(repeating: "x", count: 4_000))"}"#
    #expect(throws: OutboxError.self) { try bench.add(.update, "3", long) }
    #expect(bench.machine.waiting.last.map { text($0.draft.body) } == #"{"a":1}"#)
    #expect(throws: OutboxError.notJSON) { try bench.add(.update, "3", "[1]") }
    #expect(throws: OutboxError.notJSON) { try bench.add(.action("x"), "3", "{") }
    #expect(bench.disk.entries.values.sorted { $0.number < $1.number } == bench.machine.waiting)
  }

  @Test("server's ids are remembered within a bound, and as long as a change needs them")
  func aliases() throws {
    var settings = OutboxSettings()
    settings.aliasesMax = 2
    var bench = Bench(settings: settings)
    let ids = (0..<4).map { _ in ResourceID.temporary() }
    for (index, id) in ids.enumerated() {
      try bench.add(.create, id, "{}")
      try bench.answer(.done(id: ResourceID("s\(index)")))
    }
    #expect(bench.disk.aliases.map(\.id) == ["s2", "s3"])
    #expect(throws: OutboxError.unknownReference(ids[0])) { try bench.add(.update, ids[0], "{}") }
    try bench.add(.update, ids[3], #"{"a":1}"#)
    #expect(bench.lines.last == #"update s3 {"a":1}"#)
  }

  @Test("after the storage has failed nothing is sent for a while, and answers still count")
  func storageFailure() throws {
    var bench = Bench()
    let key = try bench.add(.update, "7", "{}")
    try bench.add(.update, "8", "{}")
    bench.machine = OutboxMachine(
      bench.disk.kept, user: "ann", seed: 1, underWay: [key], pause: 5_000)
    try bench.handle(.wake)
    #expect(bench.sent.count == 1)
    #expect(bench.wakeAt == 5_000)
    try bench.answer(.done(), to: key)
    bench.now = 5_000
    try bench.handle(.wake)
    #expect(bench.lines.last == "update 8 {}")
  }
}
