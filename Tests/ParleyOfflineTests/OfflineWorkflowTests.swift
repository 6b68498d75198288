import ParleyClient
import ParleyOffline
import Synchronization
import Testing

/// The table of an app that works offline: what happens in each cell.
@Suite("The offline workflow", .timeLimit(.minutes(30)))
struct OfflineWorkflowTests {
  enum Column: String, CaseIterable {
    case viewOnline = "VIEW, ONLINE"
    case viewOffline = "VIEW, OFFLINE"
    case createOnline = "CREATE, ONLINE"
    case createOffline = "CREATE, OFFLINE"
    case editOnline = "EDIT, ONLINE"
    case editOfflineLocal = "EDIT, OFFLINE (exists only locally)"
    case editOfflineRemote = "EDIT, OFFLINE (exists on the server)"
    case signInOnline = "AUTHENTICATION, ONLINE"
    case signInOffline = "AUTHENTICATION, OFFLINE"
    case signInNever = "AUTHENTICATION, OFFLINE (never before online)"
  }

  /// A list of one contact that was fetched before.
  private final class Scene {
    let folder = TemporaryFolder()
    let server = FakeServer()
    let outbox: Outbox
    let contacts: Repository<Contact>
    var lists: FetchedValues<Contact, [Contact]>.Iterator

    init() async throws {
      server.set { $0.contacts = [Contact(id: 7, name: "Ada", version: "1")] }
      let time = ManualTime()
      outbox = try Outbox(
        OfflineStore(folder: folder.path), user: "ann", sender: server, time: time)
      contacts = Repository(server.source, "contacts", in: outbox, time: time)
      lists = contacts.fetchAll().makeAsyncIterator()
      try await shows("Ada")
    }

    /// Reads until a list is shown.
    @discardableResult
    func shows(_ names: String) async throws -> [Contact] {
      while let list = try await lists.next() {
        if list.map(\.name).joined(separator: " ") == names { return list }
      }
      return []
    }

    func goOffline() {
      server.set {
        $0.isThere = false
        $0.away = .notSent
      }
    }

    func goOnline() async {
      server.set { $0.isThere = true }
      await outbox.networkChanged()
    }

    /// Waits until an attempt without a connection has ended.
    func attempted() async {
      while await outbox.waiting.contains(where: \.isTried) { await Task.yield() }
    }

    var requests: [MutationRequest] { server.state.withLock { $0.requests } }
  }

  @Test("the app behaves as each column of the table says", arguments: Column.allCases)
  func column(_ column: Column) async throws {
    switch column {
    case .viewOnline, .viewOffline: try await view(isOnline: column == .viewOnline)
    case .createOnline, .createOffline: try await create(isOnline: column == .createOnline)
    case .editOnline, .editOfflineRemote: try await edit(isOnline: column == .editOnline)
    case .editOfflineLocal: try await editLocal()
    case .signInOnline: try await signIn()
    case .signInOffline, .signInNever: try await signInOffline(isNew: column == .signInNever)
    }
  }

  private func view(isOnline: Bool) async throws {
    let scene = try await Scene()
    let fetches = scene.server.state.withLock { $0.fetches }
    scene.server.set {
      $0.contacts[0].name = "Eva"
      $0.holds = isOnline
    }
    if !isOnline { scene.goOffline() }
    // 1. The list is opened again.
    scene.lists = scene.contacts.fetchAll().makeAsyncIterator()
    let first = try await scene.lists.next()
    #expect(first?.map(\.name) == ["Ada"], "3. rendered from the state")
    if isOnline {
      await scene.server.waitForFetch()
      scene.server.release()
      try await scene.shows("Eva")  // 4. and 5.: the response is stored, and rendered.
    } else {
      for await problem in await scene.contacts.fetchProblems where problem != nil { break }
      #expect(await scene.contacts.shown(7)?.name == "Ada", "3. the list remains")
    }
    #expect(scene.server.state.withLock { $0.fetches } == fetches + 1, "2. GET")
  }

  private func create(isOnline: Bool) async throws {
    let scene = try await Scene()
    if !isOnline { scene.goOffline() }
    let draft = Contact(name: "Ben")
    var steps = try await scene.contacts.save(draft).makeAsyncIterator()
    let shown = try await scene.shows("Ada Ben")
    #expect(await steps.next() == .queued, "3. the user is notified")
    if !isOnline {
      #expect(shown.last?.id == draft.id, "1. the state has it under a temporary id")
      await scene.attempted()
      #expect(await scene.outbox.count == 1 && scene.requests.isEmpty, "2. the request is queued")
      await scene.goOnline()
    }
    guard case .saved(let id, _)? = await steps.next() else {
      Issue.record("not saved")
      return
    }
    #expect(scene.requests.map(\.kind) == [.create], "2. POST")
    #expect(await scene.contacts.shown(id)?.name == "Ben", "4. the temporary id is replaced")
    #expect(await scene.outbox.canonical(draft.id) == id)
  }

