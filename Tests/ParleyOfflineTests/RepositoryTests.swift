import Foundation
import ParleyJSON
import ParleyClient
import Synchronization
import Testing

import ParleyOffline

/// A contact of a CRM's app.
struct Contact: OfflineModel {
  var id = ResourceID.temporary()
  var name: String
  var phone: String?
  var friend: ResourceID?
  var version: String?
}

/// A server in memory: what it has, whether it is there, and what came.
final class FakeServer: MutationSender, Sendable {
  struct State {
    var contacts: [Contact] = []
    var isThere = true
    var fetches = 0
    var requests: [MutationRequest] = []
    var lastID = 0
    var held: [CheckedContinuation<Void, Never>] = []
    var holds = false
    /// The answer while it is not there.
    var away = MutationAnswer.unreachable
  }

  let state = Mutex(State())
  private let fetched = AsyncStream.makeStream(of: Void.self)

  func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

  var source: ClosureSource<Contact> {
    ClosureSource { [self] query, _ in
      let (contacts, isThere, holds) = state.withLock { state in
        state.fetches += 1
        return (state.contacts, state.isThere, state.holds)
      }
      if holds {
        await withCheckedContinuation { continuation in
          state.withLock { $0.held.append(continuation) }
          fetched.continuation.yield()
        }
      }
      guard isThere else { throw FetchError.unreachable("offline") }
      switch query {
      case .all: return contacts
      case .subset(let parameters): return contacts.filter { $0.name == parameters["name"] }
      case .single(let id): return contacts.filter { $0.id == id }
      }
    }
  }

  /// Waits until a fetch is being held.
  func waitForFetch() async {
    for await _ in fetched.stream { return }
  }

  func release() {
    let held = state.withLock { state in
      state.holds = false
      let held = state.held
      state.held = []
      return held
    }
    for one in held { one.resume() }
  }

  func send(_ request: MutationRequest) async -> MutationAnswer {
    state.withLock { state in
      guard state.isThere else { return state.away }
      state.requests.append(request)
      let fields = JSONFields(request.body)
      switch request.kind {
      case .create:
        state.lastID += 1
        let id = ResourceID("s\(state.lastID)")
        let contact = Contact(
          id: id, name: fields?["name"]?.string ?? "", phone: fields?["phone"]?.string, version: "1"
        )
        state.contacts.append(contact)
        return .done(id: id, body: ModelForm.json(contact).utf8, version: "1")
      case .update:
        guard let index = state.contacts.firstIndex(where: { $0.id == request.id }) else {
          return .refused(status: 404)
        }
        if let base = request.base, base != state.contacts[index].version {
          return .conflict(
            theirs: ModelForm.json(state.contacts[index]).utf8,
            version: state.contacts[index].version)
        }
        if let name = fields?["name"]?.string { state.contacts[index].name = name }
        if let phone = fields?["phone"]?.string { state.contacts[index].phone = phone }
        let version = "\((Int(state.contacts[index].version ?? "") ?? 0) + 1)"
        state.contacts[index].version = version
        return .done(body: ModelForm.json(state.contacts[index]).utf8, version: version)
      case .delete:
        state.contacts.removeAll { $0.id == request.id }
        return .done()
      case .action: return .done()
      }
    }
  }
}

@Suite("Repositories", .timeLimit(.minutes(30)))
struct RepositoryTests {
  private let folder = TemporaryFolder()
  private let server = FakeServer()

  private func open() async throws -> (Outbox, Repository<Contact>) {
    while true {
      do throws(OfflineStoreError) {
        let outbox = try Outbox(
          OfflineStore(folder: folder.path), user: "ann", sender: server)
        return (outbox, Repository(server.source, "contacts", in: outbox))
      } catch {
        guard error == .inUse else { throw error }
        await Task.yield()
      }
    }
  }

  private func names(_ list: [Contact]) -> String { list.map(\.name).joined(separator: " ") }

  /// Reads until a list is shown.
  private func wait(
    for names: String, in lists: inout FetchedValues<Contact, [Contact]>.Iterator
  ) async throws -> [Contact] {
    while let list = try await lists.next() {
      if self.names(list) == names { return list }
    }
    return []
  }

