import Foundation
import Gateway
import ParleyGatewayPorts
import ParleyGrowthKit
import ParleyJSON
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// The cost of each HTTP request grows at most in proportion to its subject.
@Suite("Growth of requests", .serialized)
struct RequestGrowthTests {
  /// A request of an operation, and the amount that grows.
  struct Growing: Sendable, CustomTestStringConvertible {
    /// The operation's id in `openapi.json`.
    let operation: String
    let law: GrowthLaw

    var testDescription: String { operation }

    /// - Parameters:
    ///   - what: The name of the amount.
    ///   - size: The smaller of both sizes.
    ///   - prepare: Returns a closure that makes the request, which is repeatable, and returns its
    ///     status.
    init(
      _ operation: String, _ what: String, size: Int,
      prepare: @escaping @Sendable (GatewayRig, Int) -> () -> Int
    ) {
      self.operation = operation
      law = GrowthLaw("\(operation), \(what)", size: size) { size in
        prepare(RequestGrowthTests.rig(), size)
      } run: { request in
        let status = request()
        precondition((200...299).contains(status), "\(operation) was answered with \(status)")
      }
    }

    /// A request that is made once on each server, so that earlier requests have no effect.
    static func once(
      _ operation: String, _ what: String, size: Int,
      prepare: @escaping @Sendable (GatewayRig, Int) -> () -> Int
    ) -> Self {
      Self(
        operation,
        GrowthLaw(
          "\(operation), \(what)", size: size,
          prepareEach: { size in prepare(RequestGrowthTests.rig(), size) }
        ) { request in
          let status = request()
          precondition((200...299).contains(status), "\(operation) was answered with \(status)")
        })
    }

    private init(_ operation: String, _ law: GrowthLaw) {
      self.operation = operation
      self.law = law
    }

    /// Sends as many requests as the size. Earlier requests must not make later ones more expensive.
    static func often(
      _ operation: String, size: Int,
      prepare: @escaping @Sendable (GatewayRig) -> (Int) -> Int
    ) -> Self {
      Self(operation, "so many requests", size: size) { rig, size in
        let request = prepare(rig)
        return { (0..<size).map(request).max() ?? 0 }
      }
    }
  }

  /// Operations of `openapi.json` that are not measured, and the reasons.
  private static let exceptions = [
    "readStats": "sums that the server's loop keeps; nothing in it grows",
    "metrics": "sums that the server's loop keeps; nothing in it grows",
    "health": "always the same",
    "ready": "always the same",
    "describe": "always the same",
    "readVersion": "always the same",
    "logIn": "the login thread compares one password, whose length is bounded",
    "refreshLogin": "one token of bounded length",
    "join": "the login thread hashes one password, and reads files of bounded length",
    "changePassword": "the login thread hashes two passwords, and reads a file of bounded length",
    "forgotPassword": "the login thread reads a file of bounded length",
    "resetPassword": "the login thread hashes one password, and reads a file of bounded length",
    "renameSelf": "one token of bounded length, and a file of bounded length on the login thread",
    "waysToSignIn": "always the same",
    "beginSignIn": "a cookie of bounded length; the rest is the provider's thread's",
    "returnFromProvider": "a code of bounded length; the rest is the provider's thread's",
    "endSignIn": "one cookie of bounded length",
    "logOut": "one token of bounded length",
    "listSessions": "a user has a bounded number of sessions",
    "endSession": "a user has a bounded number of sessions",
    "endOtherSessions": "a user has a bounded number of sessions",
    "openLink": "one key of bounded length, which the store finds by its hash",
    "listShares": "a note has a bounded number of links",
    "endShare": "a note has a bounded number of links",
    "openName": "one name of bounded length, which the store finds by its key",
    "readName": "a note has one name; StoreGrowthTests has the store's part",
    "nameNote": "a note has a bounded number of names; StoreGrowthTests has the store's part",
    "withdrawName": "a note has one name; StoreGrowthTests has the store's part",
    "listComments": "a note's comments are bounded; StoreGrowthTests has the store's part",
    "makeComment": "a note's comments are bounded; StoreGrowthTests has the store's part",
    "changeComment": "a note's comments are bounded; StoreGrowthTests has the store's part",
    "deleteComment": "a note's comments are bounded; StoreGrowthTests has the store's part",
  ]

