import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// The HTTP API for groups: rooms with a name and members.
///
///     GET    /api/groups                               the caller's groups
///     GET    /api/rooms/{room}/group                   PUT creates or changes, DELETE removes it
///     GET    /api/rooms/{room}/members                 PUT and DELETE with ?person= one member
///     GET    /api/rooms/{room}/likes?since=            PUT and DELETE with ?offset= the caller's
///     PUT    /api/rooms/{room}/read                    {"offset": …}
///     GET    /api/badges                               the caller's unread counts, by room
///
/// The token's verbs on the room decide who may use these paths. The store decides which of these
/// callers may change the group.
final class GroupsAPI: Part {
  /// Maximum bytes of texts that users write.
  private static let (textBytesMax, addressBytesMax, reactionBytesMax) = (4_000, 2_000, 64)
  /// Maximum members of a room, likes of a publication, and rooms with a person's read mark.
  private static let (membersMax, likesMax, marksMax) = (1_000, 1_000, 10_000)
  /// Default and maximum entries of one page, unless the settings' maximum is lower.
  private static let groupPageMax = 1_000

  let board: Switchboard
  private let rooms: Rooms
  private let once: OnceRequests

  init(_ board: Switchboard, _ rooms: Rooms, _ once: OnceRequests) {
    self.board = board
    self.rooms = rooms
    self.once = once
  }

  // MARK: Groups

  func listGroups(_ call: Call) throws(Response) {
    let (person, limit) = try (person(of: call), groupLimit(call))
    try perform(
      .groups(of: person, after: try call.query.text("after").map { RoomName($0) }, limit: limit),
      for: call)
  }

  func readGroup(_ call: Call) throws(Response) { try perform(.group(call.room), for: call) }

  func putGroup(_ call: Call) throws(Response) {
    guard let changes = GroupJSON.changes(in: call.body) else {
      throw .problem(
        400, .badMessage,
        "expected a JSON object with \"name\", and if need be \"description\", \"picture\" "
          + "and \"open\"")
    }
    if let name = changes.name, name.isEmpty {
      throw .problem(400, .badMessage, "expected a name that is not empty")
    }
    try check(changes.name, settings.limits.nameBytesMax, "name")
    try check(changes.description ?? nil, Self.textBytesMax, "description")
    try check(changes.picture ?? nil, Self.addressBytesMax, "picture")
    try OneLine.check(changes.name ?? "", "a name")
    try perform(
      .put(call.room, changes, by: actor(of: call), time: dependencies.clock.now), for: call)
  }

  func deleteGroup(_ call: Call) throws(Response) {
    try perform(.delete(call.room, by: actor(of: call)), for: call)
  }

  // MARK: Members

  func listMembers(_ call: Call) throws(Response) {
    let limit = try groupLimit(call)
    try perform(
      .members(call.room, after: try call.query.text("after").map { PersonID($0) }, limit: limit),
      for: call)
  }

  func putMember(_ call: Call) throws(Response) {
    let member = try member(in: call)
    let nickname = try groupFields(of: call).nickname
    try check(nickname, settings.limits.nameBytesMax, "nickname")
    try OneLine.check(nickname ?? "", "a nickname")
    try perform(
      .putMember(
        call.room, member, nickname: nickname, by: actor(of: call),
        time: dependencies.clock.now, membersMax: Self.membersMax), for: call)
  }

  func removeMember(_ call: Call) throws(Response) {
    try perform(.removeMember(call.room, try member(in: call), by: actor(of: call)), for: call)
  }

  // MARK: Likes

  func listLikes(_ call: Call) throws(Response) {
    guard let since = call.query.number("since").or(0) else {
      throw .problem(400, .badMessage, "expected since as an offset")
    }
    try perform(.likes(call.room, since: since, limit: try groupLimit(call)), for: call)
  }

  func like(_ call: Call) throws(Response) {
    let reaction = try groupFields(of: call).reaction
    try check(reaction, Self.reactionBytesMax, "reaction")
    try like(call, reaction ?? "like")
  }

  func unlike(_ call: Call) throws(Response) { try like(call, nil) }

  private func like(_ call: Call, _ reaction: String?) throws(Response) {
    let person = try person(of: call)
    guard case .value(let offset) = call.query.number("offset") else {
      throw .problem(400, .badMessage, "expected offset, that of a publication")
    }
    try perform(
      .like(
        PublicationAddress(room: call.room, offset: offset), person, reaction: reaction,
        likesMax: Self.likesMax), for: call)
  }

