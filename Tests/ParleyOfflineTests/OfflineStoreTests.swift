import CParleySQLite
import CParleySQLiteFaults
import Foundation
import ParleyJSON
import ParleyClient
import Synchronization
import Testing

import ParleyOffline

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("parley-offline-\(UUID().uuidString)")
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var file: String { path + "/offline.sqlite" }
}

@Suite("A store on the device")
struct OfflineStoreTests {
  private let folder = TemporaryFolder()

  private func mutation(_ number: Int64, _ state: Mutation.State = .waiting) -> Mutation {
    let body = fields(("name", JSONValue("é\0\"")))
    let draft = MutationDraft(
      number % 2 == 0 ? .action("say") : .create, "c", .temporary(), body: body, base: "v",
      lane: "l")
    return Mutation(
      number: number, key: "k\(number)", user: "ann", draft: draft, isTried: number > 2,
      state: state)
  }

  /// The store, once the one before is gone: a step's own thread may release it last.
  private func reopened() async throws -> OfflineStore {
    while true {
      do throws(OfflineStoreError) {
        return try OfflineStore(folder: folder.path)
      } catch {
        guard error == .inUse else { throw error }
        await Task.yield()
      }
    }
  }

  @Test("the next process finds the client's values by their keys")
  func client() async throws {
    do {
      let store = try OfflineStore(folder: folder.path)
      try await store.write([1, 2], for: "note/a")
      try await store.write([], for: "note/ü")
      try await store.write([3], for: "client")
      try await store.write([4], for: "client")
      try await store.write([5], for: "gone")
      try await store.remove("gone")
      try await store.remove("never")
    }
    let store = try await reopened()
    #expect(try await store.read("note/a") == [1, 2])
    #expect(try await store.read("note/ü") == [])
    #expect(try await store.read("client") == [4])
    #expect(try await store.read("gone") == nil)
    #expect(try await Set(store.keys(beginningWith: "note/")) == ["note/a", "note/ü"])
  }

  @Test("the next process finds waiting changes of every state")
  func mutations() throws {
    let entries = [
      mutation(1), mutation(2, .conflict(theirs: [123, 125], version: "w")),
      mutation(3, .conflict(theirs: nil, version: nil)),
      mutation(4, .refused(.status(422, reason: "no"))), mutation(5, .refused(.unknownID)),
      mutation(6, .refused(.missingReference)),
    ]
    do {
      let store = try OfflineStore(folder: folder.path)
      try store.write(entries.map { .put($0) } + [.put(mutation(9)), .remove(number: 9)])
      try store.write([.alias(name: "t:b", id: 7), .alias(name: "t:a", id: "x")])
      try store.write([.alias(name: "t:c", id: "y"), .dropAlias(name: "t:b")])
    }
    let kept = try OfflineStore(folder: folder.path).kept()
    #expect(kept.entries == entries)
    #expect(kept.aliases.map(\.name) == ["t:a", "t:c"])
    #expect(kept.aliases.map(\.id) == ["x", "y"])
  }

  @Test("fetched items are stored for their user, and deleted when no list names them")
  func items() throws {
    let store = try OfflineStore(folder: folder.path)
    let ann = Collection(user: "ann", resource: "c")
    func item(_ id: Int64) -> (id: ResourceID, json: JSONValue) {
      (ResourceID(id), JSONValue(JSONFields([.init("id", ResourceID(id).json)])))
    }
    try store.keep([item(1), item(2)], as: "", of: ann)
    try store.keep([item(2), item(3)], as: "some", of: ann)
    #expect(try store.kept("", of: ann)?.map(\.id) == [1, 2])
    #expect(try store.kept("other", of: ann) == nil)
    #expect(try store.kept("", of: Collection(user: "ben", resource: "c")) == nil)
    try store.keep([item(1)], as: "", of: ann)
    #expect(try store.kept(2, of: ann) != nil)
    try store.keep([], as: "some", of: ann)
    #expect(try store.kept(2, of: ann) == nil)
    #expect(try store.kept(3, of: ann) == nil)
    try store.keep(nil, 1, of: ann)
    #expect(try store.kept("", of: ann)?.isEmpty == true)
  }

