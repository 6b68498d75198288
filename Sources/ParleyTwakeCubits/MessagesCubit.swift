public import ParleyDialectModels
import ParleyJSON

/// The state of a channel's or a thread's messages.
public enum MessagesState: Sendable, Equatable {
  /// Nothing was requested yet.
  case initial
  /// The messages are being fetched, and none are stored.
  case loading
  /// Earlier messages are being fetched.
  case loadingBefore(Shown)
  /// The messages, stored or fetched.
  case loaded(Shown)

  /// Messages as they are shown.
  public struct Shown: Sendable, Equatable {
    /// The messages, oldest first, including those being sent.
    public var messages: [Twake.Message]
    /// The first message of the thread.
    public var parent: Twake.Message?

    /// A hash of the shown messages.
    public var hash: Int { messages.reduce(parent?.hash ?? 0) { $0 &+ $1.hash } }
  }
}

/// The cubit for messages of a channel or a thread: loads, sends, edits, deletes and reacts to
/// them. Changes by the user are shown at once, and reverted if the server rejects them.
@MainActor public final class MessagesCubit: Cubit<MessagesState> {
  private let source: any MessagesSource
  private let storage: any CubitStorage
  private let globals: Globals
  private let now: @Sendable () -> Int
  private var place: MessagesPlace?
  private var list = OptimisticList<Twake.Message> { $0.id }
  private var parent: Twake.Message?
  /// The number of the current place; responses for a former one are dropped.
  private var visit = 0
  /// The session in which the messages were fetched.
  private var session = 0

  /// Creates a cubit.
  ///
  /// - Parameter now: Returns the time in milliseconds since 1970, shown for messages until the
  ///   server sets it.
  public init(
    _ source: any MessagesSource, storage: any CubitStorage = MemoryCubitStorage(),
    globals: Globals, now: @escaping @Sendable () -> Int
  ) {
    self.source = source
    self.storage = storage
    self.globals = globals
    self.now = now
    super.init(.initial)
  }

  // MARK: Loading

  /// Shows a channel's or a thread's messages: the stored ones, then the server's.
  ///
  /// - Throws: The source's error; stored messages remain shown.
  public func fetch(channelID: String, threadID: String? = nil) async throws {
    let place = MessagesPlace(channelID: channelID, threadID: threadID)
    if place != self.place || session != globals.session {
      let shown = session == globals.session ? list.shown : []
      session = globals.session
      self.place = place
      visit += 1
      list.clear()
      parent = threadID.flatMap { id in shown.first { $0.id == id } }
      emit(.loading)
    }
    let visit = visit
    if list.base.isEmpty, let kept: [Twake.Message] = await storage.list(Self.name(place)) {
      guard isCurrent(visit) else { return }
      if list.base.isEmpty { put(kept) }
    }
    let fetched = try await source.messages(in: place, before: nil)
    guard isCurrent(visit) else { return }
    // Drop messages of this range that the server no longer has, but not earlier ones.
    let first = fetched.map(\.creationDate).min() ?? .min
    list.replace(list.base.filter { $0.creationDate < first })
    put(fetched)
    await keep()
  }

  /// Fetches the messages before the first shown one.
  public func fetchBefore() async throws {
    guard let place, case .loaded(let shown) = state, let first = list.base.first else { return }
    let visit = visit
    emit(.loadingBefore(shown))
    do {
      let fetched = try await source.messages(in: place, before: first)
      guard isCurrent(visit) else { return }
      put(fetched)
      await keep()
    } catch {
      if isCurrent(visit) { show() }
      throw error
    }
  }

  // MARK: Changing

  /// Sends a message. It is shown at once.
  ///
  /// - Throws: The source's error; the message is then hidden again.
  public func send(_ text: String, attachments: [Twake.File] = []) async throws {
    guard let place else { return }
    let key = RequestKey.make()
    var draft = Twake.Message()
    draft.id = "sending:" + key
    draft.channelID = place.channelID
    draft.threadID = place.threadID
    draft.userID = globals.state.userID
    draft.creationDate = now()
    draft.modificationDate = draft.creationDate
    draft.content.originalText = text
    let shown = draft
    try await change {
      $0 + [shown]
    } making: { [source] in
      try await source.send(text, attachments: attachments, to: place, key: key)
    } then: { list, sent in
      list.merge([sent])
    }
  }

  /// Edits a message's text. The change is shown at once.
  ///
  /// - Throws: The source's error; the former text is then shown again.
  public func edit(
    _ message: Twake.Message, text: String, attachments: [Twake.File] = []
  ) async throws {
    let time = now()
    try await change {
      $0.map { shown in
        guard shown.id == message.id else { return shown }
        var edited = shown
        edited.content.originalText = text
        edited.modificationDate = time
        return edited
      }
    } making: { [source] in
      try await source.edit(message, text: text, attachments: attachments)
    } then: { list, edited in
      list.merge([edited])
    }
  }

  /// Sets the user's reaction, or removes it if it was already set. Each user has at most one
  /// reaction to a message. The change is shown at once.
  ///
  /// - Throws: The source's error; the former reactions are then shown again.
  public func react(to message: Twake.Message, _ reaction: String) async throws {
    let user = globals.state.userID ?? ""
    let isBack =
      list.shown.first { $0.id == message.id }?
      .reactions.contains { $0.name == reaction && $0.users.contains(user) } ?? false
    let chosen = isBack ? "" : reaction
    let apply: @Sendable ([Twake.Message]) -> [Twake.Message] = { messages in
      messages.map { $0.id == message.id ? $0.reacted(by: user, chosen) : $0 }
    }
    try await change(apply) { [source] in
      try await source.react(to: message, chosen)
    } then: { list, _ in
      list.replace(apply(list.base))
    }
  }

