public import ParleyDialectModels

/// The state of a list of channels.
public enum ChannelsState: Sendable, Equatable {
  /// Nothing was requested yet.
  case initial
  /// The channels are being fetched, and none are stored.
  case loading
  /// The channels, stored or fetched, with the selected one.
  case loaded([Twake.Channel], selected: Twake.Channel?)
}

/// The cubit for a workspace's channels, or direct ones: lists, creates, edits and deletes them.
/// Edits and deletions are shown at once, and reverted if the server rejects them.
@MainActor public final class ChannelsCubit: Cubit<ChannelsState> {
  private let source: any ChannelsSource
  private let storage: any CubitStorage
  private let globals: Globals
  private var list = OptimisticList<Twake.Channel> { $0.id }
  private var selected: String?
  private var place: (companyID: String, workspaceID: String)?
  private var visit = 0
  /// The session in which the channels were fetched.
  private var session = 0

  /// Creates a cubit. Use one for a workspace's channels, another for direct ones.
  public init(
    _ source: any ChannelsSource, storage: any CubitStorage = MemoryCubitStorage(),
    globals: Globals
  ) {
    self.source = source
    self.storage = storage
    self.globals = globals
    super.init(.initial)
  }

  /// Shows the channels of a workspace: the stored ones, then the server's.
  ///
  /// - Parameter workspaceID: The workspace, or `direct`.
  /// - Throws: The source's error; stored channels remain shown.
  public func fetch(companyID: String, workspaceID: String) async throws {
    if session != globals.session || place.map({ $0 != (companyID, workspaceID) }) ?? true {
      session = globals.session
      place = (companyID, workspaceID)
      visit += 1
      list.clear()
      selected = nil
      emit(.loading)
    }
    let visit = visit
    if list.base.isEmpty, let kept: [Twake.Channel] = await storage.list(name) {
      guard isCurrent(visit) else { return }
      if list.base.isEmpty {
        list.replace(kept)
        show()
      }
    }
    let fetched = try await source.channels(companyID: companyID, workspaceID: workspaceID)
    guard isCurrent(visit) else { return }
    list.replace(fetched)
    await shown()
  }

  // MARK: Changing

  /// Creates a channel, and selects it. It is shown once the server has assigned its id.
  public func create(
    name: String, icon: String? = nil, description: String? = nil,
    visibility: Twake.ChannelVisibility
  ) async throws {
    guard let place else { return }
    var channel = Twake.Channel()
    (channel.companyID, channel.workspaceID) = place
    channel.name = name
    channel.icon = icon
    channel.description = description
    channel.visibility = visibility
    let visit = visit
    let made = try await source.create(channel, key: RequestKey.make())
    guard isCurrent(visit) else { return }
    list.merge([made])
    select(made.id)
    await shown()
  }

  /// Edits a channel. The change is shown at once.
  public func edit(
    _ channel: Twake.Channel, name: String, icon: String?, description: String?,
    visibility: Twake.ChannelVisibility
  ) async throws {
    var edited = channel
    edited.name = name
    edited.icon = icon
    edited.description = description
    edited.visibility = visibility
    let wanted = edited
    try await change {
      $0.map { $0.id == wanted.id ? wanted : $0 }
    } making: { [source] in
      try await source.edit(wanted)
    } then: {
      $0.merge([$1])
    }
  }

  /// Deletes a channel. It is hidden at once.
  public func delete(_ channel: Twake.Channel) async throws {
    try await change {
      $0.filter { $0.id != channel.id }
    } making: { [source] in
      try await source.delete(channel)
    } then: { list, _ in
      list.remove(channel.id)
    }
    if selected == channel.id, session == globals.session { clearSelection() }
  }

  // MARK: Members

  /// Fetches a channel's members.
  public func members(of channel: Twake.Channel) async throws -> [Twake.Account] {
    try await source.members(of: channel)
  }

  /// Adds members. The new count is shown at once.
  public func add(_ users: [String], to channel: Twake.Channel) async throws {
    try await count(users.count, channel) { [source] in try await source.add(users, to: channel) }
  }

  /// Removes members. The new count is shown at once.
  public func remove(_ users: [String], from channel: Twake.Channel) async throws {
    try await count(-users.count, channel) { [source] in
      try await source.remove(users, from: channel)
    }
  }

  private func count(
    _ difference: Int, _ channel: Twake.Channel, _ make: @Sendable () async throws -> Void
  ) async throws {
    let apply: @Sendable ([Twake.Channel]) -> [Twake.Channel] = { channels in
      channels.map { shown in
        guard shown.id == channel.id else { return shown }
        var shown = shown
        shown.membersCount = max(0, shown.membersCount + difference)
        return shown
      }
    }
    try await change(apply, making: make) { list, _ in list.replace(apply(list.base)) }
  }

  private func change<Answer: Sendable>(
    _ apply: @escaping ([Twake.Channel]) -> [Twake.Channel],
    making make: @Sendable () async throws -> Answer,
    then finish: (inout OptimisticList<Twake.Channel>, Answer) -> Void
  ) async throws {
    let visit = visit
    let number = list.begin(apply)
    show()
    do {
      let answer = try await make()
      guard isCurrent(visit) else { return }
      list.end(number)
      finish(&list, answer)
      await shown()
    } catch {
      if isCurrent(visit) {
        list.end(number)
        show()
      }
      throw error
    }
  }

  // MARK: Selecting

  /// Selects a channel.
  public func select(_ id: String) {
    selected = id
    globals.set { $0.channelID = id }
    show()
  }

  /// Clears the selection.
  public func clearSelection() {
    selected = nil
    globals.set { $0.channelID = nil }
    show()
  }

  // MARK: Changes by others

  /// Applies events of channels from `DomainRouter`, until the events end.
  public func listen(to events: some AsyncSequence<DomainEvent, Never> & Sendable) async {
    for await event in events where session == globals.session {
      switch event {
      case .activity(let place, let time, let last):
        guard var channel = list.base.first(where: { $0.id == place }) else { continue }
        channel.lastActivity = max(channel.lastActivity, time)
        channel.lastMessage = last ?? channel.lastMessage
        list.merge([channel])
        await shown()
      case .groupInfo(.deleted, let place, _):
        list.remove(place)
        if selected == place { clearSelection() }
        await shown()
      case .groupInfo, .members, .missed:
        guard let place else { continue }
        try? await fetch(companyID: place.companyID, workspaceID: place.workspaceID)
      default: continue
      }
    }
  }

  // MARK: Showing

  /// Whether a response belongs to the shown channels and the signed-in user.
  private func isCurrent(_ visit: Int) -> Bool {
    visit == self.visit && session == globals.session
  }

  private func show() {
    let channels = list.shown
    emit(.loaded(channels, selected: channels.first { $0.id == selected }))
  }

  private func shown() async {
    // After the user has signed out, store nothing of theirs.
    guard session == globals.session else { return }
    show()
    await storage.keep(list.base, as: name)
  }

  private var name: String { "channels/\(place?.companyID ?? "")/\(place?.workspaceID ?? "")" }
}