  // MARK: The workflow, line by line

  @Test("VIEW, online: the list is shown from what is kept, then from the answer")
  func viewOnline() async throws {
    server.set { $0.contacts = [Contact(id: 1, name: "old")] }
    do {
      let (_, contacts) = try await open()
      var lists = contacts.fetchAll().makeAsyncIterator()
      _ = try await wait(for: "old", in: &lists)
    }
    server.set { $0.contacts = [Contact(id: 1, name: "new")] }
    let (_, contacts) = try await open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    #expect(try await lists.next().map(names) == "old")
    #expect(try await lists.next().map(names) == "new")
  }

  @Test("VIEW, offline: the list remains the same, and is not shown again")
  func viewOffline() async throws {
    server.set { $0.contacts = [Contact(id: 1, name: "old")] }
    do {
      let (_, contacts) = try await open()
      var lists = contacts.fetchAll().makeAsyncIterator()
      _ = try await wait(for: "old", in: &lists)
    }
    server.set { $0.isThere = false }
    let (outbox, contacts) = try await open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    #expect(try await lists.next().map(names) == "old")
    await contacts.refresh()
    server.set {
      $0.isThere = true
      $0.contacts = [Contact(id: 1, name: "new")]
    }
    await outbox.networkChanged()
    // Nothing came between.
    #expect(try await lists.next().map(names) == "new")
  }

  @Test("CREATE, online: shown with a temporary id, sent, and shown with the server's")
  func createOnline() async throws {
    let (_, contacts) = try await open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    #expect(try await lists.next()?.isEmpty == true)
    var steps = try await contacts.save(Contact(name: "Ada")).makeAsyncIterator()
    #expect(await steps.next() == .queued)
    guard case .saved("s1", _) = await steps.next() else {
      Issue.record("not saved")
      return
    }
    let list = try await wait(for: "Ada", in: &lists)
    #expect(list.count == 1)
    #expect(server.state.withLock { $0.requests.map(\.kind) } == [.create])
  }

  @Test("CREATE, offline: shown with a temporary id, queued, and sent when the network is back")
  func createOffline() async throws {
    server.set { $0.isThere = false }
    let (outbox, contacts) = try await open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    try await contacts.save(Contact(name: "Ada"))
    let list = try await wait(for: "Ada", in: &lists)
    #expect(list.first?.id.isTemporary == true)
    #expect(await outbox.count == 1)
    server.set { $0.isThere = true }
    await outbox.networkChanged()
    var shown = list
    while shown.first?.id != "s1" { shown = try await wait(for: "Ada", in: &lists) }
    #expect(shown.map(\.id) == ["s1"])
  }

  @Test("EDIT, online: shown at once, sent with the server's id")
  func editOnline() async throws {
    server.set { $0.contacts = [Contact(id: 7, name: "Ada", version: "1")] }
    let (_, contacts) = try await open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    _ = try await wait(for: "Ada", in: &lists)
    let steps = try await contacts.change(7) { $0.name = "Bea" }
    for await _ in try #require(steps) {}
    _ = try await wait(for: "Bea", in: &lists)
    let request = try #require(server.state.withLock { $0.requests.first })
    #expect(request.id == 7)
    #expect(text(request.body) == #"{"name":"Bea"}"#)
    #expect(request.base == "1")
  }

  @Test("EDIT, offline, exists only locally: the create stays, and carries the last edit")
  func editLocal() async throws {
    server.set { $0.isThere = false }
    let (outbox, contacts) = try await open()
    // Something before it, so that the create is not tried.
    try await contacts.save(Contact(name: "first"))
    let draft = Contact(name: "one")
    try await contacts.save(draft)
    for name in ["two", "three"] { try await contacts.change(draft.id) { $0.name = name } }
    #expect(await outbox.count == 2)
    server.set { $0.isThere = true }
    await outbox.networkChanged()
    for await count in await outbox.counts where count == 0 { break }
    #expect(server.state.withLock { $0.requests.map(\.kind) } == [.create, .create])
    #expect(server.state.withLock { $0.contacts.map(\.name) } == ["first", "three"])
  }