  private static func addNotices(_ count: Int, to rig: GatewayRig) {
    for number in 0..<count {
      let notice = Notice(
        kind: .mention, note: "n1", comment: "c\(number)", author: "Ann", time: 1)
      _ = rig.store.perform([.notices(.add(NoticeDraft(notice, for: ["all"])))])
    }
  }

  private static func changeValues(_ rig: GatewayRig, _ count: Int) {
    for start in stride(from: 0, to: count, by: 100) {
      let items = (start..<min(start + 100, count)).map { #"{"set":"v\#($0)","to":1}"# }
      let body = #"{"values":[\#(items.joined(separator: ","))]}"#
      _ = ask(rig, "PATCH", "/api/rooms/r/values", body)
    }
  }

  private static func rig() -> GatewayRig {
    let rig = GatewayRig { settings in
      for rate in [
        \Limits.messagesPerSecondMax, \.bytesPerSecondMax, \.userConnectionsMax,
        \.userConnectsPerSecondMax, \.userMessagesPerSecondMax, \.userBytesPerSecondMax,
        \.userRequestsPerSecondMax,
      ] {
        settings.limits[keyPath: rate] = 0
      }
      settings.limits.signsPerSecondMax = 1_000_000
      settings.limits.roomsPerConnectionMax = 1_000_000
      settings.limits.presentMax = 1_000_000
      settings.limits.pageMax = 1_000_000
      settings.limits.publicationBytesMax = 4 << 20
      settings.pageBytes = 1 << 30
    }
    _ = rig.token(
      "all", [Grant(.documents, NamePattern("*"), .all), Grant(.rooms, NamePattern("*"), .all)])
    rig.make("n1")
    return rig
  }

  private static func ask(
    _ rig: GatewayRig, _ method: String, _ path: String, _ body: String = ""
  ) -> Int {
    let operators = [
      "/api/connections", "/api/users", "/api/revoke", "/api/tokens", "/api/audit",
    ]
    let isOperators =
      path.hasSuffix("/api/rooms") || operators.contains { path.hasPrefix($0) }
      || path.hasPrefix("/api/rooms?")
    return rig.request(method, path, token: isOperators ? "pk_operator" : "all", body).status
  }

  /// Returns a text of `count` scalars, in lines of 50.
  private static func text(_ count: Int, _ letter: Character = "a") -> String {
    String(repeating: String(repeating: letter, count: 49) + "\n", count: count / 50)
  }

  /// Returns a body with an unread field of `count` bytes.
  private static func padded(_ fields: String, _ count: Int) -> String {
    #"{"x":"\#(String(repeating: "x", count: count))",\#(fields)}"#
  }

  /// Writes a log of `count` changes by two authors in turn.
  private static func write(_ count: Int, in rig: GatewayRig) {
    let entries = (1...count).map { revision in
      var operation = TextOperation()
      operation.insert("x")
      operation.retain(revision - 1)
      return LogEntry(
        revision: revision, client: "c", sequence: revision, digest: 0, operation: operation,
        author: revision % 2 == 0 ? "Ann" : "Ben", time: Timestamp(revision))
    }
    _ = rig.store.perform([.append(id: "n1", epoch: "epoch of n1", entries: entries)])
  }

  /// Creates and deletes notes.
  private static func delete(_ numbers: Range<Int>, in rig: GatewayRig) {
    _ = rig.store.perform(
      numbers.flatMap { number -> [StoreRequest] in
        [
          .create(id: "d\(number)", epoch: "e", title: "N", time: 1),
          .delete(
            id: "d\(number)", keeping: Deletion(time: Timestamp(number), author: "Ann")),
        ]
      })
  }

  /// Makes the room `r` a group with `count` members beside its creator.
  private static func makeGroup(of count: Int, in rig: GatewayRig) {
    _ = ask(rig, "PUT", "/api/rooms/r/group", #"{"name":"G"}"#)
    for number in 0..<count { _ = ask(rig, "PUT", "/api/rooms/r/members?person=p\(number)") }
  }

  /// Opens `count` connections of one user.
  private static func connect(_ count: Int, to rig: GatewayRig) {
    for _ in 0..<count { _ = try? rig.connectNative("all") }
  }

  /// Requests whose body grows by an unread field.
  private static let bodies = [
    ("createNote", "POST", "/api/notes", #""title":"T""#),
    ("renameNote", "PATCH", "/api/notes/n1", #""title":"T""#),
    ("nameVersion", "POST", "/api/notes/n1/versions", #""name":"V","revision":0"#),
    ("shareNote", "POST", "/api/notes/n1/share", #""access":"read""#),
    ("revoke", "POST", "/api/revoke", #""user":"nobody""#),
  ].map { operation, method, path, fields in
    Growing(operation, "bytes of the body", size: 100_000) { rig, size in
      let body = padded(fields, size)
      return { ask(rig, method, path, body) }
    }
  }

  private static let notes = [
    // Fewer than the store reads at a time: the in-memory store sorts all notes for each part.
    Growing("listNotes", "notes", size: 120) { rig, size in
      for number in 0..<size { rig.make("note \(number)") }
      // The whole list, and the list in parts.
      return { max(ask(rig, "GET", "/api/notes"), ask(rig, "GET", "/api/notes?parts=")) }
    },
    Growing("putNote", "bytes of the body", size: 100_000) { rig, size in
      let body = padded(#""title":"T""#, size)
      var count = 0
      return {
        count += 1
        return ask(rig, "PUT", "/api/notes/own\(count)", body)
      }
    },
    Growing("readNote", "notes beside it", size: 500) { rig, size in
      for number in 0..<size { rig.make("note \(number)") }
      return { ask(rig, "GET", "/api/notes/n1") }
    },
    .often("deleteNote", size: 100) { rig in
      { number in
        rig.make("gone \(number)")
        return ask(rig, "DELETE", "/api/notes/gone%20\(number)")
      }
    },
    Growing("listDeleted", "deleted notes", size: 2_000) { rig, size in
      delete(0..<size, in: rig)
      return { ask(rig, "GET", "/api/deleted?limit=1000") }
    },
    Growing("searchNotes", "notes with the words", size: 1_200) { rig, size in
      let ids: [DocumentID] = (0..<size).map { "note \($0)" }
      rig.index = { search in
        switch search {
        case .find(_, let skipped, let limit, _), .tagged(_, let skipped, let limit, _):
          .ids(Array(ids.dropFirst(skipped).prefix(limit)))
        case .places: .hits([])
        case .tags: .tags([], isCut: false)
        }
      }
      _ = rig.token("few", [Grant(.documents, NamePattern("few-*"), .read)])
      return { rig.request("GET", "/api/search?q=x", token: "few").status }
    },
    Growing("listTags", "tags", size: 120) { rig, size in
      let tags = (0..<size).map { TagCount(tag: "t\($0)", notes: 1) }
      rig.index = { search in
        switch search {
        case .find, .tagged: .ids([])
        case .places: .hits([])
        case .tags: .tags(tags, isCut: false)
        }
      }
      return { ask(rig, "GET", "/api/tags") }
    },
    Growing("listFolders", "folders", size: 100) { rig, size in
      for number in 0..<size {
        _ = ask(
          rig, "POST", "/api/notes", #"{"id":"f\#(number)","title":"T","folder":"f\#(number)"}"#)
      }
      return { ask(rig, "GET", "/api/folders") }
    },
    Growing("moveFolder", "notes in it", size: 60) { rig, size in
      for number in 0..<size {
        _ = ask(rig, "POST", "/api/notes", #"{"id":"f\#(number)","title":"T","folder":"a"}"#)
      }
      var (from, to) = ("a", "b")
      return {
        defer { (from, to) = (to, from) }
        return ask(rig, "POST", "/api/folders/move", #"{"from":"\#(from)","to":"\#(to)"}"#)
      }
    },
    .often("undeleteNote", size: 100) { rig in
      { number in
        delete(number..<number + 1, in: rig)
        return ask(rig, "POST", "/api/deleted/d\(number)/restore")
      }
    },
    .often("removeDeletedNote", size: 100) { rig in
      { number in
        delete(number..<number + 1, in: rig)
        return ask(rig, "DELETE", "/api/deleted/d\(number)")
      }
    },
    Growing("listFiles", "files", size: 500) { rig, size in
      for number in 0..<size {
        _ = ask(rig, "POST", "/api/notes/n1/files?name=f", "file \(number)")
      }
      return { ask(rig, "GET", "/api/notes/n1/files") }
    },
    Growing("readFile", "bytes", size: 50_000) { rig, size in
      let hash = file(size, in: rig)
      return { ask(rig, "GET", "/api/notes/n1/files/\(hash)/f") }
    },
    .once("uploadFile", "bytes", size: 50_000) { rig, size in
      { ask(rig, "POST", "/api/notes/n1/files?name=f", String(repeating: "x", count: size)) }
    },
    .often("endShares", size: 100) { rig in { _ in ask(rig, "DELETE", "/api/notes/n1/share") } },
  ]

  /// Stores a file in the note, and returns its hash.
  private static func file(_ size: Int, in rig: GatewayRig) -> String {
    let body = rig.request(
      "POST", "/api/notes/n1/files?name=f", token: "all", String(repeating: "x", count: size)
    ).body
    return String(body.split(separator: "\"").first { $0.utf8.count == 64 } ?? "")
  }

  private static let texts = [
    Growing("readText", "scalars", size: 100_000) { rig, size in
      _ = ask(rig, "PUT", "/api/notes/n1/text", text(size))
      return { ask(rig, "GET", "/api/notes/n1/text") }
    },
    Growing("replaceText", "scalars", size: 20_000) { rig, size in
      let texts = [text(size), text(size, "b")]
      var count = 0
      return {
        count += 1
        return ask(rig, "PUT", "/api/notes/n1/text", texts[count % 2])
      }
    },
    Growing("changeText", "components", size: 10_000) { rig, size in
      _ = ask(rig, "PUT", "/api/notes/n1/text", text(size))
      let parts = repeatElement(#""b",-1"#, count: size / 2).joined(separator: ",")
      var revision = 0
      return {
        revision += 1
        return ask(
          rig, "POST", "/api/notes/n1/changes",
          #"{"revision":\#(revision),"operation":[\#(parts),\#(size / 2)]}"#)
      }
    },
    Growing("restoreText", "scalars", size: 20_000) { rig, size in
      _ = ask(rig, "PUT", "/api/notes/n1/text", text(size))
      var count = 0
      return {
        count += 1
        return ask(rig, "POST", "/api/notes/n1/restore", #"{"revision":\#(count % 2)}"#)
      }
    },
    Growing("readHistory", "changes", size: 1_000) { rig, size in
      write(size, in: rig)
      return { ask(rig, "GET", "/api/notes/n1/history") }
    },
    Growing("readSessions", "changes", size: 1_000) { rig, size in
      write(size, in: rig)
      return { ask(rig, "GET", "/api/notes/n1/sessions") }
    },
    Growing("readDifference", "scalars", size: 20_000) { rig, size in
      _ = ask(rig, "PUT", "/api/notes/n1/text", text(size))
      _ = ask(rig, "PUT", "/api/notes/n1/text", text(size, "b"))
      return { ask(rig, "GET", "/api/notes/n1/diff?from=1&to=2") }
    },
    Growing("listVersions", "versions", size: 50) { rig, size in
      write(size, in: rig)
      for revision in 1...size {
        _ = ask(
          rig, "POST", "/api/notes/n1/versions", #"{"name":"V","revision":\#(revision)}"#)
      }
      return { ask(rig, "GET", "/api/notes/n1/versions") }
    },
    .often("unnameVersion", size: 100) { rig in
      { _ in ask(rig, "DELETE", "/api/notes/n1/versions/0") }
    },
  ]

  private static let rooms = [
    Growing("publish", "bytes of data", size: 50_000) { rig, size in
      let body = #"{"data":"\#(String(repeating: "x", count: size))"}"#
      var count = 0
      return {
        count += 1
        return ask(rig, "POST", "/api/rooms/r\(count % 8)/publish", body)
      }
    },
    // The in-memory store copies a room with each publication, so that it can roll back.
    .once("publishBatch", "publications", size: 50) { rig, size in
      let items = (0..<size).map { #"{"room":"r\#($0 % 16)","data":1}"# }.joined(separator: ",")
      return { ask(rig, "POST", "/api/publish", #"{"publications":[\#(items)]}"#) }
    },
    Growing("readRoom", "publications", size: 100) { rig, size in
      for _ in 0..<size { _ = ask(rig, "POST", "/api/rooms/r/publish", #"{"data":1}"#) }
      return { ask(rig, "GET", "/api/rooms/r/history?limit=\(size)") }
    },
    Growing("readPresence", "people", size: 16) { rig, size in
      for number in 0..<size {
        let token = rig.token("p\(number)", [Grant(.rooms, NamePattern("*"), .all)])
        guard let (id, _) = try? rig.connectNative(token) else { continue }
        rig.ask(id, .subscribe(.init(room: "r", isPresent: true)))
      }
      return { ask(rig, "GET", "/api/rooms/r/presence") }
    },
    Growing("readValues", "values", size: 100) { rig, size in
      changeValues(rig, size)
      return { ask(rig, "GET", "/api/rooms/r/values") }
    },
    Growing("changeValues", "operations", size: 30) { rig, size in
      let items = (0..<size).map { #"{"add":"v\#($0)","by":1}"# }.joined(separator: ",")
      return { ask(rig, "PATCH", "/api/rooms/r/values", #"{"values":[\#(items)]}"#) }
    },
    Growing("readValue", "bytes of a value", size: 1_000) { rig, size in
      let body = #"{"values":[{"set":"v","to":"\#(String(repeating: "x", count: size))"}]}"#
      _ = ask(rig, "PATCH", "/api/rooms/r/values", body)
      return { ask(rig, "GET", "/api/rooms/r/values/v") }
    },
    Growing("sendSignal", "subscribers", size: 16) { rig, size in
      for number in 0..<size {
        let token = rig.token("p\(number)", [Grant(.rooms, NamePattern("*"), .all)])
        guard let (id, _) = try? rig.connectNative(token) else { continue }
        rig.ask(id, .subscribe(.init(room: "r")))
      }
      return { ask(rig, "POST", "/api/rooms/r/signal", #"{"name":"p","data":1}"#) }
    },
    Growing("listGroups", "groups", size: 50) { rig, size in
      for number in 0..<size {
        _ = ask(rig, "PUT", "/api/rooms/g\(number)/group", #"{"name":"G"}"#)
      }
      return { ask(rig, "GET", "/api/groups") }
    },
    Growing("putGroup", "bytes of a body", size: 50_000) { rig, size in
      let body = padded(#""name":"G""#, size)
      return { ask(rig, "PUT", "/api/rooms/r/group", body) }
    },
    Growing("readGroup", "members", size: 50) { rig, size in
      makeGroup(of: size, in: rig)
      return { ask(rig, "GET", "/api/rooms/r/group") }
    },
    .once("deleteGroup", "members", size: 50) { rig, size in
      makeGroup(of: size, in: rig)
      return { ask(rig, "DELETE", "/api/rooms/r/group") }
    },
    Growing("listMembers", "members", size: 50) { rig, size in
      makeGroup(of: size, in: rig)
      return { ask(rig, "GET", "/api/rooms/r/members") }
    },
    Growing("putMember", "bytes of a body", size: 50_000) { rig, size in
      makeGroup(of: 1, in: rig)
      let body = padded(#""nickname":"N""#, size)
      return { ask(rig, "PUT", "/api/rooms/r/members?person=p0", body) }
    },
    .often("removeMember", size: 30) { rig in
      makeGroup(of: 1, in: rig)
      return { _ in ask(rig, "DELETE", "/api/rooms/r/members?person=nobody") }
    },
    Growing("listLikes", "publications with likes", size: 50) { rig, size in
      for number in 1...size {
        _ = ask(rig, "POST", "/api/rooms/r/publish", #"{"data":1}"#)
        _ = ask(rig, "PUT", "/api/rooms/r/likes?offset=\(number)")
      }
      return { ask(rig, "GET", "/api/rooms/r/likes") }
    },
    Growing("like", "bytes of a body", size: 50_000) { rig, size in
      _ = ask(rig, "POST", "/api/rooms/r/publish", #"{"data":1}"#)
      let body = padded(#""reaction":"like""#, size)
      return { ask(rig, "PUT", "/api/rooms/r/likes?offset=1", body) }
    },
    .often("unlike", size: 30) { rig in
      _ = ask(rig, "POST", "/api/rooms/r/publish", #"{"data":1}"#)
      return { _ in ask(rig, "DELETE", "/api/rooms/r/likes?offset=1") }
    },
    Growing("noteRead", "bytes of a body", size: 50_000) { rig, size in
      let body = padded(#""offset":0"#, size)
      return { ask(rig, "PUT", "/api/rooms/r/read", body) }
    },
    Growing("listBadges", "rooms", size: 50) { rig, size in
      for number in 0..<size { _ = ask(rig, "PUT", "/api/rooms/g\(number)/read", #"{"offset":0}"#) }
      return { ask(rig, "GET", "/api/badges") }
    },
    Growing("listRooms", "rooms", size: 100) { rig, size in
      if let (id, _) = try? rig.connectNative("all") {
        for number in 0..<size { rig.ask(id, .subscribe(.init(room: "room \(number)"))) }
      }
      return { ask(rig, "GET", "/api/rooms?limit=\(size)") }
    },
  ]

  private static let operators = [
    Growing("listConnections", "connections", size: 100) { rig, size in
      connect(size, to: rig)
      return { ask(rig, "GET", "/api/connections?limit=\(size)") }
    },
    .often("disconnect", size: 20) { rig in
      { _ in
        guard let (id, _) = try? rig.connectNative("all") else { return 0 }
        return ask(rig, "POST", "/api/connections/\(id)/disconnect")
      }
    },
    Growing("disconnectUser", "connections", size: 20) { rig, size in
      {
        connect(size, to: rig)
        return ask(rig, "POST", "/api/users/all/disconnect")
      }
    },
    Growing("refreshRights", "connections", size: 100) { rig, size in
      connect(size, to: rig)
      return { ask(rig, "POST", "/api/users/all/refresh-rights", #"{"within":60}"#) }
    },
    Growing("readAudit", "records", size: 100) { rig, size in
      let record = AuditRecord(time: 1, actor: "key:ops", action: .revoke, target: "ada")
      for _ in 0..<size { _ = rig.store.perform([.audit(.add(record))]) }
      return { ask(rig, "GET", "/api/audit?limit=\(size)") }
    },
    Growing("listNotices", "notices", size: 100) { rig, size in
      addNotices(size, to: rig)
      return { ask(rig, "GET", "/api/notices?limit=20") }
    },
    Growing("countNotices", "notices", size: 100) { rig, size in
      addNotices(size, to: rig)
      return { ask(rig, "GET", "/api/notices/unread") }
    },
    Growing("readNotices", "notices", size: 100) { rig, size in
      addNotices(size, to: rig)
      return { ask(rig, "POST", "/api/notices/read", #"{"through":9999}"#) }
    },
    Growing("makeToken", "rights", size: 100) { rig, size in
      let rights = (0..<size).map { #""note-\#($0)=read""# }.joined(separator: ",")
      let body = #"{"user":"u","documents":[\#(rights)]}"#
      return { ask(rig, "POST", "/api/tokens", body) }
    },
  ]

  private static let table = bodies + notes + texts + rooms + operators

  @Test("eight times as much costs at most sixteen times as much", arguments: table)
  func growth(request: Growing) {
    let finding = request.law.check()
    #expect(finding.holds, "\(finding)")
  }

  @Test("every operation that is described is measured, or there is a reason")
  func complete() throws {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let bytes = try Data(
      contentsOf: root.appendingPathComponent("Sources/CParleyAPIDescription/openapi.json"))
    let paths = try #require(JSONFields(Array(bytes))?["paths"]?.fields)
    let described = paths.all.flatMap { path in
      path.value.fields?.all.compactMap { $0.value.fields?["operationId"]?.string } ?? []
    }
    #expect(described.count > 30)
    #expect(described.sorted() == (Self.table.map(\.operation) + Self.exceptions.keys).sorted())
  }
}
