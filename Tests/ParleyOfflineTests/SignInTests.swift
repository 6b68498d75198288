import ParleyClient
import ParleyOffline
import Synchronization
import Testing

/// The app's place for its token, and how often it was asked for one.
final class TokenBox: Sendable {
  struct State {
    var token: Credentials?
    var questions: [Credentials?] = []
  }
  let state = Mutex(State())

  init(_ token: String?) { set(token) }

  func set(_ token: String?) {
    state.withLock { $0.token = token.map { Credentials(user: "ann", token: $0) } }
  }

  func answer(_ refused: Credentials?) -> Credentials? {
    state.withLock { state in
      state.questions.append(refused)
      return state.token
    }
  }
}

/// The lines of the workflow on signing in, on values to choose from, and on data not yet fetched.
@Suite("Signing in, with and without a server", .timeLimit(.minutes(30)))
struct SignInTests {
  private let folder = TemporaryFolder()

  private func open(
    _ backEnd: BackEnd, _ box: TokenBox, port: UInt16? = nil
  ) async throws -> (Outbox, Repository<Contact>) {
    let service = RESTService("http://127.0.0.1:\(port ?? backEnd.port)") { box.answer($0) }
    while true {
      do throws(OfflineStoreError) {
        let outbox = try Outbox(OfflineStore(folder: folder.path), user: "ann", sender: service)
        return (outbox, Repository(RESTSource(service, "contacts"), "contacts", in: outbox))
      } catch {
        // The one before is being closed.
        guard error == .inUse else { throw error }
        await Task.yield()
      }
    }
  }

  private func wait(
    for names: [String], in lists: inout FetchedValues<Contact, [Contact]>.Iterator
  ) async throws {
    while let list = try await lists.next(), list.map(\.name) != names {}
  }

  @Test("AUTHENTICATION, online, with a token: the list is fetched without a sign-in")
  func cachedToken() async throws {
    let backEnd = try BackEnd()
    defer { backEnd.close() }
    backEnd.state.withLock { $0.token = "a" }
    let box = TokenBox("a")
    let (_, contacts) = try await open(backEnd, box)
    var lists = contacts.fetchAll().makeAsyncIterator()
    #expect(try await lists.next()?.isEmpty == true)
    for await _ in try await contacts.save(Contact(name: "Ada")) {}
    try await wait(for: ["Ada"], in: &lists)
    // Both requests may have asked at once; no token was refused.
    #expect(box.state.withLock { $0.questions.allSatisfy { $0 == nil } })
    #expect(backEnd.made.count == 1)
  }

  @Test("AUTHENTICATION, online, no token: this is reported, and work continues after signing in")
  func noToken() async throws {
    let backEnd = try BackEnd()
    defer { backEnd.close() }
    backEnd.state.withLock { $0.token = "a" }
    let box = TokenBox(nil)
    let (outbox, contacts) = try await open(backEnd, box)
    var problems = await contacts.fetchProblems.makeAsyncIterator()
    #expect(await problems.next() == .some(nil))
    var lists = contacts.fetchAll().makeAsyncIterator()
    #expect(await problems.next() == .signedOut)
    #expect(backEnd.state.withLock { $0.requests.isEmpty })
    box.set("a")
    await outbox.signedIn()
    #expect(try await lists.next()?.isEmpty == true)
    #expect(await problems.next() == .some(nil))
  }

  @Test("AUTHENTICATION, online, expired token: a newer one is requested with the old one")
  func endedToken() async throws {
    let backEnd = try BackEnd()
    defer { backEnd.close() }
    backEnd.state.withLock { $0.token = "b" }
    let box = TokenBox("a")
    let (outbox, contacts) = try await open(backEnd, box)
    var problems = await contacts.fetchProblems.makeAsyncIterator()
    #expect(await problems.next() == .some(nil))
    var lists = contacts.fetchAll().makeAsyncIterator()
    #expect(await problems.next() == .signedOut)
    #expect(box.state.withLock { $0.questions.contains(Credentials(user: "ann", token: "a")) })
    box.set("b")
    await outbox.signedIn()
    #expect(try await lists.next()?.isEmpty == true)
  }

  @Test("AUTHENTICATION, offline, with a token: the stored list is shown, and changes wait")
  func offline() async throws {
    let backEnd = try BackEnd()
    defer { backEnd.close() }
    let proxy = try CuttingProxy(to: backEnd.port)
    defer { proxy.close() }
    backEnd.state.withLock { $0.token = "a" }
    do {
      let (_, contacts) = try await open(backEnd, TokenBox("a"), port: proxy.port)
      var lists = contacts.fetchAll().makeAsyncIterator()
      #expect(try await lists.next()?.isEmpty == true)
      for await _ in try await contacts.save(Contact(name: "Ada")) {}
      try await wait(for: ["Ada"], in: &lists)
    }
    proxy.cut()
    let box = TokenBox("a")
    let (outbox, contacts) = try await open(backEnd, box, port: proxy.port)
    var lists = contacts.fetchAll().makeAsyncIterator()
    #expect(try await lists.next()?.map(\.name) == ["Ada"])
    let steps = try await contacts.save(Contact(name: "Bea"))
    try await wait(for: ["Ada", "Bea"], in: &lists)
    proxy.mend()
    await outbox.networkChanged()
    for await _ in steps {}
    #expect(backEnd.made.count == 2)
  }

  @Test("OPTION VALUES: fetched at each online use, and available without a server")
  func optionValues() async throws {
    let server = FakeServer()
    func open() async throws -> Repository<Contact> {
      while true {
        do throws(OfflineStoreError) {
          let outbox = try Outbox(
            OfflineStore(folder: folder.path), user: "ann", sender: server)
          return Repository(server.source, "sources", in: outbox)
        } catch {
          guard error == .inUse else { throw error }
          await Task.yield()
        }
      }
    }
    for names in [["web"], ["web", "fair"]] {
      server.set { state in
        state.contacts = names.enumerated().map { Contact(id: ResourceID(Int64($0)), name: $1) }
      }
      let sources = try await open()
      var lists = sources.fetchAll().makeAsyncIterator()
      try await wait(for: names, in: &lists)
    }
    server.set { $0.isThere = false }
    let sources = try await open()
    var lists = sources.fetchAll().makeAsyncIterator()
    #expect(try await lists.next()?.map(\.name) == ["web", "fair"])
  }

  @Test("PLACEHOLDERS, offline, nothing fetched yet: an empty list, and the reason")
  func placeholders() async throws {
    let server = FakeServer()
    server.set { $0.isThere = false }
    let outbox = try Outbox(OfflineStore(folder: folder.path), user: "ann", sender: server)
    let contacts = Repository(server.source, "contacts", in: outbox)
    var problems = await contacts.fetchProblems.makeAsyncIterator()
    #expect(await problems.next() == .some(nil))
    var lists = contacts.fetchAll().makeAsyncIterator()
    #expect(try await lists.next()?.isEmpty == true)
    #expect(await problems.next() == .unreachable("offline"))
    server.set {
      $0.isThere = true
      $0.contacts = [Contact(id: 1, name: "Ada")]
    }
    await outbox.networkChanged()
    try await wait(for: ["Ada"], in: &lists)
    #expect(await problems.next() == .some(nil))
  }
}
