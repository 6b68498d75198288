import ParleyClient
import ParleyOffline
import Synchronization
import Testing

@Suite("What a repository fetches again", .timeLimit(.minutes(30)))
struct RepositoryUpdateTests {
  private let folder = TemporaryFolder()
  private let server = FakeServer()
  private let time = ManualTime()
  private let room = Feed<RoomUpdate>(bound: 1_000)
  private let started = Feed<Void>(bound: 1)

  /// A repository of a room and a clock that are the test's.
  private func open() throws -> (Outbox, Repository<Contact>) {
    let outbox = try Outbox(
      OfflineStore(folder: folder.path), user: "ann", sender: server, time: time)
    let updates = Updates(feed: room, owner: room, started: started)
    return (
      outbox,
      Repository(server.source, "contacts", in: outbox, invalidatedBy: updates, time: time)
    )
  }

  private func publish(by sender: String? = nil, at offset: Int) {
    let publication = Publication(
      position: RoomPosition(epoch: "e", offset: offset), time: 0, personID: nil,
      senderID: sender, json: Array("{}".utf8))
    room.put(.publication(publication)) { Array($0) }
  }

  /// Returns once all that was published has been heard.
  private func heard() async {
    while !room.isDrained { await Task.yield() }
  }

  private func have(_ name: String) {
    server.set { $0.contacts = [Contact(id: 1, name: name)] }
  }

  private var fetches: Int { server.state.withLock { $0.fetches } }

  /// Reads until a thing is shown under this name.
  private func wait(
    for name: String, in lists: inout FetchedValues<Contact, [Contact]>.Iterator
  ) async throws {
    while let list = try await lists.next(), list.map(\.name) != [name] {}
  }

  @Test("a burst of updates causes one fetch, 50 ms after the first update")
  func burst() async throws {
    have("old")
    let (_, contacts) = try open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    try await wait(for: "old", in: &lists)
    have("new")
    for offset in 1...50 { publish(at: offset) }
    await heard()
    await time.waits()
    time.pass(49)
    for offset in 51...100 { publish(at: offset) }
    await heard()
    #expect(await contacts.updateCount == 100)
    #expect(fetches == 1)
    time.pass(1)
    try await wait(for: "new", in: &lists)
    #expect(fetches == 2)
    // The next is a burst of its own.
    have("newer")
    publish(at: 101)
    await heard()
    await time.waits()
    time.pass(50)
    try await wait(for: "newer", in: &lists)
    #expect(fetches == 3)
  }

  @Test("updates that this device has caused are ignored")
  func ownUpdates() async throws {
    have("old")
    let (outbox, contacts) = try open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    try await wait(for: "old", in: &lists)
    for offset in 1...10 { publish(by: outbox.senderID, at: offset) }
    await heard()
    #expect(await contacts.updateCount == 0)
    have("new")
    publish(by: "another device", at: 11)
    await heard()
    #expect(await contacts.updateCount == 1)
    await time.waits()
    time.pass(50)
    try await wait(for: "new", in: &lists)
    #expect(fetches == 2)
  }

  @Test("a gap in the publications counts as an update")
  func gap() async throws {
    have("old")
    let (_, contacts) = try open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    try await wait(for: "old", in: &lists)
    have("new")
    let places = [3, 9].map { RoomPosition(epoch: "e", offset: $0) }
    room.put(.gap(after: places[0], through: places[1])) { Array($0) }
    await heard()
    await time.waits()
    time.pass(50)
    try await wait(for: "new", in: &lists)
  }

  @Test("a list fetched before the room is followed is fetched again")
  func lateRoom() async throws {
    have("old")
    let (_, contacts) = try open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    try await wait(for: "old", in: &lists)
    // No update announces this: the room is not followed yet.
    have("new")
    started.put(()) { _ in [()] }
    try await wait(for: "new", in: &lists)
    #expect(fetches == 2)
  }

  @Test("after an update without subscribers cacheFirst asks the server once")
  func unseenUpdate() async throws {
    have("old")
    let (_, contacts) = try open()
    do {
      var lists = contacts.fetchAll().makeAsyncIterator()
      try await wait(for: "old", in: &lists)
    }
    have("new")
    publish(at: 1)
    await heard()
    await time.waits()
    time.pass(50)
    while await contacts.isGathering { await Task.yield() }
    #expect(fetches == 1)
    var lists = contacts.fetchAll(.cacheFirst).makeAsyncIterator()
    try await wait(for: "new", in: &lists)
    let count = fetches
    var again = contacts.fetchAll(.cacheFirst).makeAsyncIterator()
    try await wait(for: "new", in: &again)
    #expect(fetches == count)
  }

  @Test("a failed fetch is retried, and its reason is reported")
  func retry() async throws {
    have("old")
    let (_, contacts) = try open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    try await wait(for: "old", in: &lists)
    var problems = await contacts.fetchProblems.makeAsyncIterator()
    #expect(await problems.next() == .some(nil))
    server.set { $0.isThere = false }
    await contacts.refresh()
    #expect(await problems.next() == .unreachable("offline"))
    for count in 3...5 {
      await time.waits()
      // The longest of all pauses.
      time.pass(60_000)
      while fetches < count { await Task.yield() }
    }
    server.set { $0.isThere = true }
    have("new")
    await time.waits()
    time.pass(60_000)
    try await wait(for: "new", in: &lists)
    #expect(await problems.next() == .some(nil))
  }

  @Test("after the server has accepted a change, a failed fetch is retried at once")
  func backAgain() async throws {
    have("old")
    let (_, contacts) = try open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    try await wait(for: "old", in: &lists)
    var problems = await contacts.fetchProblems.makeAsyncIterator()
    #expect(await problems.next() == .some(nil))
    server.set { $0.isThere = false }
    await contacts.refresh()
    #expect(await problems.next() == .unreachable("offline"))
    server.set { $0.isThere = true }
    have("new")
    for await _ in try await contacts.perform("comments", on: 1, ["text": "x"]) {}
    // The clock does not move.
    try await wait(for: "new", in: &lists)
  }

  @Test("a stored list that the model cannot decode counts as never fetched")
  func newModel() async throws {
    let store = try OfflineStore(folder: folder.path)
    let collection = Collection(user: "ann", resource: "contacts")
    try store.keep(
      [
        (1, ModelForm.json(Old(id: 1, title: "old"))),
        (2, ModelForm.json(Contact(id: 2, name: "x"))),
      ],
      as: "", of: collection)
    have("new")
    let outbox = try Outbox(store, user: "ann", sender: server, time: time)
    let contacts = Repository(server.source, "contacts", in: outbox, time: time)
    var lists = contacts.fetchAll(.cacheFirst).makeAsyncIterator()
    #expect(try await lists.next()?.map(\.name) == ["new"])
  }

  private struct Old: OfflineModel {
    var id: ResourceID
    var title: String
  }
}