  @Test("a second store on the folder is refused until the first is released")
  func twoStores() throws {
    var first: OfflineStore? = try OfflineStore(folder: folder.path)
    #expect(throws: OfflineStoreError.inUse) { try OfflineStore(folder: folder.path) }
    try first?.write([.put(mutation(1))])
    #expect(throws: OfflineStoreError.inUse) { try OfflineStore(folder: folder.path) }
    first = nil
    #expect(try OfflineStore(folder: folder.path).kept().entries.count == 1)
  }

  @Test("a store of another process is refused")
  func otherProcess() throws {
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true)
    let other = Process()
    other.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    other.arguments = [
      "-c",
      "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
        + "c.execute('BEGIN EXCLUSIVE'); print('locked', flush=True); sys.stdin.read()",
      folder.file,
    ]
    let (input, output) = (Pipe(), Pipe())
    other.standardInput = input
    other.standardOutput = output
    try other.run()
    #expect(output.fileHandleForReading.availableData.starts(with: Data("locked".utf8)))
    #expect(throws: OfflineStoreError.inUse) { try OfflineStore(folder: folder.path) }
    try input.fileHandleForWriting.close()
    other.waitUntilExit()
    _ = try OfflineStore(folder: folder.path)
  }

  @Test("a store of a newer version, and another program's file, are refused and stay as they are")
  func newer() throws {
    do {
      let store = try OfflineStore(folder: folder.path)
      try store.write([.put(mutation(1))])
      try store.perform { (file) throws(OfflineStoreError) in
        try file.execute("PRAGMA user_version = 7")
      }
    }
    #expect(throws: OfflineStoreError.newerVersion(found: 7, known: 1)) {
      try OfflineStore(folder: folder.path)
    }
    do {
      let file = try SQLiteFile(path: folder.file, vfs: nil)
      let count = try file.query("SELECT count(*) FROM mutation").rows { $0.integer(0) }
      #expect(count == [1])
      // Another program reads it, beside the lock.
      #expect(throws: OfflineStoreError.inUse) { try OfflineStore(folder: folder.path) }
      try file.execute("PRAGMA application_id = 5")
    }
    #expect(throws: OfflineStoreError.foreign) { try OfflineStore(folder: folder.path) }
    let other = TemporaryFolder()
    try FileManager.default.createDirectory(atPath: other.path, withIntermediateDirectories: true)
    do {
      let limitedClient = try SQLiteFile(path: other.file, vfs: nil)
      try limitedClient.execute("CREATE TABLE diary (day TEXT)")
    }
    #expect(throws: OfflineStoreError.foreign) { try OfflineStore(folder: other.path) }
  }

  @Test("a damaged file is reported, and not changed")
  func damaged() throws {
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true)
    let garbage = Data(repeating: 7, count: 8_192)
    try garbage.write(to: URL(fileURLWithPath: folder.file))
    #expect {
      try OfflineStore(folder: folder.path)
    } throws: { error in
      if case OfflineStoreError.damaged = error { true } else { false }
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file)) == garbage)
  }

  @Test("a damaged page of the file is reported when it is read")
  func damagedPage() throws {
    do {
      let store = try OfflineStore(folder: folder.path)
      try store.write((1...200).map { .put(mutation($0)) })
    }
    let url = URL(fileURLWithPath: folder.file)
    var data = try Data(contentsOf: url)
    // Behind the first page, which has the tables' names.
    for index in 4_096..<data.count where index % 3 == 0 { data[index] ^= 0x5a }
    try data.write(to: url)
    #expect {
      _ = try OfflineStore(folder: folder.path).kept()
    } throws: { error in
      if case OfflineStoreError.damaged = error { true } else { false }
    }
    #expect(try Data(contentsOf: url).count == data.count)
  }

  @Test("a value that no version has written is reported as damaged")
  func damagedValue() throws {
    let store = try OfflineStore(folder: folder.path)
    try store.write([.put(mutation(1))])
    try store.perform { (file) throws(OfflineStoreError) in
      try file.execute("UPDATE mutation SET state = 'odd'")
    }
    #expect(throws: OfflineStoreError.damaged("a waiting change that cannot be read")) {
      try store.kept()
    }
  }

  @Test(
    "a full or read-only disk is reported, and nothing of the step is stored",
    arguments: [
      (SQLITE_FULL, OfflineStoreError.full), (SQLITE_READONLY, .readOnly),
    ])
  func disk(code: Int32, error: OfflineStoreError) throws {
    let layer = try #require(faults_create("offline-\(code)"))
    defer { faults_destroy(layer) }
    do {
      let store = try OfflineStore(folder: folder.path, vfs: "offline-\(code)")
      try store.write([.put(mutation(1))])
      let all = Int32(FAULTS_WRITE.rawValue)
      faults_fail(layer, all, 0, .max, code, 0)
      #expect(throws: error) { try store.write([.put(mutation(2)), .remove(number: 1)]) }
      #expect(try store.kept().entries.map(\.number) == [1])
      faults_fail(layer, 0, 0, 0, 0, 0)
      try store.write([.put(mutation(3))])
    }
    #expect(try OfflineStore(folder: folder.path).kept().entries.map(\.number) == [1, 3])
  }

  @Test("written changes are synced before the step returns")
  func synced() throws {
    let layer = try #require(faults_create("offline-sync"))
    defer { faults_destroy(layer) }
    let store = try OfflineStore(folder: folder.path, vfs: "offline-sync")
    for number in 1...5 {
      let before = faults_event_count(layer)
      try store.write([.put(mutation(Int64(number)))])
      let events = (before..<faults_event_count(layer)).map { faults_event_at(layer, $0).kind }
      #expect(events.last == FAULTS_SYNC)
      #expect(events.contains(FAULTS_WRITE))
    }
  }

  @Test("a folder that cannot be created is an error")
  func noFolder() {
    #expect(throws: OfflineStoreError.self) { try OfflineStore(folder: "/proc/nothing/here") }
  }

  @Test("a second outbox on the store is refused until the first is released, and changes nothing")
  func twoOutboxes() async throws {
    let store = try OfflineStore(folder: folder.path)
    let server = FakeServer()
    server.set { $0.isThere = false }
    do {
      let first = try Outbox(store, user: "ann", sender: server)
      try await first.add(MutationDraft(.update, "contacts", 7, body: Array("{}".utf8)))
      #expect(throws: OfflineStoreError.inUse) {
        try Outbox(store, user: "ann", sender: server)
      }
      try await first.add(MutationDraft(.update, "contacts", 8, body: Array("{}".utf8)))
      #expect(await first.waiting.map(\.draft.id) == [7, 8])
    }
    // A task that is under way may release it last.
    while true {
      do throws(OfflineStoreError) {
        let next = try Outbox(store, user: "ann", sender: server)
        #expect(await next.waiting.map(\.draft.id) == [7, 8])
        return
      } catch {
        guard error == .inUse else { throw error }
        await Task.yield()
      }
    }
  }

  @Test("only its owner may read the store, even in a folder that all may read")
  func modes() async throws {
    let manager = FileManager.default
    try manager.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o755])
    func others(_ end: String) throws -> Int {
      let attributes = try manager.attributesOfItem(atPath: folder.file + end)
      return try #require((attributes[.posixPermissions] as? NSNumber)?.intValue) & 0o077
    }
    do {
      let store = try OfflineStore(folder: folder.path)
      try store.write([.put(mutation(1))])
      #expect(try others("") == 0)
      #expect(try others("-wal") == 0)
    }
    // A former version has made it for all to read.
    try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.file)
    let store = try await reopened()
    try store.write([.put(mutation(2))])
    #expect(try store.kept().entries.count == 2)
    #expect(try others("") == 0)
    #expect(try others("-wal") == 0)
  }
}