  /// Deletes a message. It is hidden at once.
  ///
  /// - Throws: The source's error; the message is then shown again.
  public func delete(_ message: Twake.Message) async throws {
    try await change {
      $0.filter { $0.id != message.id }
    } making: { [source] in
      try await source.delete(message)
    } then: { list, _ in
      list.remove(message.id)
    }
  }

  /// Shows a change, sends it, and shows the result.
  private func change<Answer: Sendable>(
    _ apply: @escaping ([Twake.Message]) -> [Twake.Message],
    making make: @Sendable () async throws -> Answer,
    then finish: (inout OptimisticList<Twake.Message>, Answer) -> Void
  ) async throws {
    let visit = visit
    let number = list.begin(apply)
    show()
    do {
      let answer = try await make()
      guard isCurrent(visit) else { return }
      list.end(number)
      finish(&list, answer)
      sort()
      show()
      await keep()
    } catch {
      if isCurrent(visit) {
        list.end(number)
        show()
      }
      throw error
    }
  }

  // MARK: Threads, and changes by others

  /// Selects a thread.
  public func selectThread(_ messageID: String) { globals.set { $0.threadID = messageID } }

  /// Clears the selected thread.
  public func clearSelectedThread() { globals.set { $0.threadID = nil } }

  /// Applies message events from `DomainRouter` that concern the shown place, until the events
  /// end. A reply is shown in its thread; in the channel it changes the number of replies of the
  /// thread's first message.
  public func listen(to events: some AsyncSequence<DomainEvent, Never> & Sendable) async {
    for await event in events {
      if case .missed(let room) = event { await fetchMissed(in: room) }
      guard case .message(let action, let id, let room, let thread, let content) = event, let place,
        session == globals.session
      else { continue }
      let channel = content?["channel_id"]?.string ?? Twake.channelID(inRoom: room)
      guard channel == nil || channel == place.channelID,
        let shown = target(of: id, thread: thread, in: place)
      else { continue }
      let visit = visit
      if action == .deleted, shown == id {
        list.remove(id)
        if parent?.id == id { parent = nil }
        show()
      } else if let message = try? await source.message(shown, in: place), isCurrent(visit) {
        take(message, in: place)
      }
      await keep()
    }
  }

  /// Fetches the shown messages again if events of their room may be missing.
  private func fetchMissed(in room: String?) async {
    guard let place, session == globals.session else { return }
    let channel = room.flatMap { Twake.channelID(inRoom: $0) }
    guard channel == nil || channel == place.channelID else { return }
    try? await fetch(channelID: place.channelID, threadID: place.threadID)
  }

  /// Returns the id of the message, shown in a place, that an event concerns; `nil` for none.
  private func target(of id: String, thread: String?, in place: MessagesPlace) -> String? {
    func isShown(_ id: String) -> Bool { list.base.contains { $0.id == id } }
    let first = thread ?? id
    guard let shownThread = place.threadID else {
      return first == id || isShown(first) ? first : nil
    }
    // Some events do not name the thread.
    return first == shownThread || isShown(id) ? id : nil
  }

  /// Shows a fetched message if it belongs to a place.
  private func take(_ message: Twake.Message, in place: MessagesPlace) {
    if message.id == place.threadID {
      parent = message
      if list.base.contains(where: { $0.id == message.id }) { list.merge([message]) }
      show()
    } else if message.threadID == place.threadID || message.threadID == message.id {
      put([message])
    }
  }

  // MARK: Showing

  /// Whether a response belongs to the shown messages and the signed-in user.
  private func isCurrent(_ visit: Int) -> Bool {
    visit == self.visit && session == globals.session
  }

  private func put(_ messages: [Twake.Message]) {
    list.merge(messages)
    sort()
    show()
  }

  private func sort() { list.sort { $0.creationDate < $1.creationDate } }

  private func show() {
    emit(.loaded(MessagesState.Shown(messages: list.shown, parent: parent)))
  }

  private func keep() async {
    // After the user has signed out, store nothing of theirs.
    guard let place, session == globals.session else { return }
    await storage.keep(Array(list.base.suffix(Self.keptMax)), as: Self.name(place))
  }

  /// Maximum stored messages of a place.
  private static let keptMax = 1_000

  private static func name(_ place: MessagesPlace) -> String {
    "messages/\(place.channelID)/\(place.threadID ?? "")"
  }
}

extension Twake.Message {
  /// Returns the message after a user has set a reaction; an empty one removes the user's reaction.
  func reacted(by user: String, _ reaction: String) -> Twake.Message {
    var message = self
    for index in message.reactions.indices where message.reactions[index].users.contains(user) {
      message.reactions[index].users.removeAll { $0 == user }
      message.reactions[index].count -= 1
    }
    if !reaction.isEmpty {
      if let index = message.reactions.firstIndex(where: { $0.name == reaction }) {
        message.reactions[index].users.append(user)
        message.reactions[index].count += 1
      } else {
        var chosen = Twake.Reaction()
        chosen.name = reaction
        chosen.users = [user]
        chosen.count = 1
        message.reactions.append(chosen)
      }
    }
    message.reactions.removeAll { $0.count <= 0 }
    return message
  }
}
