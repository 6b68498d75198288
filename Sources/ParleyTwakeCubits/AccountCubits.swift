public import ParleyDialectModels

/// The state of being signed in.
public enum AuthenticationState: Sendable, Equatable {
  /// No user is signed in.
  case initial
  /// The server is being asked.
  case inProgress
  /// The server did not take name and password; here they are again.
  case failure(username: String, password: String)
  /// The user is signed in for the first time, and their data is being fetched.
  case synchronising
  /// Their data could not be fetched.
  case synchronisationFailed
  /// The user is signed in.
  case success
}

/// Signing in, and keeping the token fresh.
@MainActor public final class AuthenticationCubit: Cubit<AuthenticationState> {
  private let source: any AccountsSource
  private let storage: any CubitStorage
  private let globals: Globals
  private let now: @Sendable () -> Int
  private var tokens: Twake.Authentication?
  /// The number of sign-ins and sign-outs: an answer from before the last one is dropped.
  private var session = 0
  /// The fetch of newer tokens in this session.
  private var refreshing: Task<String?, any Error>?

  /// Makes a cubit.
  ///
  /// - Parameter now: The time in seconds since 1970.
  public init(
    _ source: any AccountsSource, storage: any CubitStorage = MemoryCubitStorage(),
    globals: Globals, now: @escaping @Sendable () -> Int
  ) {
    self.source = source
    self.storage = storage
    self.globals = globals
    self.now = now
    super.init(.initial)
  }

  /// Signs in by name and password, then fetches the user's data. Answers that come after another
  /// sign-in or sign-out are dropped.
  public func authenticate(_ username: String, _ password: String) async {
    let former = session
    emit(.inProgress)
    do {
      let fresh = try await source.authenticate(username, password)
      guard session == former else { return }
      beginSession()
      await take(fresh)
    } catch {
      guard session == former else { return }
      emit(.failure(username: username, password: password))
      return
    }
    // One session after the former: no other has begun meanwhile.
    guard session == former + 1 else { return }
    emit(.synchronising)
    let isSynchronised = (try? await source.synchronise()) != nil
    guard session == former + 1 else { return }
    emit(isSynchronised ? .success : .synchronisationFailed)
  }

  /// Continues with the tokens of a former process, if they are still valid.
  public func checkAuthentication() async {
    let session = session
    emit(.inProgress)
    let kept: Twake.Authentication? = await storage.model("authentication")
    guard session == self.session else { return }
    guard let kept, kept.refreshExpiration > now() else {
      emit(.initial)
      return
    }
    tokens = kept
    globals.set { $0.token = kept.token }
    // Without a server the token that there is has to do.
    _ = try? await freshToken()
    if session == self.session { emit(.success) }
  }

  /// The token for requests, a newer one if it ends within a minute. Callers that come while it is being
  /// fetched wait for the same one.
  public func freshToken() async throws -> String? {
    guard let tokens else { return nil }
    guard tokens.expiration - now() < 60 else { return tokens.token }
    if let refreshing { return try await refreshing.value }
    let session = session
    let task = Task { try await refresh(tokens, session) }
    refreshing = task
    return try await task.value
  }

  private func refresh(_ former: Twake.Authentication, _ session: Int) async throws -> String? {
    defer { if session == self.session { refreshing = nil } }
    let fresh = try await source.refresh(former)
    // The user has signed out, or another has signed in, meanwhile.
    guard session == self.session else { return tokens?.token }
    await take(fresh)
    return fresh.token
  }

  /// Signs out, and forgets everything that is kept.
  public func logout() async {
    beginSession()
    let session = session
    globals.endSession()
    await storage.clear()
    if session == self.session { emit(.initial) }
  }

  private func beginSession() {
    tokens = nil
    refreshing = nil
    session += 1
  }

  private func take(_ fresh: Twake.Authentication) async {
    tokens = fresh
    globals.set { $0.token = fresh.token }
    await storage.write(fresh.json, for: "authentication")
  }
}

/// The state of a person's profile.
public enum AccountState: Sendable, Equatable {
  /// No account was asked for yet.
  case initial
  /// They are being fetched, and nothing is kept.
  case loading
  /// Here they are, kept or fetched.
  case loaded(Twake.Account)
}

/// People's profiles.
@MainActor public final class AccountCubit: Cubit<AccountState> {
  private let source: any AccountsSource
  private let storage: any CubitStorage
  private let globals: Globals
  private var visit = 0

  /// Makes a cubit.
  public init(
    _ source: any AccountsSource, storage: any CubitStorage = MemoryCubitStorage(),
    globals: Globals
  ) {
    self.source = source
    self.storage = storage
    self.globals = globals
    super.init(.initial)
  }

  /// Shows a person: as they are kept, then as the server has them. Without an id it is the user.
  public func fetch(_ id: String? = nil) async throws {
    visit += 1
    let visit = visit
    let session = globals.session
    emit(.loading)
    let kept = await fetchStateless(id)
    guard session == globals.session else { return }
    if let kept, visit == self.visit { emit(.loaded(kept)) }
    let account = try await source.account(id)
    guard session == globals.session else { return }
    await storage.write(account.json, for: Self.name(id))
    if visit == self.visit, session == globals.session { emit(.loaded(account)) }
  }

  /// Returns a person as they are kept; the state stays.
  public func fetchStateless(_ id: String?) async -> Twake.Account? {
    await storage.model(Self.name(id))
  }

  private static func name(_ id: String?) -> String { "account/" + (id ?? "") }
}

/// Counts of what is unread, summed up for channels, workspaces and companies.
@MainActor public final class BadgesCubit: Cubit<[Twake.Badge]> {
  /// A channel's place, for the sums above it.
  public struct Place: Sendable, Hashable {
    let companyID: String
    let workspaceID: String
    let channelID: String

    /// Names a channel.
    public init(companyID: String, workspaceID: String, channelID: String) {
      self.companyID = companyID
      self.workspaceID = workspaceID
      self.channelID = channelID
    }
  }

  private let fetchCounts: @Sendable () async throws -> [(place: Place, unread: Int)]

  /// Makes a cubit.
  ///
  /// - Parameter counts: Fetches the unread messages of each channel, such as from the gateway's badges.
  public init(_ counts: @escaping @Sendable () async throws -> [(place: Place, unread: Int)]) {
    fetchCounts = counts
    super.init([])
  }

  /// Fetches the counts, and shows them with their sums.
  public func fetch() async throws {
    var sums: [Key: Int] = [:]
    for (place, unread) in try await fetchCounts() {
      sums[Key(type: .channel, id: place.channelID), default: 0] += unread
      sums[Key(type: .workspace, id: place.workspaceID), default: 0] += unread
      sums[Key(type: .company, id: place.companyID), default: 0] += unread
    }
    let badges = sums.map { key, count in
      var badge = Twake.Badge()
      badge.type = key.type
      badge.id = key.id
      badge.count = count
      return badge
    }
    emit(
      badges.sorted {
        ($0.type.rawValue, $0.id) < ($1.type.rawValue, $1.id)
      })
  }

  /// The count of a place; 0 where nothing is known.
  public func count(_ type: Twake.BadgeType, _ id: String) -> Int {
    state.first { $0.matches(type: type, id: id) }?.count ?? 0
  }

  /// Fetches the counts again at each event that announces new ones, until the events end.
  public func listen(to events: some AsyncSequence<DomainEvent, Never> & Sendable) async {
    for await event in events where event == .badges { try? await fetch() }
  }

  private struct Key: Hashable {
    let type: Twake.BadgeType
    let id: String
  }
}
