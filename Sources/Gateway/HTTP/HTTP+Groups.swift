import GatewayPorts
import JSON
import SocketMessages

/// The HTTP surface for groups: rooms with a name and members.
///
///     GET    /api/groups                               the groups that one is in
///     GET    /api/rooms/{room}/group                   PUT makes or changes it, DELETE forgets it
///     GET    /api/rooms/{room}/members                 PUT and DELETE with ?person= one of them
///     GET    /api/rooms/{room}/likes?since=            PUT and DELETE with ?offset= one's own
///     PUT    /api/rooms/{room}/read                    {"offset": …}
///     GET    /api/badges                               what one has not read, by room
///
/// The token's verbs on the room decide who gets in, as for everything in rooms; the store, who of
/// these may change the group.
extension HTTP {
  /// Bounds of what people write.
  private static let (textBytesMax, addressBytesMax, reactionBytesMax) = (4_000, 2_000, 64)
  /// Bounds of what is kept.
  private static let (membersMax, likesMax, marksMax) = (1_000, 1_000, 10_000)
  /// Entries of one page.
  private static let groupPageMax = 1_000

  // MARK: Groups

  func listGroups(_ call: Call) {
    guard let person = person(of: call), let limit = groupLimit(call) else { return }
    perform(
      .groups(of: person, after: call.query["after"], limit: limit), for: call)
  }

  func readGroup(_ call: Call) { perform(.group(call.name), for: call) }

  func putGroup(_ call: Call) {
    guard let changes = GroupJSON.changes(in: call.body) else {
      respond(
        call.request,
        .problem(
          400, .badMessage,
          "expected a JSON object with \"name\", and if need be \"description\", \"picture\" "
            + "and \"open\""))
      return
    }
    if let name = changes.name, name.isEmpty {
      respond(call.request, .problem(400, .badMessage, "expected a name that is not empty"))
      return
    }
    guard
      fits(changes.name, settings.limits.nameBytesMax, "name", call),
      fits(changes.description ?? nil, Self.textBytesMax, "description", call),
      fits(changes.picture ?? nil, Self.addressBytesMax, "picture", call),
      isOneLine(changes.name ?? "", "a name", call.request)
    else { return }
    perform(
      .put(call.name, changes, by: actor(of: call), time: surroundings.clock.now), for: call)
  }

  func deleteGroup(_ call: Call) { perform(.delete(call.name, by: actor(of: call)), for: call) }

  // MARK: Members

  func listMembers(_ call: Call) {
    guard let limit = groupLimit(call) else { return }
    perform(.members(call.name, after: call.query["after"], limit: limit), for: call)
  }

  func putMember(_ call: Call) {
    guard let member = member(in: call), let fields = groupFields(of: call),
      fits(fields.nickname, settings.limits.nameBytesMax, "nickname", call),
      isOneLine(fields.nickname ?? "", "a nickname", call.request)
    else { return }
    perform(
      .putMember(
        call.name, member, nickname: fields.nickname, by: actor(of: call),
        time: surroundings.clock.now, membersMax: Self.membersMax), for: call)
  }

  func removeMember(_ call: Call) {
    guard let member = member(in: call) else { return }
    perform(.removeMember(call.name, member, by: actor(of: call)), for: call)
  }

  // MARK: Likes

  func listLikes(_ call: Call) {
    guard let since = call.query.number("since").or(0), let limit = groupLimit(call) else {
      if case .broken = call.query.number("since") {
        respond(call.request, .problem(400, .badMessage, "expected since as an offset"))
      }
      return
    }
    perform(.likes(call.name, since: since, limit: limit), for: call)
  }

  func like(_ call: Call) {
    guard let fields = groupFields(of: call),
      fits(fields.reaction, Self.reactionBytesMax, "reaction", call)
    else { return }
    like(call, fields.reaction ?? "like")
  }

  func unlike(_ call: Call) { like(call, nil) }

  private func like(_ call: Call, _ reaction: String?) {
    guard let person = person(of: call) else { return }
    guard case .value(let offset) = call.query.number("offset") else {
      respond(call.request, .problem(400, .badMessage, "expected offset, that of a publication"))
      return
    }
    perform(
      .like(
        PublicationPlace(room: call.name, offset: offset), person, reaction: reaction,
        likesMax: Self.likesMax), for: call)
  }

