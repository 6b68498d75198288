import Gateway
import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleyOTWorkloads
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Folders, and rights to them")
struct FolderTests {
  private let rig = GatewayRig()

  private func grant(_ text: String) throws -> Grant { try Grant(word: text) }

  @discardableResult
  private func user(_ name: String, _ grants: String...) throws -> String {
    rig.token(name, try grants.map(grant))
  }

  private func make(_ id: String, in folder: String) throws {
    _ = rig.store.perform([
      .create(
        id: DocumentID(id), epoch: "epoch of \(id)", title: id, time: rig.clock.now,
        folder: try FolderPath(folder))
    ])
  }

  private func move(_ id: String, to folder: String, by token: String) -> Int {
    rig.request("PATCH", "/api/notes/\(id)", token: token, #"{"folder":"\#(folder)"}"#).status
  }

  private func ids(_ path: String, token: String) throws -> [String] {
    let (status, body) = rig.request("GET", path, token: token)
    #expect(status == 200, "\(path)")
    let fields = try #require(JSONFields(Array(body.utf8)))
    return fields["notes"]?.elements?.compactMap { $0.fields?["id"]?.string }.sorted() ?? []
  }

  // MARK: Folders

  @Test("a note can be created in a folder and moved, and is listed with its folder in pages")
  func lifecycle() throws {
    try user("all", "document:*=all")
    let (status, body) = rig.request(
      "POST", "/api/notes", token: "all", #"{"title":"T","folder":" team//Größe/ "}"#)
    #expect(status == 201)
    let id = try #require(JSONFields(Array(body.utf8))?["id"]?.string)
    #expect(body.contains(#""folder":"team/Größe""#))
    #expect(
      rig.request("PUT", "/api/notes/own", token: "all", #"{"title":"O","folder":"team"}"#).status
        == 201)
    #expect(try ids("/api/notes?folder=team", token: "all") == ["own"])
    #expect(move(id, to: "team", by: "all") == 200)
    let both = rig.request(
      "PATCH", "/api/notes/own", token: "all", #"{"folder":"","title":"Renamed"}"#)
    #expect(both.body.contains("Renamed") && !both.body.contains("folder"))
    #expect(try ids("/api/notes?folder=team&limit=1", token: "all") == [id])
    #expect(try ids("/api/notes?folder=", token: "all") == ["own"])
    let folders = rig.request("GET", "/api/folders", token: "all").body
    #expect(folders.contains(#"{"folder":"","notes":1,"#))
    #expect(folders.contains(#"{"folder":"team","notes":1,"#))
  }

  @Test(
    "hostile paths are rejected with the reason",
    arguments: [
      ("..", 400), ("a/../b", 400), ("a\\b", 400), ("team*", 400), ("a/\u{202E}b", 400),
      ("a\u{0}b", 400),
      ("\u{200B}", 400), ("\u{2800}", 400), ("a/ \u{2800}\u{3164}\u{1D159} ", 400), ("a\nb", 400),
      ("1/2/3/4/5/6/7/8/9", 413),
      (String(repeating: "x", count: 241), 413), (String(repeating: "/", count: 10_000), 413),
    ])
  func hostile(path: String, status: Int) throws {
    try user("all", "document:*=all")
    var body: [UInt8] = []
    JSONWriter.object(&body) { object, body in
      object.field("title", "T", &body)
      object.field("folder", path, &body)
    }
    let text = String(decoding: body, as: UTF8.self)
    #expect(rig.request("POST", "/api/notes", token: "all", text).status == status)
    let encoded = PercentEncoding.encoded(path)
    #expect(rig.request("GET", "/api/notes?folder=\(encoded)", token: "all").status == status)
    rig.make("n1")
    #expect(rig.request("PATCH", "/api/notes/n1", token: "all", text).status == status)
  }

  @Test(
    "a parsed path is parsed again to itself",
    arguments: 1...20 as ClosedRange<UInt64>)
  func normalised(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let pieces = [
      "a", "ä", "a\u{308}", " ", "/", "//", ".", "..", "*", "\u{200D}", "🐦", "\u{2066}", "b c",
    ]
    for _ in 0..<200 {
      let text = (0..<Int.random(in: 0...9, using: &random)).map { _ in
        pieces[Int.random(in: pieces.indices, using: &random)]
      }.joined()
      guard let path = try? FolderPath(text) else { continue }
      #expect(try FolderPath(path.text) == path)
      #expect(!path.text.utf8.contains(UInt8(ascii: "*")) && !path.text.hasPrefix("/"))
      #expect(path.isWithin(.none) && path.isWithin(path))
    }
    #expect(try FolderPath("\u{e9}") != FolderPath("e\u{301}"))
    #expect(try FolderPath("\u{2800}\u{2801}").text == "\u{2800}\u{2801}")
    #expect(try !FolderPath("teamster").isWithin(FolderPath("team")))
  }

  // MARK: Rights

  /// Sets of verbs, from none to all that matter for a move.
  private static let levels = ["", "manage", "read", "read,write", "read,write,manage"]

  @Test("a move needs all rights that it can grant, and to manage at the target", arguments: levels)
  func moves(source: String) throws {
    for target in Self.levels {
      for own in Self.levels {
        let rig = GatewayRig()
        let grants = [("folder:a", source), ("folder:b", target), ("document:n", own)].filter {
          !$0.1.isEmpty
        }
        _ = rig.token("ann", try grants.map { try grant("\($0.0)=\($0.1)") })
        _ = rig.store.perform([
          .create(id: "n", epoch: "e", title: "n", time: 1, folder: FolderPath(stored: "a"))
        ])
        let there = Set((source + "," + own).split(separator: ","))
        let here = Set((target + "," + own).split(separator: ","))
        let may = there.isSuperset(of: ["read", "write", "manage"]) && here.contains("manage")
        let status = rig.request(
          "PATCH", "/api/notes/n", token: "ann", #"{"folder":"b"}"#
        ).status
        #expect(status == (may ? 200 : 403), "\(source) → \(target), own \(own)")
      }
    }
  }

  @Test("clients cannot distinguish a missing note from an inaccessible one")
  func unknown() throws {
    try user("team", "folder:team/*=all")
    try make("secret", in: "board")
    for id in ["secret", "nothing"] {
      for (method, path, body) in [
        ("GET", "", ""), ("GET", "/text", ""), ("GET", "/history", ""), ("GET", "/versions", ""),
        ("GET", "/sessions", ""), ("GET", "/diff?from=0&to=0", ""), ("GET", "/files", ""),
        ("DELETE", "", ""), ("PATCH", "", #"{"title":"T"}"#),
        ("PATCH", "", #"{"folder":"team"}"#), ("PUT", "/text", "x"),
        ("POST", "/versions", #"{"name":"v","revision":0}"#),
        ("POST", "/restore", #"{"revision":0}"#),
        ("POST", "/share", #"{"access":"read"}"#), ("DELETE", "/share", ""),
        ("POST", "/changes", #"{"revision":0,"operation":["x"]}"#),
      ] {
        let (status, answer) = rig.request(method, "/api/notes/\(id)\(path)", token: "team", body)
        #expect(status == 403, "\(method) \(path) of \(id)")
        #expect(answer.contains("the token does not grant this"))
      }
      let (connection, _) = try rig.connectNative("team")
      guard case .error(let error) = rig.ask(connection, .join(.init(documentID: id))) else {
        Issue.record("joined \(id)")
        return
      }
      #expect(error.code == .notAllowed)
      #expect(rig.request("POST", "/api/deleted/\(id)/restore", token: "team").status == 403)
    }
    #expect(rig.store.log(of: "secret") == [])
  }

  @Test("a move removes readers who lose their right, and admits readers who gain it")
  func live() throws {
    try user("mover", "document:*=all")
    try user("old", "folder:a=read,write,presence")
    try user("both", "folder:a=read,write", "folder:b=read")
    try user("new", "folder:b=read")
    try make("n", in: "a")
    let (old, _) = try rig.connectNative("old")
    let (both, _) = try rig.connectNative("both")
    let (new, _) = try rig.connectNative("new")
    func join(_ id: UInt64) -> Bool {
      if case .joined = rig.ask(id, .join(.init(documentID: "n"))) { true } else { false }
    }
    #expect(join(old) && join(both) && !join(new))
    _ = rig.pushes(old)
    _ = rig.pushes(both)
    #expect(move("n", to: "b", by: "mover") == 200)
    #expect(
      rig.pushes(old).contains {
        if case .accessChanged(let news) = $0 { news.access == .none } else { false }
      })
    #expect(
      rig.pushes(both).contains {
        if case .accessChanged(let news) = $0 { news.access == .read } else { false }
      })
    #expect(join(new) && !join(old))
    #expect(rig.request("PUT", "/api/notes/n/text", token: "mover", "later").status == 200)
    #expect(rig.pushes(old).isEmpty)
    #expect(!rig.pushes(both).isEmpty)
  }

  @Test(
    "a change being committed is answered when its author loses the right, and later ones are not",
    arguments: [false, true], [false, true])
  func changeUnderWay(isRefused: Bool, isInOneCommit: Bool) throws {
    try user("mover", "document:*=all")
    try user("old", "folder:a=read,write,presence")
    try make("n", in: "a")
    let (old, _) = try rig.connectNative("old")
    let (other, _) = try rig.connectNative("mover")
    for id in [old, other] {
      guard case .joined = rig.ask(id, .join(.init(documentID: "n"))) else {
        Issue.record("not joined")
        return
      }
    }
    _ = rig.pushes(old)
    rig.isStepwise = true
    func change(_ text: String, by id: UInt64) {
      var operation = TextOperation()
      operation.insert(text)
      let change = ClientMessage.Change(
        documentID: "n", epoch: "epoch of n", revision: 0, sequence: 1, operation: operation)
      #expect(rig.ask(id, .change(change)) == nil)
    }
    let moving = rig.begin(
      "PATCH", "/api/notes/n", headers: ["authorization": "Bearer mover"], #"{"folder":"b"}"#)
    _ = rig.endTurn()
    change("mine", by: old)
    if isInOneCommit { change("theirs", by: other) }
    _ = rig.endTurn()
    while rig.answer(moving) == nil {
      try #require(rig.stored.count > 1)
      rig.performStoreRequests(on: 1)
    }
    if !isInOneCommit { change("theirs", by: other) }
    _ = rig.endTurn()
    #expect(rig.pushes(old).isEmpty)
    rig.performStoreRequests { request in
      if isRefused, case .append = request { .unavailable("the disk is full") } else { nil }
    }
    while rig.endTurn() || !rig.stored.isEmpty { rig.performStoreRequests() }
    let told = rig.pushes(old)
    try #require(told.count == 2, "\(told)")
    switch told[0] {
    case .changes(let news): #expect(!isRefused && news.changes.map(\.sequence) == [1])
    case .refused(let news): #expect(isRefused && news.sequence == 1 && news.code == .unavailable)
    default: Issue.record("\(told[0])")
    }
    #expect(told[1] == .accessChanged(.init(documentID: "n", access: .none)))
    // The other author's change has the same outcome.
    #expect(rig.store.log(of: "n")?.count == (isRefused ? 0 : 2))
  }

  @Test("readers with a right to a folder receive the events of its notes' rooms and of the list")
  func rooms() throws {
    try user("mover", "document:*=all")
    try user("reader", "folder:a=read", "folder:b=read,comment")
    try user("other", "folder:c=read")
    try user("single", "document:n=read")
    try user("maker", "folder:a=manage", "room:x=read")
    try make("n", in: "a")
    func subscribes(_ id: UInt64, to room: String) -> Bool {
      if case .subscribed = rig.ask(id, .subscribe(.init(room: room))) { true } else { false }
    }
    let (reader, _) = try rig.connectNative("reader")
    let (other, _) = try rig.connectNative("other")
    #expect(subscribes(reader, to: "notes") && subscribes(other, to: "notes"))
    for user in ["single", "maker"] {
      #expect(
        !subscribes(try rig.connectNative(user).0, to: "notes"), "\(user) has no list of notes")
    }
    #expect(!subscribes(reader, to: "/note/n"), "the folder is not known before the note is joined")
    _ = rig.ask(reader, .join(.init(documentID: "n")))
    #expect(subscribes(reader, to: "/note/n") && !subscribes(other, to: "/note/n"))
    func mayComment() -> Bool {
      rig.request("GET", "/api/notes/n/comments", token: "reader").body
        .contains(#""mayComment":true"#)
    }
    #expect(!mayComment())
    #expect(move("n", to: "b", by: "mover") == 200)
    #expect(mayComment())
    _ = rig.pushes(reader)
    func heard() -> [String] {
      _ = rig.request("PUT", "/api/notes/n/text", token: "mover", "words")
      _ = rig.request(
        "POST", "/api/notes/n/comments", token: "mover",
        #"{"text":"?","anchor":{"revision":1,"from":0,"to":1}}"#)
      return rig.pushes(reader).compactMap {
        if case .resourceUpdate(let update) = $0 { update.resourceID } else { nil as String? }
      }
    }
    #expect(heard() == ["/note/n"])
    _ = rig.ask(reader, .leave(.init(documentID: "n")))
    #expect(heard() == [], "received an event of an unfollowed note")
    _ = rig.ask(reader, .join(.init(documentID: "n")))
    #expect(subscribes(reader, to: "/note/n"))
    #expect(move("n", to: "c", by: "mover") == 200)
    _ = rig.pushes(reader)
    #expect(heard() == [], "a note out of reach is heard of")
  }

  @Test("a request during a move of its note is done before the move, or not at all")
  func underway() throws {
    try user("mover", "document:*=all")
    try user("old", "folder:a=all")
    try make("n", in: "a")
    rig.isStepwise = true
    let headers = ["authorization": "Bearer old"]
    for (method, path, body) in [
      ("GET", "/text", ""), ("PATCH", "", #"{"title":"Late"}"#), ("DELETE", "", ""),
      ("PUT", "/text", "late"),
    ] {
      let moving = rig.begin(
        "PATCH", "/api/notes/n", headers: ["authorization": "Bearer mover"], #"{"folder":"b"}"#)
      let late = rig.begin(method, "/api/notes/n\(path)", headers: headers, body)
      for _ in 0..<6 {
        _ = rig.endTurn()
        rig.performStoreRequests()
      }
      #expect(rig.answer(moving)?.status == 200)
      #expect(rig.answer(late)?.status == 403, "\(method) \(path)")
      _ = rig.store.perform([.folders(.move(id: "n", to: FolderPath(stored: "a"), time: 1))])
    }
    #expect(rig.store.document("n")?.text == "")
  }

  @Test("a repeated removal is answered again, by the rights to a restored note's folder")
  func repeatedRemoval() throws {
    try user("lead", "folder:team/*=all")
    try user("all", "document:*=all")
    try make("n", in: "team")
    func remove(_ key: String) -> Int? {
      let request = rig.begin(
        "DELETE", "/api/notes/n", headers: ["authorization": "Bearer lead", "idempotency-key": key])
      rig.performStoreRequests()
      return rig.answer(request)?.status
    }
    #expect(remove("k") == 204)
    #expect(remove("k") == 204)
    #expect(remove("other") == 403)
    #expect(rig.request("POST", "/api/deleted/n/restore", token: "all").status == 200)
    #expect(remove("k") == 204)
    #expect(move("n", to: "elsewhere", by: "all") == 200)
    #expect(remove("k") == 403)
    #expect(rig.store.document("n") != nil)
  }

  @Test("a user with rights to a whole folder moves it, and its followers are notified")
  func wholeFolders() throws {
    try user("lead", "folder:team/*=all", "folder:archive/*=manage")
    try user("part", "folder:team=all", "folder:archive/*=all")
    try user("reader", "folder:team/*=read")
    for index in 0..<3 { try make("n\(index)", in: index == 0 ? "team" : "team/sub") }
    let (reader, _) = try rig.connectNative("reader")
    _ = rig.ask(reader, .join(.init(documentID: "n1")))
    _ = rig.pushes(reader)
    func move(_ from: String, _ to: String, by token: String) -> (status: Int, body: String) {
      rig.request(
        "POST", "/api/folders/move", token: token, #"{"from":"\#(from)","to":"\#(to)"}"#)
    }
    #expect(move("team", "archive/2026", by: "part").status == 403)
    #expect(move("team", "elsewhere", by: "lead").status == 403)
    #expect(move("team", "team/below", by: "lead").status == 400)
    #expect(move("", "archive", by: "lead").status == 400)
    let moved = move("team", "archive/2026", by: "lead")
    #expect(moved.status == 200)
    #expect(moved.body == #"{"moved":3,"more":false}"#)
    #expect(
      rig.pushes(reader).contains {
        if case .accessChanged(let news) = $0 { news.access == .none } else { false }
      })
    #expect(try ids("/api/notes?folder=archive/2026/sub", token: "part") == ["n1", "n2"])
  }

  @Test("a folder can be moved to its parent, also if many notes move into the old folder")
  func folderAbove() throws {
    try user("all", "folder:a/*=all")
    var body = #"{"from":"a/b","to":"a"}"#
    func move() -> (status: Int, body: String) {
      rig.request("POST", "/api/folders/move", token: "all", body)
    }
    for index in 0..<501 { try make("n\(index)", in: "a/b/b") }
    try make("first", in: "a/b")
    let rest = #"{"from":"a/b/b","to":"a/b"}"#
    #expect(move().body == #"{"moved":1,"more":false,"next":\#(rest)}"#)
    // Sent again, the request moves nothing a second time.
    #expect(move().body == #"{"moved":0,"more":false,"next":\#(rest)}"#)
    body = rest
    #expect(move().body == #"{"moved":500,"more":true}"#)
    #expect(move().body == #"{"moved":1,"more":false}"#)
    #expect(try ids("/api/notes?folder=a", token: "all") == ["first"])
    #expect(try ids("/api/notes?folder=a/b&limit=1000", token: "all").count == 501)
  }

  @Test("other nodes detect a move by a hint or the next check, and remove readers")
  func nodes() throws {
    let store = MemoryStore(isShared: true)
    let (here, there) = (
      GatewayRig(store: store, prefix: "a") { $0.sharesStore = true },
      GatewayRig(store: store, prefix: "b") { $0.sharesStore = true }
    )
    _ = here.token("mover", [try grant("document:*=all")])
    _ = there.token("old", [try grant("folder:a=read")])
    for isHinted in [true, false] {
      let id = isHinted ? "n1" : "n2"
      _ = store.perform([
        .create(id: DocumentID(id), epoch: "e", title: id, time: 1, folder: FolderPath(stored: "a"))
      ])
      let (old, _) = try there.connectNative("old")
      guard case .joined = there.ask(old, .join(.init(documentID: id))) else {
        Issue.record("not joined")
        return
      }
      _ = there.pushes(old)
      _ = here.takeHints()
      let status = here.request(
        "PATCH", "/api/notes/\(id)", token: "mover", #"{"folder":"b"}"#
      ).status
      #expect(status == 200)
      // Changes after the move are not delivered, whichever message arrives first.
      #expect(here.request("PUT", "/api/notes/\(id)/text", token: "mover", "secret").status == 200)
      if isHinted {
        for hint in here.takeHints().reversed() { there.hear(hint.topic, hint.bytes) }
      } else {
        there.pass(milliseconds: 1_000)
      }
      let pushes = there.pushes(old)
      #expect(
        pushes.contains {
          if case .accessChanged(let news) = $0 { news.access == .none } else { false }
        })
      #expect(
        !pushes.contains { if case .changes = $0 { true } else { false } }, "hinted: \(isHinted)")
    }
  }

  @Test("search finds notes that are readable by their current folder")
  func searching() throws {
    try user("team", "folder:team/*=read")
    for (id, folder) in [("n1", "team"), ("n2", "board"), ("n3", "team/x")] {
      try make(id, in: folder)
    }
    rig.index = { [store = rig.store] search in
      switch search {
      case .find(_, let skipped, let limit, let withFolders):
        #expect(withFolders)
        let ids: [DocumentID] = Array(["n1", "n2", "gone", "n3"].dropFirst(skipped).prefix(limit))
        guard case .folders(.of(let folders)) = store.perform([.folders(.of(ids))])[0] else {
          return .busy
        }
        // Between the two steps of the search, one note moves out of the reader's reach.
        _ = store.perform([.folders(.move(id: "n3", to: FolderPath(stored: "board"), time: 1))])
        return .ids(ids, folders: folders)
      case .tagged, .tags: return .busy
      case .places(let query, let ids):
        let notes = ids.compactMap { id -> SearchHit? in
          guard case .note(let note) = store.perform([.note(id: id)])[0] else { return nil }
          return SearchHit(
            note: note, titleMarks: [], place: SearchPassage(of: query, in: ""))
        }
        return .hits(notes)
      }
    }
    #expect(try ids("/api/search?q=x", token: "team") == ["n1"])
  }

  // MARK: A model

  /// A user of the model, whose rights are compared by path component.
  private struct Person {
    var name: String
    var rights: [(words: [String], isBelow: Bool, verbs: Set<String>)]

    var grants: [String] {
      rights.map {
        let path = $0.words.joined(separator: "/")
        let match = $0.isBelow ? (path.isEmpty ? "*" : path + "/*") : path
        return "folder:\(match)=\($0.verbs.sorted().joined(separator: ","))"
      }
    }

    func may(_ verb: String, in folder: String) -> Bool {
      let words = folder.split(separator: "/").map(String.init)
      return rights.contains { right in
        right.verbs.contains(verb)
          && (right.isBelow
            ? words.count >= right.words.count
              && Array(words.prefix(right.words.count)) == right.words
            : words == right.words)
      }
    }
  }

  @Test(
    "after random moves and changes of rights, the rights of all users equal those of an oracle",
    arguments: 1...20 as ClosedRange<UInt64>)
  func model(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let folders = ["", "a", "a/b", "a/b/c", "ab", "b"]
    let verbs = ["read", "write", "manage"]
    func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
    func person(_ name: String) -> Person {
      Person(
        name: name,
        rights: (0..<(1 + below(3))).map { _ in
          let path = folders[below(folders.count)]
          return (
            path.split(separator: "/").map(String.init), path.isEmpty || below(2) == 0,
            Set(verbs.filter { _ in below(3) > 0 } + (below(2) == 0 ? verbs : ["read"]))
          )
        })
    }
    var people = (0..<4).map { person("p\($0)") }
    var notes = ["n0": "", "n1": "a/b", "n2": "ab"]
    var lines: [String: UInt64] = [:]
    for (id, folder) in notes.sorted(by: { $0.key < $1.key }) { try make(id, in: folder) }
    for someone in people {
      _ = rig.token(someone.name, try someone.grants.map(grant))
      lines[someone.name] = try rig.connectNative(someone.name).0
    }
    /// Notes that each person follows.
    var following: [String: Set<String>] = [:]
    for _ in 0..<24 {
      let index = below(people.count)
      let someone = people[index]
      let line = try #require(lines[someone.name])
      let id = "n\(below(notes.count))"
      let folder = try #require(notes[id])
      switch below(4) {
      case 0:
        people[index] = person(someone.name)
        _ = rig.token(someone.name, try people[index].grants.map(grant))
        rig.ask(line, .refresh(.init(token: someone.name)))
      case 1:
        let reply = rig.ask(line, .join(.init(documentID: id)))
        let isJoined = if case .joined = reply { true } else { false }
        #expect(isJoined == someone.may("read", in: folder), "seed \(seed)")
        if isJoined { following[someone.name, default: []].insert(id) }
      default:
        let target = folders[below(folders.count)]
        let may =
          verbs.allSatisfy { someone.may($0, in: folder) } && someone.may("manage", in: target)
        #expect(move(id, to: target, by: someone.name) == (may ? 200 : 403), "seed \(seed)")
        guard may else { break }
        notes[id] = target
        for other in people {
          for verb in verbs where !other.may(verb, in: folder) && other.may(verb, in: target) {
            #expect(someone.may(verb, in: folder), "\(verb) was given away; seed \(seed)")
          }
        }
      }
      for other in people {
        let readable = notes.filter { other.may("read", in: $0.value) }.keys.sorted()
        following[other.name]?.formIntersection(readable)
        #expect(try ids("/api/notes", token: other.name) == readable, "seed \(seed)")
        #expect(try ids("/api/notes?limit=2", token: other.name).allSatisfy(readable.contains))
        for (id, folder) in notes {
          let text = rig.request("GET", "/api/notes/\(id)/text", token: other.name)
          #expect(text.status == (other.may("read", in: folder) ? 200 : 403), "seed \(seed)")
        }
        let line = try #require(lines[other.name])
        _ = rig.pushes(line)
      }
      // A change is delivered to followers only.
      let author = people[below(people.count)]
      let status = rig.request(
        "PUT", "/api/notes/\(id)/text", token: author.name, "\(below(1_000_000))"
      ).status
      #expect(status == (author.may("write", in: notes[id] ?? "") ? 200 : 403), "seed \(seed)")
      for other in people {
        let line = try #require(lines[other.name])
        let hears = rig.pushes(line).contains { if case .changes = $0 { true } else { false } }
        let isMeant = status == 200 && following[other.name]?.contains(id) ?? false
        #expect(hears == isMeant, "seed \(seed)")
      }
    }
  }
}
