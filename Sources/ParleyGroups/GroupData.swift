import ParleyJSON
public import ParleyClient
public import ParleyOffline
import Synchronization

/// Groups with their members, messages and likes, kept on the device and changed without a server: what is
/// done is shown at once, waits on the disk, and reaches the gateway once.
///
///     let data = try GroupData(store, user: "u-ann", "https://notes.example.org/api") { _ in token }
///     for try await groups in data.fetchAllGroups() { show(groups) }
///
/// Whatever the gateway refuses is among `outbox.problems` until it is decided on; a like that is refused is
/// taken back by itself.
public final class GroupData: Sendable {
  /// The changes on their way.
  public let outbox: Outbox
  /// The groups that the person is in.
  public let groups: Repository<ChatGroup>
  /// Members, by group.
  public let members: Repository<ChatMember>
  /// Messages, by group.
  public let messages: Repository<ChatLine>

  private let service: RESTService
  private let person: Person
  private let rollback: Task<Void, Never>

  /// The person who uses the app, for requests.
  private final class Person: Sendable {
    let id: Mutex<String>
    init(_ id: String) { self.id = Mutex(id) }
  }

  /// Opens what the store has.
  ///
  /// - Parameters:
  ///   - user: The id of the person who uses the app, as their tokens name it.
  ///   - base: The gateway's interface, `https://notes.example.org/api`.
  /// - credentials: Gives the token of the person who is signed in; see ``RESTService``.
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

  /// Another person uses the app; changes of the former one wait for them.
  public func use(by user: String) async {
    person.id.withLock { $0 = user }
    service.signOut()
    await outbox.use(by: user)
  }

  // MARK: Reading

  /// The person's groups, now and whenever they change.
  public func fetchAllGroups(
    _ policy: FetchPolicy = .cacheThenNetwork
  ) -> FetchedValues<ChatGroup, [ChatGroup]> {
    groups.fetchAll(policy)
  }

  /// Follows one group, now and whenever it changes.
  public func fetchInfo(of group: ResourceID) -> FetchedValues<ChatGroup, ChatGroup?> {
    groups.fetchSingle(group)
  }

  /// A group's members, now and whenever they change.
  public func fetchMembers(
    of group: ResourceID, _ policy: FetchPolicy = .cacheThenNetwork
  ) -> FetchedValues<ChatMember, [ChatMember]> {
    members.fetchSubset(["group": group.description], policy) { $0.group == group }
  }

  /// A group's newest 20 messages and those that wait, the oldest first, now and whenever they change.
  public func fetchMessages(
    of group: ResourceID, _ policy: FetchPolicy = .cacheThenNetwork
  ) -> FetchedValues<ChatLine, [ChatLine]> {
    messages.fetchSubset(["group": group.description], policy) { $0.group == group }
  }

  /// The 20 messages before one, the oldest first; they are not kept.
  public func messages(before line: ChatLine) async throws(FetchError) -> [ChatLine] {
    guard let (group, offset) = PairID.parts(line.id.description), !line.id.isTemporary else {
      return []
    }
    let source = RESTSource<ChatLine>(service, "messages")
    return try await source.fetch(
      .subset(["group": group, "before": offset]), as: await outbox.user)
  }

  // MARK: Groups

  /// Makes a group with the person as its first member.
  @discardableResult
  public func createGroup(_ group: ChatGroup) async throws(OutboxError) -> MutationSteps {
    try await groups.save(group)
  }

  /// Gives a group another name.
  @discardableResult
  public func changeName(
    of group: ResourceID, to name: String
  ) async throws(OutboxError) -> MutationSteps? {
    try await groups.change(group) { $0.name = name }
  }

  /// Gives a group another picture.
  @discardableResult
  public func changePicture(
    of group: ResourceID, to picture: String
  ) async throws(OutboxError) -> MutationSteps? {
    try await groups.change(group) { $0.picture = picture }
  }

  /// Forgets a group.
  @discardableResult
  public func deleteGroup(_ group: ResourceID) async throws(OutboxError) -> MutationSteps {
    try await groups.delete(group)
  }

  // MARK: Members

  /// Adds members. The group may still wait for the server itself.
  public func add(_ people: [ChatMember]) async throws(OutboxError) {
    for member in people { try await members.save(member) }
  }

  /// Removes a member.
  @discardableResult
  public func remove(_ member: ResourceID) async throws(OutboxError) -> MutationSteps {
    try await members.delete(member)
  }

  /// Gives a member another nickname.
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

  /// Likes a message, or reacts to it otherwise.
  @discardableResult
  public func like(
    _ message: ResourceID, _ reaction: String = "like"
  ) async throws(OutboxError) -> MutationSteps? {
    try await messages.change(message) { $0.reaction = reaction }
  }

  /// Takes one's like back.
  @discardableResult
  public func unlike(_ message: ResourceID) async throws(OutboxError) -> MutationSteps? {
    try await messages.change(message) { $0.reaction = "" }
  }

  /// Says that a message and all before it were read.
  public func markRead(_ message: ResourceID) async throws(OutboxError) {
    guard let (group, offset) = PairID.parts(message.description), !message.isTemporary,
      let offset = Int(offset)
    else { return }
    try await groups.perform("read", on: ResourceID(group), ["offset": offset])
  }

  // MARK: What others do

  /// Follows a group's room until its task is cancelled: each list is fetched again when what it
  /// shows has changed.
  ///
  ///     let task = Task { await data.follow(group, parley.room(GroupData.room(of: group)).updates) }
  public func follow(_ updates: Updates<RoomUpdate>) async {
    for await update in updates { await receive(update) }
  }

  /// Takes an update of a group's room.
  public func receive(_ update: RoomUpdate) async {
    guard case .publication(let publication) = update else {
      await changed()
      return
    }
    let subject = JSONFields(publication.json)?["subject"]?.fields
    let event = subject?["event"]?.fields?["type"]?.string
    if event?.hasPrefix("membership.") ?? false { await members.refresh() }
    await groups.refresh()
    // One's own is shown already.
    if publication.senderID != outbox.senderID || event != nil { await messages.refresh() }
  }

  /// Fetches all shown lists again: after a `resourceUpdate` of the group's room, or a gap.
  public func changed() async {
    await groups.refresh()
    await members.refresh()
    await messages.refresh()
  }
}