  @Test("EDIT, offline, exists on the server: edits waiting for the same id become one")
  func editRemote() async throws {
    server.set {
      $0.contacts = [Contact(id: 7, name: "Ada", version: "1"), Contact(id: 8, name: "Bea")]
    }
    let (outbox, contacts) = try await open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    _ = try await wait(for: "Ada Bea", in: &lists)
    server.set { $0.isThere = false }
    try await contacts.change(8) { $0.name = "x" }
    for name in ["one", "two", "three"] { try await contacts.change(7) { $0.name = name } }
    _ = try await wait(for: "three x", in: &lists)
    #expect(await outbox.count == 2)
    server.set { $0.isThere = true }
    await outbox.networkChanged()
    for await count in await outbox.counts where count == 0 { break }
    #expect(server.state.withLock { $0.requests.map(\.id) } == [8, 7])
    #expect(server.state.withLock { $0.contacts.map(\.name) } == ["three", "x"])
  }

  @Test("AUTHENTICATION, offline, never before online: everything works without a token, and waits")
  func neverOnline() async throws {
    let token = Mutex<Credentials?>(nil)
    let box = TokenBox(token: token)
    let backEnd = try BackEnd()
    defer { backEnd.close() }
    let service = RESTService(backEnd.address) { _ in box.token.withLock { $0 } }
    let outbox = try Outbox(OfflineStore(folder: folder.path), user: "ann", sender: service)
    let contacts = Repository<Contact>(RESTSource(service, "contacts"), "contacts", in: outbox)
    var lists = contacts.fetchAll().makeAsyncIterator()
    let steps = try await contacts.save(Contact(name: "Ada"))
    _ = try await wait(for: "Ada", in: &lists)
    #expect(backEnd.state.withLock { $0.requests.isEmpty })
    // Another user signs in: nothing of Ann's is sent.
    box.token.withLock { $0 = Credentials(user: "ben", token: "b") }
    await outbox.signedIn()
    #expect(await outbox.count == 1)
    service.signOut()
    box.token.withLock { $0 = Credentials(user: "ann", token: "a") }
    await outbox.signedIn()
    for await _ in steps {}
    #expect(
      backEnd.state.withLock { state in
        state.requests.allSatisfy { $0.headers["authorization"] == "Bearer a" }
      })
    #expect(backEnd.made.count == 1)
  }

  private final class TokenBox: Sendable {
    let token: Mutex<Credentials?>
    init(token: consuming Mutex<Credentials?>) { self.token = token }
  }

  // MARK: Policies and streams

  @Test("cacheOnly never fetches, cacheFirst fetches what is not kept, networkOnly says why not")
  func policies() async throws {
    let (outbox, contacts) = try await open()
    var kept = contacts.fetchAll(.cacheOnly).makeAsyncIterator()
    #expect(try await kept.next()?.isEmpty == true)
    #expect(server.state.withLock { $0.fetches } == 0)
    server.set { $0.contacts = [Contact(id: 1, name: "Ada")] }
    var first = contacts.fetchAll(.cacheFirst).makeAsyncIterator()
    _ = try await wait(for: "Ada", in: &first)
    let fetches = server.state.withLock { $0.fetches }
    var second = contacts.fetchAll(.cacheFirst).makeAsyncIterator()
    #expect(try await second.next().map(names) == "Ada")
    _ = await outbox.count
    #expect(server.state.withLock { $0.fetches } == fetches)
    #expect(try await kept.next().map(names) == "Ada")
    // A failed fetch is retried later, so this comes last.
    server.set { $0.isThere = false }
    var network = contacts.fetchAll(.networkOnly).makeAsyncIterator()
    await #expect(throws: FetchError.unreachable("offline")) { try await network.next() }
  }

  @Test("updates that come while one is fetched are one more fetch")
  func burst() async throws {
    let (_, contacts) = try await open()
    server.set { $0.holds = true }
    var lists = contacts.fetchAll().makeAsyncIterator()
    await server.waitForFetch()
    for _ in 0..<100 { await contacts.fetch(.all) }
    server.set { $0.contacts = [Contact(id: 1, name: "Ada")] }
    server.release()
    _ = try await wait(for: "Ada", in: &lists)
    #expect(server.state.withLock { $0.fetches } == 2)
  }

  @Test("an answer from before a change was made does not hide it")
  func staleAnswer() async throws {
    let (outbox, contacts) = try await open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    #expect(try await lists.next()?.isEmpty == true)
    server.set { $0.holds = true }
    await contacts.refresh()
    await server.waitForFetch()
    let steps = try await contacts.save(Contact(name: "Ada"))
    for await _ in steps {}
    _ = try await wait(for: "Ada", in: &lists)
    server.release()
    // The next value comes from this change, not from the old answer.
    try await contacts.save(Contact(name: "Bea"))
    while let list = try await lists.next() {
      #expect(list.first?.name == "Ada")
      if names(list) == "Ada Bea" { break }
    }
    _ = await outbox.count
  }

  @Test("one thing and a subset follow what is saved on the device")
  func singleAndSubset() async throws {
    server.set { $0.contacts = [Contact(id: 1, name: "Ada")] }
    let (_, contacts) = try await open()
    var single = contacts.fetchSingle(1).makeAsyncIterator()
    #expect(try await single.next()??.name == "Ada")
    var adas = contacts.fetchSubset(["name": "Ada"], where: { $0.name == "Ada" })
      .makeAsyncIterator()
    #expect(try await adas.next()?.count == 1)
    server.set { $0.isThere = false }
    try await contacts.save(Contact(name: "Ada"))
    try await contacts.save(Contact(name: "Bea"))
    #expect(try await adas.next()?.count == 2)
    try await contacts.change(1) { $0.name = "Cid" }
    #expect(try await single.next()??.name == "Cid")
    #expect(try await adas.next()?.map(\.id.isTemporary) == [true])
    try await contacts.delete(1)
    let gone = try #require(try await single.next())
    #expect(gone.map(\.name) == nil)
  }

  @Test("a conflict is shown until it is decided, and the decision is sent on their version")
  func conflict() async throws {
    server.set { $0.contacts = [Contact(id: 7, name: "Ada", version: "1")] }
    let (outbox, contacts) = try await open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    _ = try await wait(for: "Ada", in: &lists)
    server.set { $0.contacts = [Contact(id: 7, name: "Theirs", version: "2")] }
    try await contacts.change(7) { $0.name = "Mine" }
    var problem: Mutation?
    for await problems in await outbox.problems where !problems.isEmpty {
      problem = problems.first
      break
    }
    let conflict = try #require(problem)
    guard case .conflict(let theirs?, let version?) = conflict.state else {
      Issue.record("\(conflict.state)")
      return
    }
    #expect(text(theirs).contains("Theirs"))
    try await outbox.decide(conflict, .send(body: conflict.draft.body, base: version))
    for await count in await outbox.counts where count == 0 { break }
    #expect(server.state.withLock { $0.contacts.map(\.name) } == ["Mine"])
  }

  enum Decision: CaseIterable { case discard, retry, send }

  @Test(
    "what the server has is known after a conflict: to lists, to the next process, and to the next change",
    arguments: Decision.allCases)
  func adoption(decision: Decision) async throws {
    server.set { $0.contacts = [Contact(id: 7, name: "Ada", phone: "1", version: "1")] }
    do {
      let (outbox, contacts) = try await open()
      var lists = contacts.fetchAll(.cacheFirst).makeAsyncIterator()
      _ = try await wait(for: "Ada", in: &lists)
      server.set { $0.contacts = [Contact(id: 7, name: "Theirs", phone: "2", version: "7")] }
      try await contacts.change(7) { $0.name = "Mine" }
      var problem: Mutation?
      for await problems in await outbox.problems where !problems.isEmpty {
        problem = problems.first
        break
      }
      let conflict = try #require(problem)
      var theirs = try #require(conflict.theirs(as: Contact.self))
      #expect(theirs.name == "Theirs" && theirs.version == "7")
      #expect(await contacts.shown(7)?.phone == "2", "the change lies over what the server has")
      switch decision {
      case .discard:
        try await outbox.decide(conflict, .discard)
        _ = try await wait(for: "Theirs", in: &lists)
      case .retry: try await outbox.decide(conflict, .retry)
      case .send:
        theirs.name = "Both"
        try await outbox.decide(conflict, .send(theirs))
      }
      for await count in await outbox.counts where count == 0 { break }
    }
    let expected = decision == .discard ? "Theirs" : decision == .retry ? "Mine" : "Both"
    #expect(server.state.withLock { $0.contacts.map(\.name) } == [expected])
    // The next process asks nothing, and changes what it has.
    let (outbox, contacts) = try await open()
    var lists = contacts.fetchAll(.cacheOnly).makeAsyncIterator()
    #expect(try await lists.next()?.map(\.name) == [expected])
    try await contacts.change(7) { $0.phone = "3" }
    for await count in await outbox.counts where count == 0 { break }
    #expect(await outbox.waiting.isEmpty)
    #expect(server.state.withLock { $0.contacts.map(\.phone) } == ["3"])
  }

  @Test("each step of a change is delivered once, also when changes are merged")
  func stepsOnce() async throws {
    server.set { $0.contacts = [Contact(id: 7, name: "Ada", version: "1")] }
    let (outbox, contacts) = try await open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    _ = try await wait(for: "Ada", in: &lists)
    server.set {
      $0.isThere = false
      $0.away = .notSent
    }
    let first = try #require(try await contacts.change(7) { $0.name = "Eva" })
    while await outbox.waiting.contains(where: \.isTried) { await Task.yield() }
    let second = try #require(try await contacts.change(7) { $0.phone = "1" })
    server.set { $0.isThere = true }
    await outbox.networkChanged()
    for steps in [first, second] {
      var seen: [MutationStep] = []
      for await step in steps { seen.append(step) }
      #expect(seen.count == 2 && seen.first == .queued && seen.last?.isLast == true, "\(seen)")
    }
  }

  @Test("a copy of a former version is a conflict, and undoes nothing of what others have changed")
  func formerCopy() async throws {
    server.set { $0.contacts = [Contact(id: 7, name: "Ada", phone: "1", version: "1")] }
    let (outbox, contacts) = try await open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    var copy = try #require(try await wait(for: "Ada", in: &lists).first)
    server.set { $0.contacts = [Contact(id: 7, name: "Ada", phone: "2", version: "2")] }
    await contacts.refresh()
    while let list = try await lists.next(), list.first?.phone != "2" {}
    copy.name = "Mine"
    try await contacts.save(copy)
    var found: Mutation?
    for await problems in await outbox.problems where !problems.isEmpty {
      #expect(problems.count == 1)
      found = problems.first
      break
    }
    let problem = try #require(found)
    guard case .conflict(let theirs?, let version?) = problem.state else {
      Issue.record("\(problem.state)")
      return
    }
    #expect(text(theirs).contains(#""phone":"2""#))
    #expect(text(problem.draft.body) == #"{"name":"Mine"}"#)
    #expect(problem.draft.base == "1")
    #expect(server.state.withLock { $0.contacts.map(\.name) } == ["Ada"])
    try await outbox.decide(problem, .send(body: problem.draft.body, base: version))
    for await count in await outbox.counts where count == 0 { break }
    #expect(server.state.withLock { $0.contacts.map(\.name) } == ["Mine"])
    #expect(server.state.withLock { $0.contacts.map(\.phone) } == ["2"])
  }

  @Test("a copy from before changes of this device is no conflict, and undoes none of them")
  func formerCopyOfOwn() async throws {
    server.set { $0.contacts = [Contact(id: 7, name: "Ada", phone: "1", version: "1")] }
    let (_, contacts) = try await open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    var copy = try #require(try await wait(for: "Ada", in: &lists).first)
    for name in ["Bea", "Cid"] {
      let steps = try await contacts.change(7) { $0.name = name }
      for await _ in try #require(steps) {}
    }
    copy.phone = "9"
    var last: MutationStep?
    for await step in try await contacts.save(copy) { last = step }
    guard case .saved = last else {
      Issue.record("\(String(describing: last))")
      return
    }
    let request = try #require(server.state.withLock { $0.requests.last })
    #expect(text(request.body) == #"{"phone":"9"}"#)
    #expect(request.base == "3")
    #expect(server.state.withLock { $0.contacts.map(\.name) } == ["Cid"])
    #expect(server.state.withLock { $0.contacts.map(\.version) } == ["4"])
  }

  @Test("the draft that made a thing is a conflict, too, once another user has changed the thing")
  func formerDraft() async throws {
    let (outbox, contacts) = try await open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    // From here on the repository hears the outcome of changes.
    #expect(try await lists.next()?.isEmpty == true)
    var draft = Contact(name: "Ada")
    for await _ in try await contacts.save(draft) {}
    // A fetch that begins before the repository has heard of it would put it over its answer.
    while let list = try await lists.next(), list.first?.id != "s1" {}
    server.set { state in
      state.contacts[0].name = "Theirs"
      state.contacts[0].version = "2"
    }
    await contacts.refresh()
    _ = try await wait(for: "Theirs", in: &lists)
    draft.phone = "9"
    try await contacts.save(draft)
    for await problems in await outbox.problems where !problems.isEmpty {
      #expect(problems.map { text($0.draft.body) } == [#"{"phone":"9"}"#])
      break
    }
    #expect(server.state.withLock { $0.contacts.map(\.name) } == ["Theirs"])
  }

  @Test("another user sees neither what was fetched nor what waits")
  func users() async throws {
    server.set { $0.contacts = [Contact(id: 1, name: "Ada")] }
    let (outbox, contacts) = try await open()
    var lists = contacts.fetchAll().makeAsyncIterator()
    _ = try await wait(for: "Ada", in: &lists)
    server.set { $0.isThere = false }
    try await contacts.save(Contact(name: "secret"))
    _ = try await wait(for: "Ada secret", in: &lists)
    server.set { $0.contacts = [] }
    await outbox.use(by: "ben")
    _ = try await wait(for: "", in: &lists)
    #expect(await outbox.waiting.isEmpty)
    await outbox.use(by: "ann")
    _ = try await wait(for: "Ada secret", in: &lists)
  }

  @Test("what was kept of another person is not shown, however late it is read")
  func lateKept() async throws {
    let interface = SlowInterface()
    let outbox = try Outbox(OfflineStore(folder: folder.path), user: "ann", sender: server)
    let contacts = Repository(interface, in: outbox)
    // The repository knows Ann once this is answered.
    var single = contacts.fetchSingle(9, .cacheOnly).makeAsyncIterator()
    _ = try await single.next()
    var lists = contacts.fetchAll().makeAsyncIterator()
    await interface.arrival()
    await outbox.use(by: "ben")
    // The repository has noticed, and has found nothing of Ben's.
    while !interface.state.withLock({ $0.hasLooked }) { await Task.yield() }
    interface.release()
    // After what was kept, the server is asked once more.
    while interface.state.withLock({ $0.fetches }) < 2 { await Task.yield() }
    #expect(await contacts.values[.all]?.map(\.name) ?? [] == [])
    #expect(try await lists.next()?.map(\.name) == [])
  }

  /// Reads what is kept of Ann when the test lets it, and holds nothing of other users.
  private final class SlowInterface: DataInterface {
    struct State {
      var held: CheckedContinuation<Void, Never>?
      var hasLooked = false
      var fetches = 0
    }

    let resource = "contacts"
    let state = Mutex(State())
    private let arrived = AsyncStream.makeStream(of: Void.self)

    func kept(_ query: DataQuery, as user: String) async throws(FetchError) -> [Contact]? {
      guard query == .all else { return nil }
      guard user == "ann" else {
        state.withLock { $0.hasLooked = true }
        return nil
      }
      await withCheckedContinuation { continuation in
        state.withLock { $0.held = continuation }
        arrived.continuation.yield()
      }
      return [Contact(id: 1, name: "secret")]
    }

    func arrival() async {
      for await _ in arrived.stream { return }
    }

    func release() {
      let held = state.withLock { state in
        defer { state.held = nil }
        return state.held
      }
      held?.resume()
    }

    func fetch(_ query: DataQuery, as user: String) async throws(FetchError) -> [Contact] {
      if query == .all { state.withLock { $0.fetches += 1 } }
      throw .signedOut
    }

    func keep(
      _ models: [Contact], for query: DataQuery, as user: String
    ) async throws(FetchError) {}
  }
}
