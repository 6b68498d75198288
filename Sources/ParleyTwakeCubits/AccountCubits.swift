public import ParleyDialectModels

/// The state of authentication.
public enum AuthenticationState: Sendable, Equatable {
  /// No user is signed in.
  case initial
  /// A request to the server is pending.
  case inProgress
  /// The server rejected the name and password; contains both for another attempt.
  case failure(username: String, password: String)
  /// The user has signed in, and their data is being fetched.
  case synchronising
  /// The user's data could not be fetched.
  case synchronisationFailed
  /// The user is signed in.
  case success
}

/// The cubit for signing in and refreshing tokens.
@MainActor public final class AuthenticationCubit: Cubit<AuthenticationState> {
  private let source: any AccountsSource
  private let storage: any CubitStorage
  private let globals: Globals
  private let now: @Sendable () -> Int
  private var tokens: Twake.Authentication?
  /// The number of sign-ins and sign-outs; responses from before the last one are dropped.
  private var session = 0
  /// The running refresh of this session's tokens.
  private var refreshing: Task<String?, any Error>?

  /// Creates a cubit.
  ///
  /// - Parameter now: Returns the time in seconds since 1970.
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

  /// Signs in by name and password, then fetches the user's data. Responses that arrive after
  /// another sign-in or sign-out are dropped.
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
    // Only this sign-in may have started a session meanwhile.
    guard session == former + 1 else { return }
    emit(.synchronising)
    var isSynchronised = (try? await source.synchronise()) != nil
    if isSynchronised { isSynchronised = await identify(former + 1) }
    guard session == former + 1 else { return }
    emit(isSynchronised ? .success : .synchronisationFailed)
  }

  /// Restores the tokens of an earlier process, if they are still valid.
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
    let known: Twake.Account? = await storage.model(AccountCubit.name(nil))
    guard session == self.session else { return }
    if let known { globals.set { $0.userID = known.id } }
    // If the server is unreachable, continue with the stored token.
    if (try? await freshToken()) != nil, known == nil { _ = await identify(session) }
    if session == self.session { emit(.success) }
  }

  /// Fetches the user's account, and stores it: its id is the sender of the user's messages and
  /// reactions.
  ///
  /// - Returns: Whether it is known.
  private func identify(_ session: Int) async -> Bool {
    guard let account = try? await source.account(nil), session == self.session else {
      return false
    }
    globals.set { $0.userID = account.id }
    await storage.write(account.json, for: AccountCubit.name(nil))
    return true
  }

  /// Returns the token for requests, after a refresh if it expires within a minute. Concurrent
  /// callers share one refresh.
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
    // Meanwhile the user has signed out, or another one has signed in.
    guard session == self.session else { return tokens?.token }
    await take(fresh)
    return fresh.token
  }

  /// Signs out, and deletes all stored data.
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
  /// No account was requested yet.
  case initial
  /// The account is being fetched.
  case loading
  /// The account, stored or fetched.
  case loaded(Twake.Account)
}

/// The cubit for people's profiles.
@MainActor public final class AccountCubit: Cubit<AccountState> {
  private let source: any AccountsSource
  private let storage: any CubitStorage
  private let globals: Globals
  private var visit = 0

  /// Creates a cubit.
  public init(
    _ source: any AccountsSource, storage: any CubitStorage = MemoryCubitStorage(),
    globals: Globals
  ) {
    self.source = source
    self.storage = storage
    self.globals = globals
    super.init(.initial)
  }

  /// Shows a person: the stored profile, then the server's. Without an id, it is the user's.
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
    guard session == globals.session else { return }
    if id == nil { globals.set { $0.userID = account.id } }
    if visit == self.visit { emit(.loaded(account)) }
  }

  /// Returns a person's stored profile, without changing the state.
  public func fetchStateless(_ id: String?) async -> Twake.Account? {
    await storage.model(Self.name(id))
  }

  static func name(_ id: String?) -> String { "account/" + (id ?? "") }
}

/// The cubit for unread counts, summed for channels, workspaces and companies.
@MainActor public final class BadgesCubit: Cubit<[Twake.Badge]> {
  /// A channel with the workspace and the company that contain it.
  public struct Place: Sendable, Hashable {
    let companyID: String
    let workspaceID: String
    let channelID: String

    /// Creates a place.
    public init(companyID: String, workspaceID: String, channelID: String) {
      self.companyID = companyID
      self.workspaceID = workspaceID
      self.channelID = channelID
    }
  }

  private let fetchCounts: @Sendable () async throws -> [(place: Place, unread: Int)]

  /// Creates a cubit.
  ///
  /// - Parameter counts: Fetches the unread messages of each channel, for example from the
  ///   gateway's badges.
  public init(_ counts: @escaping @Sendable () async throws -> [(place: Place, unread: Int)]) {
    fetchCounts = counts
    super.init([])
  }

  /// Fetches the counts, and shows them with the sums.
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

  /// Returns the count of a channel, workspace or company; 0 if unknown.
  public func count(_ type: Twake.BadgeType, _ id: String) -> Int {
    state.first { $0.matches(type: type, id: id) }?.count ?? 0
  }

  /// Fetches the counts again at each `badges` or `missed` event, until the events end.
  public func listen(to events: some AsyncSequence<DomainEvent, Never> & Sendable) async {
    for await event in events {
      switch event {
      case .badges, .missed: try? await fetch()
      default: break
      }
    }
  }

  private struct Key: Hashable {
    let type: Twake.BadgeType
    let id: String
  }
}
