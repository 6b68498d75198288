import ParleyClient
import ParleyOffline
import Synchronization
import Testing

@Suite("Lists while the answer to a create is missing", .timeLimit(.minutes(30)))
struct UnansweredCreateTests {
  private let folder = TemporaryFolder()
  private let server = FakeServer()
  private let time = ManualTime()

  /// A sender whose answers are lost or held. A create is made once under its key.
  private final class LossySender: MutationSender {
    enum Mode { case loses, holds, answers }
    struct State {
      var mode = Mode.loses
      var made: [String: MutationAnswer] = [:]
      var lost = 0
      var held: [CheckedContinuation<Void, Never>] = []
    }

    let server: FakeServer
    let state = Mutex(State())

    init(_ server: FakeServer) { self.server = server }

    func send(_ request: MutationRequest) async -> MutationAnswer {
      let made = state.withLock { $0.made[request.key] }
      let answer: MutationAnswer
      if let made { answer = made } else { answer = await server.send(request) }
      let mode = state.withLock { state in
        state.made[request.key] = answer
        if state.mode == .loses { state.lost += 1 }
        return state.mode
      }
      switch mode {
      case .loses: return .unreachable
      case .holds: await withCheckedContinuation { hold($0) }
      case .answers: break
      }
      return answer
    }

    private func hold(_ continuation: CheckedContinuation<Void, Never>) {
      let isHeld = state.withLock { state in
        if state.mode == .holds { state.held.append(continuation) }
        return state.mode == .holds
      }
      if !isHeld { continuation.resume() }
    }

    func set(_ mode: Mode) {
      let held = state.withLock { state in
        state.mode = mode
        defer { state.held = [] }
        return state.held
      }
      for continuation in held { continuation.resume() }
    }
  }

  enum Process: CaseIterable { case same, next }
  enum Query: CaseIterable { case all, subset }

  private func open(_ sender: LossySender) async throws -> (Outbox, Repository<Contact>) {
    while true {
      do throws(OfflineStoreError) {
        let outbox = try Outbox(
          OfflineStore(folder: folder.path), user: "ann", sender: sender, time: time)
        return (outbox, Repository(server.source, "contacts", in: outbox, time: time))
      } catch {
        guard error == .inUse else { throw error }
        await Task.yield()
      }
    }
  }

  @Test("an item is listed once", arguments: Process.allCases, Query.allCases)
  func once(process: Process, query: Query) async throws {
    let sender = LossySender(server)
    var (outbox, contacts): (Outbox?, Repository<Contact>?) = try await open(sender)
    try await contacts?.save(Contact(name: "Ada", phone: "1"))
    while sender.state.withLock({ $0.lost }) == 0 { await Task.yield() }
    #expect(await outbox?.count == 1)
    if process == .next {
      (outbox, contacts) = (nil, nil)
      sender.set(.holds)
      (outbox, contacts) = try await open(sender)
    } else {
      sender.set(.holds)
    }
    let repository = try #require(contacts)
    let shown: FetchedValues<Contact, [Contact]> =
      switch query {
      case .all: repository.fetchAll()
      case .subset: repository.fetchSubset(["name": "Ada"], where: { $0.name == "Ada" })
      }
    var lists = shown.makeAsyncIterator()
    while server.state.withLock({ $0.fetches }) == 0 { await Task.yield() }
    for _ in 0..<1_000 { await Task.yield() }
    // A change while the answer is still missing shows the list again.
    try await repository.save(Contact(name: "Ada", phone: "2"), lane: "other")
    while let list = try await lists.next() {
      let phones = list.compactMap(\.phone)
      #expect(Set(phones).count == phones.count, "listed twice: \(list.map(\.id))")
      if phones.contains("2") { break }
    }
    sender.set(.answers)
    while let list = try await lists.next() {
      let phones = list.compactMap(\.phone)
      #expect(Set(phones).count == phones.count, "listed twice: \(list.map(\.id))")
      if list.count == 2, list.allSatisfy({ !$0.id.isTemporary }) { break }
    }
    #expect(server.state.withLock { $0.contacts.count } == 2)
    _ = await outbox?.count
  }

  @Test("a list waits no longer than ten seconds for an answer")
  func bounded() async throws {
    server.set { $0.contacts = [Contact(id: 7, name: "Bea")] }
    let sender = LossySender(server)
    sender.set(.holds)
    let (_, contacts) = try await open(sender)
    try await contacts.save(Contact(name: "Ada"))
    var lists = contacts.fetchAll().makeAsyncIterator()
    await time.waits()
    time.pass(Repository<Contact>.settleMilliseconds)
    while let list = try await lists.next(), !list.contains(where: { $0.name == "Bea" }) {}
    sender.set(.answers)
  }
}
