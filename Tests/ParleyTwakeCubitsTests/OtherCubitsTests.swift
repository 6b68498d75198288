import ParleyDialectModels
import Synchronization
import Testing

import ParleyTwakeCubits

/// A server with everything but messages.
final class FakeTwake: ChannelsSource, CompaniesSource, AccountsSource {
  struct Refused: Error {}

  struct State {
    var channels: [Twake.Channel] = []
    var companies: [Twake.Company] = []
    var workspaces: [Twake.Workspace] = []
    var isThere = true
    var synchronises = true
    var count = 0
    var refreshes = 0
  }

  let state = Mutex(State())
  let gate = Gate()

  func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

  private func answer<Value>(_ value: (inout State) throws -> Value) async throws -> Value {
    await gate.pass()
    return try state.withLock { state in
      guard state.isThere else { throw Refused() }
      return try value(&state)
    }
  }

  func channels(companyID: String, workspaceID: String) async throws -> [Twake.Channel] {
    try await answer { state in
      state.channels.filter { $0.companyID == companyID && $0.workspaceID == workspaceID }
    }
  }

  func create(_ channel: Twake.Channel, key: String) async throws -> Twake.Channel {
    try await answer { state in
      state.count += 1
      var made = channel
      made.id = "new\(state.count)"
      state.channels.append(made)
      return made
    }
  }

  func edit(_ channel: Twake.Channel) async throws -> Twake.Channel {
    try await answer { _ in channel }
  }

  func delete(_ channel: Twake.Channel) async throws { try await answer { _ in } }

  func members(of channel: Twake.Channel) async throws -> [Twake.Account] {
    try await answer { _ in [Self.account("ben")] }
  }

  func add(_ users: [String], to channel: Twake.Channel) async throws { try await answer { _ in } }

  func remove(_ users: [String], from channel: Twake.Channel) async throws {
    try await answer { _ in }
  }

  func companies() async throws -> [Twake.Company] { try await answer { $0.companies } }

  func workspaces(of companyID: String) async throws -> [Twake.Workspace] {
    try await answer { state in state.workspaces.filter { $0.companyID == companyID } }
  }

  func members(of workspaceID: String) async throws -> [Twake.Account] {
    try await answer { _ in [Self.account("ben")] }
  }

  func create(
    workspace name: String, in companyID: String, members: [String], key: String
  ) async throws -> Twake.Workspace {
    try await answer { _ in
      var workspace = Twake.Workspace()
      workspace.id = "w-" + name
      workspace.companyID = companyID
      workspace.name = name
      return workspace
    }
  }

  func authenticate(_ username: String, _ password: String) async throws -> Twake.Authentication {
    try await answer { _ in
      guard password == "right" else { throw Refused() }
      return Self.tokens("t", 100)
    }
  }

  func refresh(_ tokens: Twake.Authentication) async throws -> Twake.Authentication {
    try await answer { state in
      state.refreshes += 1
      return Self.tokens("t\(state.refreshes)", tokens.expiration + 100)
    }
  }

  func synchronise() async throws {
    try await answer { state in if !state.synchronises { throw Refused() } }
  }

  func account(_ id: String?) async throws -> Twake.Account {
    try await answer { _ in Self.account(id ?? "me") }
  }

  static func account(_ id: String) -> Twake.Account {
    var account = Twake.Account()
    account.id = id
    return account
  }

  static func tokens(_ token: String, _ expiration: Int) -> Twake.Authentication {
    var tokens = Twake.Authentication()
    tokens.token = token
    tokens.refreshToken = "r"
    tokens.expiration = expiration
    tokens.refreshExpiration = 10_000
    return tokens
  }
}

/// The lines of the page on the other cubits.
@MainActor @Suite("Twake's other cubits", .timeLimit(.minutes(30)))
struct OtherCubitsTests {
  private let server = FakeTwake()
  private let storage = MemoryCubitStorage()
  private let globals = Globals()

