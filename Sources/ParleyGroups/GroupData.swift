import ParleyJSON
public import ParleyClient
public import ParleyOffline
import Synchronization

/// Groups with their members, messages and likes, stored on the device and editable offline:
/// changes are shown at once, wait on disk, and are sent to the gateway once.
///
///     let data = try GroupData(store, user: "u-ann", "https://notes.example.org/api") { _ in token }
///     for try await groups in data.fetchAllGroups() { show(groups) }
///
/// Changes that the gateway refuses are listed in `outbox.problems` until they are decided on; a
/// refused like is discarded automatically.
public final class GroupData: Sendable {
  /// The changes that wait for the gateway.
  public let outbox: Outbox
  /// The groups to which the person belongs.
  public let groups: Repository<ChatGroup>
  /// Members, by group.
  public let members: Repository<ChatMember>
  /// Messages, by group.
  public let messages: Repository<ChatLine>

  private let service: RESTService
  private let person: Person
  private let rollback: Task<Void, Never>

  /// The current user of the app, for requests.
  private final class Person: Sendable {
    let id: Mutex<String>
    init(_ id: String) { self.id = Mutex(id) }
  }

  /// Opens the group data in a store.
  ///
  /// - Parameters:
  ///   - user: The id of the current user, as in their tokens.
  ///   - base: The gateway's API, `https://notes.example.org/api`.
  ///   - credentials: Returns the signed-in user's token; see `RESTService`.
  public init(
    _ store: OfflineStore, user: String, _ base: String,
    transport: any WebTransport = SystemWebTransport(),
    settings: OutboxSettings = OutboxSettings(), credentials: CredentialsSource?
  ) throws(OfflineStoreError) {
    let person = Person(user)
    let routes = GroupRoutes(base, transport: transport) { person.id.withLock { $0 } }
    let service = RESTService(base, transport: routes, credentials: credentials)
    let outbox = try Outbox(store, user: user, sender: service, settings: settings)
    self.person = person
    self.service = service
    self.outbox = outbox
    groups = Repository(RESTSource(service, "groups"), "groups", in: outbox)
    members = Repository(RESTSource(service, "members"), "members", in: outbox)
    messages = Repository(RESTSource(service, "messages"), "messages", in: outbox)
    rollback = Task {
      for await problems in await outbox.problems {
        for problem in problems
        where problem.draft.resource == "messages" && problem.draft.kind == .update {
          try? await outbox.decide(problem, .discard)
        }
      }
    }
  }

  deinit { rollback.cancel() }

  /// The name of a group's room.
  public static func room(of group: ResourceID) -> String { "/group/\(group)" }

  // MARK: Signing in

  /// Changes the current user; changes of the former one wait until that user returns.
  public func use(by user: String) async {
    person.id.withLock { $0 = user }
    service.signOut()
    await outbox.use(by: user)
  }

  // MARK: Reading

  /// Returns the person's groups, now and after each change.
  public func fetchAllGroups(
    _ policy: FetchPolicy = .cacheThenNetwork
  ) -> FetchedValues<ChatGroup, [ChatGroup]> {
    groups.fetchAll(policy)
  }

  /// Returns one group, now and after each change.
  public func fetchInfo(of group: ResourceID) -> FetchedValues<ChatGroup, ChatGroup?> {
    groups.fetchSingle(group)
  }

  /// Returns a group's members, now and after each change.
  public func fetchMembers(
    of group: ResourceID, _ policy: FetchPolicy = .cacheThenNetwork
  ) -> FetchedValues<ChatMember, [ChatMember]> {
    members.fetchSubset(["group": group.description], policy) { $0.group == group }
  }

  /// Returns a group's newest 20 and waiting messages, oldest first, now and after each change.
  public func fetchMessages(
    of group: ResourceID, _ policy: FetchPolicy = .cacheThenNetwork
  ) -> FetchedValues<ChatLine, [ChatLine]> {
    messages.fetchSubset(["group": group.description], policy) { $0.group == group }
  }

  /// Returns the 20 messages before one, oldest first; they are not stored.
  public func messages(before line: ChatLine) async throws(FetchError) -> [ChatLine] {
    try await page("before", line)
  }

