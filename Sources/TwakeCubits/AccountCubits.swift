public import DialectModels

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

  /// Signs in by name and password, then fetches the user's data.
  public func authenticate(_ username: String, _ password: String) async {
    emit(.inProgress)
    do {
      await take(try await source.authenticate(username, password))
    } catch {
      emit(.failure(username: username, password: password))
      return
    }
    emit(.synchronising)
    do {
      try await source.synchronise()
      emit(.success)
    } catch {
      emit(.synchronisationFailed)
    }
  }

  /// Goes on with the tokens of a former process, if there are any that count.
  public func checkAuthentication() async {
    emit(.inProgress)
    guard let kept: Twake.Authentication = await storage.model("authentication"),
      kept.refreshExpiration > now()
    else {
      emit(.initial)
      return
    }
    tokens = kept
    globals.set { $0.token = kept.token }
    // Without a server the token that there is has to do.
    _ = try? await freshToken()
    emit(.success)
  }

  /// The token for requests, a newer one if it ends within a minute.
  public func freshToken() async throws -> String? {
    guard let tokens else { return nil }
    guard tokens.expiration - now() < 60 else { return tokens.token }
    let fresh = try await source.refresh(tokens)
    // Somebody has signed out, or in, meanwhile.
    guard self.tokens == tokens else { return self.tokens?.token }
    await take(fresh)
    return fresh.token
  }

  /// Signs out, and forgets everything that is kept.
  public func logout() async {
    tokens = nil
    globals.set { $0 = Globals.Values() }
    await storage.clear()
    emit(.initial)
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
  private var visit = 0

  /// Makes a cubit.
  public init(_ source: any AccountsSource, storage: any CubitStorage = MemoryCubitStorage()) {
    self.source = source
    self.storage = storage
    super.init(.initial)
  }

  /// Shows a person: as they are kept, then as the server has them. Without an id it is the user.
  public func fetch(_ id: String? = nil) async throws {
    visit += 1
    let visit = visit
    emit(.loading)
    if let kept = await fetchStateless(id), visit == self.visit { emit(.loaded(kept)) }
    let account = try await source.account(id)
    await storage.write(account.json, for: Self.name(id))
    if visit == self.visit { emit(.loaded(account)) }
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

  /// Fetches the counts anew at each event that says so, until the events end.
  public func listen(to events: some AsyncSequence<DomainEvent, Never> & Sendable) async {
    for await event in events where event == .badges { try? await fetch() }
  }

  private struct Key: Hashable {
    let type: Twake.BadgeType
    let id: String
  }
}
