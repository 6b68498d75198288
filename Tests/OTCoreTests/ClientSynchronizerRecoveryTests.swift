import OTCore
import Testing

@Suite("A client's unconfirmed edits when something goes wrong")
struct ClientSynchronizerRecoveryTests {
  private func operation(_ build: (inout TextOperation) -> Void) -> TextOperation {
    var operation = TextOperation()
    build(&operation)
    return operation
  }

  /// Returns a client of “hello” with “X” inserted at the start in flight, and “!” at the end
  /// waiting.
  private func busy() throws -> ClientSynchronizer {
    var client = ClientSynchronizer(epoch: "one", revision: 7)
    _ = try client.edit(
      operation {
        $0.insert("X")
        $0.retain(5)
      })
    _ = try client.edit(
      operation {
        $0.retain(6)
        $0.insert("!")
      })
    return client
  }

  @Test
  func `a refused change waits before the later edits, and its number is used again`() throws {
    var client = try busy()
    try client.refuse(sequence: 1)
    #expect(client.retry() == nil)
    #expect(client.unconfirmedCount == 2)
    let more = operation {
      $0.delete(1)
      $0.retain(6)
    }
    let held = try client.edit(more)
    #expect(held == nil)
    let released = client.release()
    let change = try #require(released)
    #expect(change.sequence == 1)
    #expect(change.revision == 7)
    #expect(try change.operation.applied(to: "hello").utf8.elementsEqual("hello!".utf8))
  }

  @Test
  func `only the change in flight can be refused`() throws {
    var client = try busy()
    #expect(throws: SynchronizerError.notInFlight(sequence: 2)) {
      try client.refuse(sequence: 2)
    }
    #expect(client.unconfirmedCount == 2)
  }

  @Test
  func `under a new client id edits get new numbers`() throws {
    var client = try busy()
    client.disconnect()
    let remote = operation {
      $0.insert("über ")
      $0.retain(5)
    }
    _ = try client.receive(remote, revision: 8)
    client.renumber(lastSequence: 0)
    let resent = client.reconnect()
    let change = try #require(resent)
    #expect(change.sequence == 1)
    #expect(change.revision == 8)
    #expect(try change.operation.applied(to: "über hello").utf8.elementsEqual("über Xhello!".utf8))
  }

  @Test(arguments: [
    // The server's new text, the number of this client's changes in it, and the expected text.
    ("hello", 0, "Xhello!"),
    ("Xhello", 1, "Xhello!"),
    ("well, hello", 0, "well, Xhello!"),
    ("Xhello there", 1, "Xhello there!"),
    ("", 0, "X!"),
    ("grüße 👋", 0, "grüße 👋X!"),
  ])
  func `edits are rebased on a snapshot`(server: String, last: Int, result: String) throws {
    var client = try busy()
    var local = Document("Xhello!")
    let (apply, send) = try client.rebase(
      from: Document("hello"), to: Document(server), epoch: "two", revision: 40,
      lastSequence: last)
    try local.apply(apply)
    #expect(local.text.utf8.elementsEqual(result.utf8))
    let change = try #require(send)
    #expect(change.sequence == last + 1)
    #expect(change.revision == 40)
    #expect(client.epoch == "two")
    #expect(try change.operation.applied(to: server).utf8.elementsEqual(result.utf8))
  }

  @Test
  func `a snapshot on the same connection keeps the change in flight`() throws {
    var client = try busy()
    let (apply, send) = try client.rebase(
      from: Document("hello"), to: Document("well, hello"), epoch: "one", revision: 40,
      lastSequence: 0, isSameConnection: true)
    #expect(send == nil)
    #expect(client.changeInFlight?.sequence == 1)
    #expect(client.changeInFlight?.revision == 7)
    #expect(client.isOvertaken)
    // A retry would combine the new epoch with a revision of the old one.
    #expect(client.retry() == nil)
    #expect(try apply.applied(to: "Xhello!").utf8.elementsEqual("well, Xhello!".utf8))
    let following = try client.acknowledge(sequence: 1, revision: 41)
    let next = try #require(following)
    #expect(next.sequence == 2)
    #expect(try next.operation.applied(to: "well, Xhello").utf8.elementsEqual("well, Xhello!".utf8))
  }

  @Test(arguments: [false, true])
  func `an overtaken change is sent again as a change of the new epoch`(isKept: Bool) throws {
    var client = try busy()
    _ = try client.rebase(
      from: Document("hello"), to: Document("well, hello"), epoch: "one", revision: 40,
      lastSequence: 0, isSameConnection: true)
    client.disconnect()
    if isKept { client = ClientSynchronizer(client.kept) }
    let resent = client.reconnect()
    let change = try #require(resent)
    #expect(change.sequence == 1)
    #expect(change.revision == 40)
    #expect(
      try change.operation.applied(to: "well, hello").utf8.elementsEqual("well, Xhello!".utf8))
    #expect(try client.acknowledge(sequence: 1, revision: 41) == nil)
    #expect(client.unconfirmedCount == 0)
  }

  @Test
  func `a restored client sends its change in flight again, and continues`() throws {
    let client = try busy()
    var restored = ClientSynchronizer(client.kept)
    #expect(restored.isConnected == false)
    #expect(restored.kept == client.kept)
    #expect(restored.unconfirmedCount == 2)
    let resent = restored.reconnect()
    let change = try #require(resent)
    #expect(change == client.retry())
    let following = try restored.acknowledge(sequence: 1, revision: 8)
    let next = try #require(following)
    #expect(next.sequence == 2)
    #expect(try next.operation.applied(to: "Xhello").utf8.elementsEqual("Xhello!".utf8))
  }

  @Test(arguments: [
    ("", ""), ("same", "same"), ("", "new"), ("old", ""), ("aaa", "aaaa"), ("aé", "aè"),
    ("😀", "😁"), ("a😀b", "a😁b"), ("日本", "日曜"), ("xéx", "xé"), ("abcabc", "abc"),
  ])
  func `the difference of two texts changes one into the other`(old: String, new: String) throws {
    let difference = TextOperation(replacing: Document(old), by: Document(new))
    #expect(try difference.applied(to: old).utf8.elementsEqual(new.utf8))
  }
}
