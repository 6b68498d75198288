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
}