  /// Returns the 20 messages after one, oldest first; they are not stored.
  public func messages(since line: ChatLine) async throws(FetchError) -> [ChatLine] {
    try await page("since", line)
  }

  private func page(_ name: String, _ line: ChatLine) async throws(FetchError) -> [ChatLine] {
    guard let (group, offset) = PairID.parts(line.id.description), !line.id.isTemporary else {
      return []
    }
    let source = RESTSource<ChatLine>(service, "messages")
    return try await source.fetch(
      .subset(["group": group, name: offset]), as: await outbox.user)
  }

  // MARK: Groups

  /// Creates a group with the person as its first member.
  @discardableResult
  public func createGroup(_ group: ChatGroup) async throws(OutboxError) -> MutationSteps {
    try await groups.save(group)
  }

  /// Changes a group's name.
  @discardableResult
  public func changeName(
    of group: ResourceID, to name: String
  ) async throws(OutboxError) -> MutationSteps? {
    try await groups.change(group) { $0.name = name }
  }

  /// Changes a group's picture.
  @discardableResult
  public func changePicture(
    of group: ResourceID, to picture: String
  ) async throws(OutboxError) -> MutationSteps? {
    try await groups.change(group) { $0.picture = picture }
  }

  /// Deletes a group.
  @discardableResult
  public func deleteGroup(_ group: ResourceID) async throws(OutboxError) -> MutationSteps {
    try await groups.delete(group)
  }

  // MARK: Members

  /// Adds members. The group's own create may still wait for the server.
  public func add(_ people: [ChatMember]) async throws(OutboxError) {
    for member in people { try await members.save(member) }
  }

  /// Removes a member.
  @discardableResult
  public func remove(_ member: ResourceID) async throws(OutboxError) -> MutationSteps {
    try await members.delete(member)
  }

  /// Changes a member's nickname.
  @discardableResult
  public func changeNickname(
    of member: ResourceID, to nickname: String
  ) async throws(OutboxError) -> MutationSteps? {
    try await members.change(member) { $0.nickname = nickname }
  }

  // MARK: Messages

  /// Sends a message.
  @discardableResult
  public func send(
    _ text: String, to group: ResourceID, attachments: [String]? = nil
  ) async throws(OutboxError) -> MutationSteps {
    let id = await outbox.canonical(group)
    return try await messages.save(ChatLine(group: id, text: text, attachments: attachments))
  }

  /// Sets this person's reaction to a message, by default a like.
  @discardableResult
  public func like(
    _ message: ResourceID, _ reaction: String = "like"
  ) async throws(OutboxError) -> MutationSteps? {
    try await messages.change(message) { $0.reaction = reaction }
  }

  /// Removes this person's reaction.
  @discardableResult
  public func unlike(_ message: ResourceID) async throws(OutboxError) -> MutationSteps? {
    try await messages.change(message) { $0.reaction = "" }
  }

  /// Marks a message and all earlier ones as read.
  public func markRead(_ message: ResourceID) async throws(OutboxError) {
    guard let (group, offset) = PairID.parts(message.description), !message.isTemporary,
      let offset = Int(offset)
    else { return }
    try await groups.perform("read", on: ResourceID(group), ["offset": offset])
  }

  // MARK: Changes by others

  /// Follows a group's room until the task is cancelled: each list is fetched again after a change
  /// that affects it.
  ///
  ///     let task = Task { await data.follow(group, parley.room(GroupData.room(of: group)).updates) }
  public func follow(_ updates: Updates<RoomUpdate>) async {
    for await update in updates { await receive(update) }
  }

  /// Handles an update of a group's room.
  public func receive(_ update: RoomUpdate) async {
    guard case .publication(let publication) = update else {
      await changed()
      return
    }
    let subject = JSONFields(publication.json)?["subject"]?.fields
    let event = subject?["event"]?.fields?["type"]?.string
    if event?.hasPrefix("membership.") ?? false { await members.refresh() }
    await groups.refresh()
    // This device's own messages are already shown.
    if publication.senderID != outbox.senderID || event != nil { await messages.refresh() }
  }

  /// Fetches all shown lists again, after a `resourceUpdate` of the group's room or a gap.
  public func changed() async {
    await groups.refresh()
    await members.refresh()
    await messages.refresh()
  }
}