  private func channel(_ id: String, _ workspace: String = "w") -> Twake.Channel {
    var channel = Twake.Channel()
    channel.id = id
    channel.name = id
    channel.companyID = "c"
    channel.workspaceID = workspace
    channel.membersCount = 3
    return channel
  }

  private func channels() async throws -> ChannelsCubit {
    server.set { $0.channels = [channel("a"), channel("b"), channel("d", "direct")] }
    let cubit = ChannelsCubit(server, storage: storage, globals: globals)
    try await cubit.fetch(companyID: "c", workspaceID: "w")
    return cubit
  }

  private func names(_ cubit: ChannelsCubit) -> [String] {
    guard case .loaded(let channels, _) = cubit.state else { return [] }
    return channels.map(\.name)
  }

  @Test("channels: fetched from storage, then from remote; direct ones likewise")
  func fetchChannels() async throws {
    _ = try await channels()
    server.set { $0.isThere = false }
    let cubit = ChannelsCubit(server, storage: storage, globals: globals)
    await #expect(throws: FakeTwake.Refused.self) {
      try await cubit.fetch(companyID: "c", workspaceID: "w")
    }
    #expect(names(cubit) == ["a", "b"])
    server.set { $0.isThere = true }
    try await cubit.fetch(companyID: "c", workspaceID: "direct")
    #expect(names(cubit) == ["d"])
  }

  @Test("channels: created ones are selected, edited ones shown at once, failures rolled back")
  func changeChannels() async throws {
    let cubit = try await channels()
    try await cubit.create(name: "new", visibility: .private)
    #expect(globals.state.channelID == "new1")
    #expect(names(cubit) == ["a", "b", "new"])
    server.set { $0.isThere = false }
    server.gate.hold()
    let editing = Task {
      try await cubit.edit(
        channel("a"), name: "x", icon: nil, description: nil, visibility: .public)
    }
    await server.gate.arrival()
    #expect(names(cubit) == ["x", "b", "new"])
    server.gate.release()
    await #expect(throws: FakeTwake.Refused.self) { try await editing.value }
    #expect(names(cubit) == ["a", "b", "new"])
    await #expect(throws: FakeTwake.Refused.self) { try await cubit.delete(channel("b")) }
    #expect(names(cubit) == ["a", "b", "new"])
    server.set { $0.isThere = true }
    cubit.select("b")
    try await cubit.delete(channel("b"))
    #expect(names(cubit) == ["a", "new"])
    #expect(globals.state.channelID == nil)
  }

  @Test("channels: members are listed, added and removed, and counted")
  func members() async throws {
    let cubit = try await channels()
    func count() -> Int? {
      guard case .loaded(let channels, _) = cubit.state else { return nil }
      return channels[0].membersCount
    }
    #expect(try await cubit.members(of: channel("a")).map(\.id) == ["ben"])
    try await cubit.add(["x", "y"], to: channel("a"))
    #expect(count() == 5)
    try await cubit.remove(["x"], from: channel("a"))
    #expect(count() == 4)
    server.set { $0.isThere = false }
    await #expect(throws: FakeTwake.Refused.self) {
      try await cubit.add(["z"], to: channel("a"))
    }
    #expect(count() == 4)
  }

  @Test("listenToActivityChanges, listenToChannelChanges: the list follows the events")
  func listen() async throws {
    let cubit = try await channels()
    server.set { $0.channels.append(channel("e")) }
    var summary = Twake.MessageSummary()
    summary.text = "hi"
    let events = AsyncStream<DomainEvent> { continuation in
      continuation.yield(.activity(place: "a", time: 7, last: summary))
      continuation.yield(.groupInfo(.saved, place: "e", nil))
      continuation.yield(.groupInfo(.deleted, place: "b", nil))
      continuation.finish()
    }
    // The list that is fetched does not know of the activity.
    server.set { $0.channels[0].lastActivity = 7 }
    await cubit.listen(to: events)
    guard case .loaded(let channels, _) = cubit.state else { return }
    #expect(channels.map(\.id) == ["a", "e"])
    #expect(channels[0].lastActivity == 7)
  }

  @Test("companies and workspaces: the selection is in the globals, and outlives the process")
  func companies() async throws {
    server.set { state in
      for id in ["c", "d"] {
        var company = Twake.Company()
        company.id = id
        state.companies.append(company)
        var workspace = Twake.Workspace()
        workspace.id = "w" + id
        workspace.companyID = id
        state.workspaces.append(workspace)
      }
    }
    let cubit = CompaniesCubit(server, storage: storage, globals: globals)
    #expect(cubit.selected == nil)
    try await cubit.fetch()
    cubit.selectCompany("d")
    await cubit.selectWorkspace("wd")
    #expect(cubit.selected?.id == "d")
    #expect(globals.state.workspaceID == "wd")

    let workspaces = WorkspacesCubit(server, storage: storage, globals: globals)
    try await workspaces.fetch(companyID: "d")
    guard case .loaded(let shown, let selected) = workspaces.state else { return }
    #expect(shown.map(\.id) == ["wd"])
    #expect(selected?.id == "wd")
    #expect(try await workspaces.members(of: "wd").map(\.id) == ["ben"])
    try await workspaces.create(companyID: "d", name: "new", members: ["ben"])
    #expect(globals.state.workspaceID == "w-new")

    let again = CompaniesCubit(server, storage: storage, globals: Globals())
    try await again.fetch()
    again.selectCompany("d")
    #expect(again.selected?.selectedWorkspace == "wd")
  }

  @Test("authentication: in progress, failure with what was entered, success after synchronising")
  func authentication() async throws {
    let time = Mutex(0)
    let box = Box(time: time)
    let cubit = AuthenticationCubit(server, storage: storage, globals: globals) {
      box.time.withLock { $0 }
    }
    await cubit.authenticate("ann", "wrong")
    #expect(cubit.state == .failure(username: "ann", password: "wrong"))
    server.set { $0.synchronises = false }
    await cubit.authenticate("ann", "right")
    #expect(cubit.state == .synchronisationFailed)
    server.set { $0.synchronises = true }
    await cubit.authenticate("ann", "right")
    #expect(cubit.state == .success)
    #expect(globals.state.token == "t")
    #expect(globals.state.userID == "me")
    #expect(try await cubit.freshToken() == "t")
    box.time.withLock { $0 = 50 }
    #expect(try await cubit.freshToken() == "t1")
    #expect(globals.state.token == "t1")

    let later = Globals()
    let next = AuthenticationCubit(server, storage: storage, globals: later) { 60 }
    server.set { $0.isThere = false }
    await next.checkAuthentication()
    #expect(next.state == .success)
    #expect(later.state.userID == "me", "known without the server")
    server.set { $0.isThere = true }
    let late = AuthenticationCubit(server, storage: storage, globals: Globals()) { 20_000 }
    await late.checkAuthentication()
    #expect(late.state == .initial)
    await cubit.logout()
    #expect(cubit.state == .initial)
    #expect(globals.state.token == nil)
    await next.checkAuthentication()
    #expect(next.state == .initial)
  }

  private final class Box: Sendable {
    let time: Mutex<Int>
    init(time: consuming Mutex<Int>) { self.time = time }
  }

  /// A user who is signed in, with a token that ends soon.
  private func signedIn() async -> AuthenticationCubit {
    let cubit = AuthenticationCubit(server, storage: storage, globals: globals) { 50 }
    await cubit.authenticate("ann", "right")
    return cubit
  }

  @Test("logout: an answer that comes after it is neither kept nor shown")
  func lateAnswers() async throws {
    let cubit = await signedIn()
    let account = AccountCubit(server, storage: storage, globals: globals)
    let companies = CompaniesCubit(server, storage: storage, globals: globals)
    let workspaces = WorkspacesCubit(server, storage: storage, globals: globals)
    let channels = ChannelsCubit(server, storage: storage, globals: globals)
    let requests: [@MainActor @Sendable () async throws -> Void] = [
      { _ = try await cubit.freshToken() }, { try await account.fetch() },
      { try await companies.fetch() }, { try await workspaces.fetch(companyID: "c") },
      { try await channels.fetch(companyID: "c", workspaceID: "w") },
      { await cubit.authenticate("ann", "right") },
    ]
    for request in requests {
      _ = await signedIn()
      server.gate.hold()
      let late = Task { try await request() }
      await server.gate.arrival()
      await cubit.logout()
      server.gate.release()
      try await late.value
      #expect(cubit.state == .initial)
      #expect(globals.state == Globals.Values())
      for name in ["authentication", "account/", "companies", "workspaces/c", "channels/c/w"] {
        #expect(await storage.read(name) == nil, "\(name)")
      }
    }
    // The account stored at the sign-in, before the sign-out, is shown.
    #expect(account.state == .loaded(FakeTwake.account("me")))
    #expect(companies.state == .loading)
    #expect(workspaces.state == .loading)
    #expect(channels.state == .loading)
    // The next person sees their own.
    _ = await signedIn()
    try await channels.fetch(companyID: "c", workspaceID: "w")
    #expect(await storage.read("channels/c/w") != nil)
  }

  @Test("freshToken: called several times at once, it refreshes once")
  func oneRefresh() async throws {
    let cubit = await signedIn()
    server.gate.hold()
    let calls = (0..<5).map { _ in Task { try await cubit.freshToken() } }
    await server.gate.arrival()
    for _ in 0..<20 { await Task.yield() }
    server.gate.release()
    for call in calls { #expect(try await call.value == "t1") }
    #expect(server.state.withLock { $0.refreshes } == 1)
    // One that fails is no more in the way of the next.
    let next = AuthenticationCubit(server, storage: storage, globals: globals) { 190 }
    await next.checkAuthentication()
    server.set { $0.isThere = false }
    let failing = AuthenticationCubit(server, storage: storage, globals: globals) { 290 }
    await failing.checkAuthentication()
    await #expect(throws: FakeTwake.Refused.self) { try await failing.freshToken() }
    server.set { $0.isThere = true }
    #expect(try await failing.freshToken() == "t3")
  }

  @Test("account: from storage, then from remote; fetchStateless leaves the state")
  func account() async throws {
    let cubit = AccountCubit(server, storage: storage, globals: globals)
    #expect(await cubit.fetchStateless("ben") == nil)
    try await cubit.fetch("ben")
    #expect(cubit.state == .loaded(FakeTwake.account("ben")))
    try await cubit.fetch()
    #expect(cubit.state == .loaded(FakeTwake.account("me")))
    #expect(await cubit.fetchStateless("ben")?.id == "ben")
    #expect(cubit.state == .loaded(FakeTwake.account("me")))
    server.set { $0.isThere = false }
    await #expect(throws: FakeTwake.Refused.self) { try await cubit.fetch("ben") }
    #expect(cubit.state == .loaded(FakeTwake.account("ben")))
  }

  @Test("badges: counts of channels, summed up for workspaces and companies")
  func badges() async throws {
    let counts = Mutex([("a", 2), ("b", 3)])
    let box = Counts(counts: counts)
    let cubit = BadgesCubit {
      box.counts.withLock { counts in
        counts.map { channel, unread in
          (
            place: BadgesCubit.Place(companyID: "c", workspaceID: "w", channelID: channel),
            unread: unread
          )
        }
      }
    }
    try await cubit.fetch()
    #expect(cubit.count(.channel, "a") == 2)
    #expect(cubit.count(.workspace, "w") == 5)
    #expect(cubit.count(.company, "c") == 5)
    #expect(cubit.count(.company, "other") == 0)
    box.counts.withLock { $0 = [("a", 0)] }
    let events = AsyncStream<DomainEvent> { continuation in
      continuation.yield(.badges)
      continuation.finish()
    }
    await cubit.listen(to: events)
    #expect(cubit.count(.company, "c") == 0)
  }

  private final class Counts: Sendable {
    let counts: Mutex<[(String, Int)]>
    init(counts: consuming Mutex<[(String, Int)]>) { self.counts = counts }
  }
}
