import ParleyClient
import ParleyJSON
import Testing

@Suite("Transactions and undo of a room's values") @MainActor
struct RoomChangeTests {
  private func client(_ server: GatewayProgram, _ name: String) -> Parley {
    Parley(server.address, as: name, timeout: .seconds(600))
  }

  @Test func `transactions of two clients lose no update`() async throws {
    let server = try GatewayProgram()
    let all = (client(server, "Ann"), client(server, "Ben"))
    let (ann, ben) = (all.0.room("shop"), all.1.room("shop"))
    let (mine, theirs) = (ann.values(of: Int.self), ben.values(of: Int.self))
    try await mine.set("stock", to: 8)
    func buy(_ values: SharedValues<Int>) async throws {
      for _ in 0..<4 {
        try await values.transaction(["stock", "sold"]) { now in
          [
            .set("stock", to: JSONValue(now["stock", default: 0] - 1)),
            .set("sold", to: JSONValue(now["sold", default: 0] + 1)),
          ]
        }
      }
    }
    async let first: Void = buy(mine)
    async let second: Void = buy(theirs)
    _ = try await (first, second)
    while mine.all != ["stock": 0, "sold": 8] { await Task.yield() }
    while theirs.all != ["stock": 0, "sold": 8] { await Task.yield() }
    // It contains own changes that were not answered, and publishes nothing if there is nothing to do.
    async let unanswered: Void = mine.set("stock", to: 5)
    while mine["stock"] != 5 { await Task.yield() }
    let wasPublished = try await mine.transaction(["stock"]) { now in
      now["stock"] == 5 ? nil : [.delete("sold")]
    }
    #expect(!wasPublished)
    try await unanswered
  }

  @Test func `a transaction fails after its last try, with a typed error`() async throws {
    let server = try GatewayProgram()
    let ann = client(server, "Ann")
    let values = ann.room("shop").values(of: Int.self)
    try await values.set("stock", to: 1)
    var calls = 0
    await #expect(throws: ValueError.tooManyConflicts(tries: 2)) {
      try await values.transaction(["stock"], tries: 2) { now in
        #expect(now["stock"] == 1 + 10 * calls)
        calls += 1
        // Stored before the transaction's own change is sent.
        server.change("shop", #"[{"add":"stock","by":10}]"#)
        return [.add("stock", 1)]
      }
    }
    #expect(calls == 2)
  }

  @Test func `undo and redo restore own changes, and never overwrite another's`() async throws {
    let server = try GatewayProgram()
    let all = (client(server, "Ann"), client(server, "Ben"))
    let (ann, ben) = (all.0.room("board"), all.1.room("board"))
    let mine = ann.values(of: [String: String].self)
    let theirs = ben.values(of: [String: String].self)
    try await theirs.set("card", to: ["column": "todo"])
    while mine["card"] == nil { await Task.yield() }
    #expect(!mine.canUndo)
    try await mine.merge("card", ["column": "doing"])
    try await mine.merge("card", ["column": "done", "by": "ann"])
    try await theirs.merge("card", ["text": "Soup"])
    #expect(mine.canUndo)
    #expect(try await mine.undo())
    #expect(mine["card"] == ["column": "doing", "text": "Soup"])
    #expect(try await mine.redo())
    #expect(mine["card"] == ["column": "done", "by": "ann", "text": "Soup"])
    // Undos that are asked for at once happen one after the other.
    async let first = mine.undo()
    async let second = mine.undo()
    _ = try await (first, second)
    #expect(mine["card"] == ["column": "todo", "text": "Soup"])
    #expect(try await !mine.undo() && !mine.canUndo && mine.canRedo)
    try await mine.merge("card", ["column": "done"])
    #expect(!mine.canRedo)
    try await theirs.merge("card", ["column": "done"])
    await #expect(throws: ValueError.changedSince(["card"])) { try await mine.undo() }
    #expect(mine["card"]?["column"] == "done")
    #expect(!mine.canUndo)
  }

  @Test func `without a connection both wait for the timeout, and change nothing`() async throws {
    let address = try GatewayProgram().address
    let ann = Parley(address, as: "Ann", timeout: .milliseconds(1))
    let values = ann.room("shop").values(of: Int.self)
    for isUndo in [true, false] {
      do {
        if isUndo {
          // There is nothing to undo yet.
          #expect(try await !values.undo())
        } else {
          try await values.transaction(["stock"]) { _ in [.add("stock", 1)] }
          Issue.record("a transaction needs a connection")
        }
      } catch ValueError.failed(.noAnswer) {}
    }
    #expect(!values.canUndo)
  }

  @Test func `changes without a connection outlive the client, and are sent once and in order`()
    async throws
  {
    let server = try GatewayProgram()
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    let storage = MemoryStorage()
    try await write(offlineAt: proxy, in: storage)
    #expect(await storage.keys(beginningWith: "values/") == ["values/list"])
    proxy.mend()
    let ann = Parley(proxy.address, as: "Ann", storage: storage, timeout: .seconds(600))
    let room = ann.room("list")
    var refused: [String] = []
    room.onRefusedChange = { names, error in refused.append("\(names) \(error)") }
    let values = room.values(of: Int.self)
    while await !storage.keys(beginningWith: "values/").isEmpty { await Task.yield() }
    while values.all != ["count": 3, "last": 2] { await Task.yield() }
    #expect(refused.count == 1 && refused[0].hasPrefix(#"["lost"]"#))
    // The first two changes were published, and each later one once.
    while room.position?.offset != 4 { await Task.yield() }
    try await values.add("count", 1)
    while room.position?.offset != 5 { await Task.yield() }
    #expect(values.all == ["count": 4, "last": 2])
    try await values.undo()
    #expect(!values.canUndo)
  }

  /// Writes with a connection, and then without one; the client ends when this returns.
  private func write(offlineAt proxy: CuttingProxy, in storage: MemoryStorage) async throws {
    let ann = Parley(proxy.address, as: "Ann", storage: storage, timeout: .milliseconds(100))
    let room = ann.room("list")
    let values = room.values(of: Int.self)
    while !values.isReady { await Task.yield() }
    for _ in 0..<2 { try? await values.add("count", 1) }
    while room.position?.offset != 2 { await Task.yield() }
    proxy.cut()
    while room.state == .live { await Task.yield() }
    try? await values.change([.add("count", 1), .add("last", 1)])
    try? await values.change([.set("lost", to: JSONValue(1))], ifOffsets: ["lost": 7])
    await #expect(throws: ValueError.self) { try await values.set("last", to: 2) }
    #expect(values.all == ["count": 3, "last": 2, "lost": 1])
  }
}
