public import ParleyDialectModels

/// The state of a list of channels.
public enum ChannelsState: Sendable, Equatable {
  /// Nothing was asked for yet.
  case initial
  /// They are being fetched, and none are kept.
  case loading
  /// They are here, kept or fetched, with the selected one.
  case loaded([Twake.Channel], selected: Twake.Channel?)
}

/// Channels of a workspace, or direct ones: listed, made, edited and deleted. Edits and deletions are shown
/// at once, and taken back if the server does not take them.
@MainActor public final class ChannelsCubit: Cubit<ChannelsState> {
  private let source: any ChannelsSource
  private let storage: any CubitStorage
  private let globals: Globals
  private var list = OptimisticList<Twake.Channel> { $0.id }
  private var selected: String?
  private var place: (companyID: String, workspaceID: String)?
  private var visit = 0
  /// The session whose channels these are.
  private var session = 0

  /// Makes a cubit; one for the channels of a workspace, another for direct ones.
  public init(
    _ source: any ChannelsSource, storage: any CubitStorage = MemoryCubitStorage(),
    globals: Globals
  ) {
    self.source = source
    self.storage = storage
    self.globals = globals
    super.init(.initial)
  }

  /// Shows the channels of a workspace: those that are kept, then the server's.
  ///
  /// - Parameter workspaceID: The workspace, or `direct`.
  /// - Throws: The source's error; what is kept stays shown.
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

  /// Makes a channel, and selects it. It is shown once the server has made it, for it has no id before.
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

  /// Changes a channel. It is shown at once.
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

  /// Deletes a channel. It is gone at once.
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

  /// Adds members. The count is shown at once.
  public func add(_ users: [String], to channel: Twake.Channel) async throws {
    try await count(users.count, channel) { [source] in try await source.add(users, to: channel) }
  }

  /// Removes members. The count is shown at once.
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

  /// Selects none.
  public func clearSelection() {
    selected = nil
    globals.set { $0.channelID = nil }
    show()
  }

  // MARK: What others do

  /// Follows changes of channels and what happens in them, as ``DomainRouter`` tells it, until the events
  /// end.
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
      case .groupInfo, .members:
        guard let place else { continue }
        try? await fetch(companyID: place.companyID, workspaceID: place.workspaceID)
      default: continue
      }
    }
  }

  // MARK: Showing

  /// Whether an answer is for what is shown now, and for the person who is signed in.
  private func isCurrent(_ visit: Int) -> Bool {
    visit == self.visit && session == globals.session
  }

  private func show() {
    let channels = list.shown
    emit(.loaded(channels, selected: channels.first { $0.id == selected }))
  }

  private func shown() async {
    // Once the user has signed out, nothing of theirs is kept.
    guard session == globals.session else { return }
    show()
    await storage.keep(list.base, as: name)
  }

  private var name: String { "channels/\(place?.companyID ?? "")/\(place?.workspaceID ?? "")" }
}