  // MARK: Read positions

  func noteRead(_ call: Call) throws(Response) {
    let person = try person(of: call)
    guard let offset = GroupJSON.fields(in: call.body)?.offset, offset >= 0 else {
      throw .problem(400, .badMessage, "expected a JSON object with \"offset\"")
    }
    try perform(.read(call.room, person, through: offset, marksMax: Self.marksMax), for: call)
  }

  func listBadges(_ call: Call) throws(Response) {
    let (person, limit) = try (person(of: call), groupLimit(call))
    try perform(
      .badges(of: person, after: try call.query.text("after").map { RoomName($0) }, limit: limit),
      for: call)
  }

  // MARK: Reading requests

  /// Returns the caller; throws for guests and programs.
  private func person(of call: Call) throws(Response) -> PersonID {
    guard let person = Self.person(call.identity) else {
      throw .problem(403, .notAllowed, "this requires a user; the token is of a guest or a program")
    }
    return person
  }

  /// Returns the person of an identity; `nil` for guests and programs, which belong to no group.
  private static func person(_ identity: Identity) -> PersonID? {
    identity.person.flatMap { Identity.isReserved($0.text) ? nil : $0 }
  }

  private func actor(of call: Call) -> ChangeActor {
    ChangeActor(
      person: Self.person(call.identity),
      name: OneLine.made(of: call.identity.name ?? call.identity.user),
      manages: call.identity.may(.manage, .room(call.room)))
  }

  private func member(in call: Call) throws(Response) -> PersonID {
    let person = try call.query.text("person") ?? ""
    let bytesMax = settings.limits.nameBytesMax
    guard !person.isEmpty, person.utf8.count <= bytesMax else {
      throw .problem(400, .badMessage, "expected person, an id of 1 to \(bytesMax) bytes")
    }
    return PersonID(person)
  }

  private func groupFields(of call: Call) throws(Response) -> GroupJSON.Fields {
    guard let fields = GroupJSON.fields(in: call.body) else {
      throw .problem(400, .badMessage, "expected a JSON object, or no body")
    }
    return fields
  }

  private func groupLimit(_ call: Call) throws(Response) -> Int {
    let most = min(Self.groupPageMax, settings.limits.pageMax)
    return try call.query.limit(most, max: most)
  }

  /// Refuses a text that is too long.
  private func check(_ text: String?, _ bytesMax: Int, _ name: String) throws(Response) {
    guard let text, text.utf8.count > bytesMax else { return }
    throw .problem(
      413, .tooLarge, "\(name) may have \(bytesMax) bytes; this one has \(text.utf8.count)")
  }

  // MARK: Performing

  private func perform(_ work: GroupRequest, for call: Call) throws(Response) {
    let request = once.keeping(.groups(work), for: call.request) { reply in
      reply.groups.map { GroupJSON.response($0, to: work) }
    }
    store(
      request, under: try call.right,
      then: .groups(call.request, GroupWork(request: work, identity: call.identity)))
  }

  /// Handles the store's reply to a request about groups.
  func answer(_ request: RequestID, _ work: GroupWork, _ outcome: StoreOutcome<GroupReply>) {
    switch outcome {
    case .success(var reply):
      if case .groups(let groups, let hasMore) = reply {
        // Leaves out unreadable rooms, except the last one, which is the next page's cursor.
        let last = groups.count - 1
        let readable = groups.enumerated().filter { index, group in
          hasMore && index == last || work.identity.may(.read, .room(group.room))
        }
        reply = .groups(readable.map(\.element), hasMore: hasMore)
      }
      respond(request, GroupJSON.response(reply, to: work.request))
      tell(reply, work)
    case .failure(let error): refuse(request, error, "group request failed")
    }
  }

  /// Notifies a room's subscribers. Changes of members and properties are published to its history,
  /// the rest as updates.
  private func tell(_ reply: GroupReply, _ work: GroupWork) {
    guard let room = work.request.room else { return }
    for event in GroupEvent.events(reply, by: work.identity.person) {
      rooms.publish(
        PublishRequest(room: room, data: event.line(in: room), person: work.identity.person),
        for: .service)
    }
    switch reply {
    case .badge, .like(isChanged: false): break
    default:
      guard work.request.traits.isWriting, reply.isDone else { break }
      rooms.publish(resource: room.text, in: room, sender: nil)
    }
  }
}