  // MARK: What was read

  func noteRead(_ call: Call) {
    guard let person = person(of: call) else { return }
    guard let offset = GroupJSON.fields(in: call.body)?.offset, offset >= 0 else {
      respond(
        call.request, .problem(400, .badMessage, "expected a JSON object with \"offset\""))
      return
    }
    perform(
      .read(call.name, person, through: offset, marksMax: Self.marksMax), for: call)
  }

  func listBadges(_ call: Call) {
    guard let person = person(of: call), let limit = groupLimit(call) else { return }
    perform(.badges(of: person, after: call.query["after"], limit: limit), for: call)
  }

  // MARK: What requests say

  /// The asker; answers those who are no person.
  private func person(of call: Call) -> PersonID? {
    if let person = Self.person(call.identity) { return person }
    respond(
      call.request,
      .problem(403, .notAllowed, "this is for people; the token names none, or a guest"))
    return nil
  }

  /// The person of an identity; `nil` for guests and programs, which belong to no group.
  private static func person(_ identity: Identity) -> PersonID? {
    identity.person.flatMap { Identity.isReserved($0) ? nil : $0 }
  }

  private func actor(of call: Call) -> GroupActor {
    GroupActor(
      person: Self.person(call.identity),
      name: OneLine.made(of: call.identity.name ?? call.identity.user),
      manages: call.identity.may(.manage, .room(call.name)))
  }

  private func member(in call: Call) -> PersonID? {
    let person = call.query["person"] ?? ""
    guard !person.isEmpty, person.utf8.count <= settings.limits.nameBytesMax else {
      respond(
        call.request,
        .problem(
          400, .badMessage,
          "expected person, an id of 1 to \(settings.limits.nameBytesMax) bytes"))
      return nil
    }
    return person
  }

  private func groupFields(of call: Call) -> GroupJSON.Fields? {
    let fields = GroupJSON.fields(in: call.body)
    if fields == nil {
      respond(call.request, .problem(400, .badMessage, "expected a JSON object, or no body"))
    }
    return fields
  }

  private func groupLimit(_ call: Call) -> Int? {
    let most = min(Self.groupPageMax, settings.limits.pageMax)
    guard let limit = call.query.number("limit").or(most), (1...most).contains(limit) else {
      respond(call.request, .problem(400, .badMessage, "expected limit from 1 to \(most)"))
      return nil
    }
    return limit
  }

  /// Whether a text is short enough; answers the request if not.
  private func fits(_ text: String?, _ bytesMax: Int, _ name: String, _ call: Call) -> Bool {
    guard let text, text.utf8.count > bytesMax else { return true }
    respond(
      call.request,
      .problem(
        413, .tooLarge,
        "\(name) may have \(bytesMax) bytes; this one has \(text.utf8.count)"))
    return false
  }

  // MARK: Doing it

  private func perform(_ work: GroupRequest, for call: Call) {
    let request: StoreRequest =
      work.isWriting
      ? keeping(.groups(work), for: call.request) { reply in
        guard case .groups(let reply) = reply, reply.isDone else { return nil }
        return GroupJSON.response(reply, to: work)
      } : .groups(work)
    store(.groups(request), for: .groups(call.request, GroupWork(work, call.identity)))
  }

  /// The store has done what a request about groups asks for, or not.
  func answer(_ request: RequestID, _ work: GroupWork, _ outcome: StoreOutcome<GroupReply>) {
    switch outcome {
    case .success(var reply):
      if case .groups(let groups, let hasMore) = reply {
        // What may not be read is not named either; the last one says where the next page begins.
        let last = groups.count - 1
        let readable = groups.enumerated().filter { index, group in
          hasMore && index == last || work.identity.may(.read, .room(group.room))
        }
        reply = .groups(readable.map(\.element), hasMore: hasMore)
      }
      respond(request, GroupJSON.response(reply, to: work.request))
      tell(reply, work)
    case .failure(let error):
      surroundings.log.write(.error, "group request failed", [("error", error.logName)])
      respond(
        request, .problem(503, .unavailable, "the store cannot do this now; try again later"))
    }
  }

  /// Tells a room's subscribers what has changed: members and facts in its history, the rest as an
  /// update.
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
      guard work.request.isWriting, reply.isDone else { break }
      rooms.publish(resource: room, in: room, sender: nil)
    }
  }
}