  private func edit(isOnline: Bool) async throws {
    let scene = try await Scene()
    if !isOnline { scene.goOffline() }
    var steps = try #require(try await scene.contacts.change(7) { $0.name = "Eva" })
      .makeAsyncIterator()
    #expect(
      await scene.contacts.shown(7)?.name == "Eva", "1. the state has it, under the server's id")
    #expect(await steps.next() == .queued, "3. the user is notified")
    if !isOnline {
      await scene.attempted()
      try await scene.contacts.change(7) { $0.phone = "1" }
      let waiting = await scene.outbox.waiting
      #expect(
        waiting.map(\.draft.id) == [7] && scene.requests.isEmpty, "2. the former request is removed"
      )
      await scene.goOnline()
    }
    guard case .saved? = await steps.next() else {
      Issue.record("not saved")
      return
    }
    #expect(scene.requests.map(\.id) == [7], "2. POST")
    #expect(
      scene.server.state.withLock { $0.contacts[0].name } == "Eva", "4. the response is stored")
    #expect(await scene.contacts.shown(7)?.version == "2")
  }

  private func editLocal() async throws {
    let scene = try await Scene()
    scene.goOffline()
    let draft = Contact(name: "Ben")
    try await scene.contacts.save(draft)
    await scene.attempted()
    var steps = try #require(try await scene.contacts.change(draft.id) { $0.name = "Bob" })
      .makeAsyncIterator()
    let shown = try await scene.shows("Ada Bob")
    #expect(shown.last?.id == draft.id, "1. the state has it under the temporary id")
    let waiting = await scene.outbox.waiting
    #expect(
      waiting.map(\.draft.kind) == [.create], "2. the create remains, and has the later fields")
    #expect(await steps.next() == .queued, "3. the user is notified")
    await scene.goOnline()
    guard case .saved(let id, _)? = await steps.next() else {
      Issue.record("not saved")
      return
    }
    #expect(scene.requests.map { text($0.body) } == [#"{"name":"Bob"}"#], "2. one POST")
    #expect(await scene.contacts.shown(id)?.name == "Bob", "4. the temporary id is replaced")
  }

  // MARK: Signing in. Where the table asks for a PIN, the app does: without a token the lists open
  // all the same.

  private func signIn() async throws {
    let backEnd = try BackEnd()
    defer { backEnd.close() }
    backEnd.state.withLock { $0.token = "a" }
    for hasToken in [true, false] {
      let folder = TemporaryFolder()
      let token = TokenBox(hasToken ? "a" : nil)
      let service = RESTService(backEnd.address) { token.answer($0) }
      let outbox = try Outbox(OfflineStore(folder: folder.path), user: "ann", sender: service)
      let contacts = Repository<Contact>(RESTSource(service, "contacts"), "contacts", in: outbox)
      var lists = contacts.fetchAll().makeAsyncIterator()
      if !hasToken {
        // 2b. The app shows its LOGIN screen; 3. and 4. it signs in, and stores the token.
        for await problem in await contacts.fetchProblems where problem == .signedOut { break }
        token.set("a")
        await outbox.signedIn()
      }
      #expect(try await lists.next()?.isEmpty == true, "2a. the screen is shown")
      for await _ in try await contacts.save(Contact(name: "Ada")) {}
      backEnd.state.withLock { $0.things = [:] }
    }
    #expect(backEnd.made.count == 2)
  }

  private func signInOffline(isNew: Bool) async throws {
    let folder = TemporaryFolder()
    let store = try OfflineStore(folder: folder.path)
    if !isNew {
      let cache = CacheSource<Contact>(store, "contacts")
      try cache.keep([Contact(id: 7, name: "Ada")], for: .all, as: "ann")
    }
    for token in isNew ? [nil] : ["a", nil] as [String?] {
      let box = TokenBox(token)
      // Nothing listens on this port.
      let service = RESTService("http://127.0.0.1:1") { box.answer($0) }
      let outbox = try await reopen(store, service)
      let contacts = Repository<Contact>(RESTSource(service, "contacts"), "contacts", in: outbox)
      var lists = contacts.fetchAll().makeAsyncIterator()
      #expect(
        try await lists.next()?.map(\.name) == (isNew ? [] : ["Ada"]), "2. the screen is shown")
      try await contacts.perform("comments", on: 7, "x")
      #expect(await outbox.count > 0, "changes wait for the sign-in")
    }
  }

  /// Opens the outbox of a store, once the former one is gone.
  private func reopen(_ store: OfflineStore, _ sender: any MutationSender) async throws -> Outbox {
    while true {
      do throws(OfflineStoreError) {
        return try Outbox(store, user: "ann", sender: sender)
      } catch {
        guard error == .inUse else { throw error }
        await Task.yield()
      }
    }
  }
}
