import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("People in rooms")
struct PeopleTests {
  private let rig: GatewayRig

  init() { rig = GatewayRig() }

  private func enter(
    _ user: String, _ verbs: Verbs = [.read, .publish, .presence], in rig: GatewayRig? = nil
  ) throws -> UInt64 {
    let rig = rig ?? self.rig
    return try rig.connectNative(rig.token(user, [Grant(.rooms, NamePattern("*"), verbs)])).0
  }

  @discardableResult
  private func subscribe(
    _ id: UInt64, isPresent: Bool = true, in rig: GatewayRig? = nil
  ) throws -> [String] {
    let reply = (rig ?? self.rig).ask(id, .subscribe(.init(room: "r", isPresent: isPresent)))
    guard case .subscribed(let subscribed) = reply else { throw Unexpected(message: reply) }
    return subscribed.present?.map(\.personID.text) ?? []
  }

  private func publish(_ id: UInt64, in rig: GatewayRig? = nil, pushes: Bool = false) throws -> Int
  {
    let data = JSONValue(#"{"type":"chat","text":"hi"}"#.utf8) ?? .null
    let reply = (rig ?? self.rig).ask(
      id, .publish(.init(room: "r", data: data, pushes: pushes)))
    guard case .published(let published) = reply else { throw Unexpected(message: reply) }
    return published.position.offset
  }

  private func code(_ reply: ServerMessage?) -> ErrorCode? {
    if case .error(let failure) = reply { failure.code } else { nil }
  }

  private func presence(_ id: UInt64, after milliseconds: Int64 = 300) -> [String] {
    rig.pass(milliseconds: milliseconds)
    return rig.pushes(id).flatMap { message -> [String] in
      guard case .roomPresence(let change) = message else { return [] }
      return change.joined.map { "+\($0.personID)" } + change.updated.map { "~\($0.personID)" }
        + change.left.map { "-\($0)" }
    }
  }

  private func typing(_ id: UInt64) -> [String] {
    rig.pushes(id).compactMap {
      guard case .typing(let change) = $0 else { return nil }
      return (change.isTyping ? "+" : "-") + change.personID
    }
  }

  // MARK: Presence

  @Test("people whose ids differ only in bytes are two people")
  func bytes() throws {
    let ids = ["e\u{301}", "\u{e9}"]
    let people = try ids.map { try enter($0) }
    #expect(try subscribe(people[0]).map { Array($0.utf8) } == [Array(ids[0].utf8)])
    _ = presence(people[0])
    #expect(try subscribe(people[1]).map { Array($0.utf8) } == ids.map { Array($0.utf8) })
  }

  @Test("a person is present from the first connection to the end of the last one")
  func counting() throws {
    let ann = try enter("ann")
    #expect(try subscribe(ann) == ["ann"])
    _ = presence(ann)
    let ben = try enter("ben")
    let second = try enter("ben")
    #expect(try subscribe(ben) == ["ann", "ben"])
    #expect(presence(ann) == ["+ben"])
    try subscribe(second)
    rig.ask(ben, .unsubscribe(.init(room: "r")))
    #expect(presence(ann) == [])
    rig.ask(second, .unsubscribe(.init(room: "r")))
    #expect(presence(ann) == ["-ben"])
  }

  @Test("a person who returns within the grace period is not reported as absent")
  func grace() throws {
    let ann = try enter("ann")
    try subscribe(ann)
    let ben = try enter("ben")
    try subscribe(ben)
    _ = presence(ann)
    rig.close(ben)
    #expect(presence(ann, after: 4_000) == [])
    let again = try enter("ben")
    #expect(try subscribe(again) == ["ann", "ben"])
    #expect(presence(ann, after: 4_000) == [])
    rig.close(again)
    #expect(presence(ann, after: 5_000) == ["-ben"])
  }

  @Test("a person without activity for the lease is shown as absent until the next activity")
  func lease() throws {
    let ann = try enter("ann")
    try subscribe(ann)
    let ben = try enter("ben")
    try subscribe(ben)
    _ = presence(ann)
    var seen: [String] = []
    for _ in 0..<10 {
      rig.ask(ann, .ping)
      seen += presence(ann, after: 10_000)
    }
    #expect(seen == ["-ben"])
    rig.ask(ben, .ping)
    #expect(presence(ann) == ["+ben"])
  }

  @Test("changes between two reports are not reported, and limited in rate")
  func flood() throws {
    let ann = try enter("ann")
    try subscribe(ann)
    _ = presence(ann)
    let ben = try enter("ben")
    var refused = 0
    for _ in 0..<300 {
      let reply = rig.ask(ben, .subscribe(.init(room: "r", isPresent: true)))
      if code(reply) == .tooFast { refused += 1 }
      rig.ask(ben, .unsubscribe(.init(room: "r")))
    }
    #expect(refused > 100)
    #expect(presence(ann) == [])
    rig.pass(milliseconds: 2_000)
    try subscribe(ben)
    #expect(presence(ann) == ["+ben"])
  }

  @Test("presence in a room is limited in number, and needs its right")
  func presenceLimits() throws {
    let small = GatewayRig { $0.limits.presentMax = 2 }
    for user in ["a", "b"] { try subscribe(enter(user, in: small), in: small) }
    let third = try enter("c", in: small)
    #expect(code(small.ask(third, .subscribe(.init(room: "r", isPresent: true)))) == .tooMany)
    #expect(code(small.ask(third, .subscribe(.init(room: "r")))) == nil)
    let shy = try enter("shy", .read)
    #expect(code(rig.ask(shy, .subscribe(.init(room: "r", isPresent: true)))) == .notAllowed)
    #expect(code(rig.ask(shy, .typing(.init(room: "r", isTyping: true)))) == .notAllowed)
    #expect(code(rig.ask(shy, .lastOnline(.init(room: "r", people: [])))) == .notAllowed)
    let token = rig.token("app", [Grant(.rooms, NamePattern("r"), .presence)])
    try subscribe(enter("ann"))
    let answer = rig.request("GET", "/api/rooms/r/presence", token: token)
    #expect(answer.body == #"{"room":"r","present":[{"personId":"ann","name":"The ann"}]}"#)
    #expect(rig.request("GET", "/api/rooms/other/presence", token: token).status == 403)
  }

  @Test("a person without the right to presence is neither shown nor typing, and sees no others")
  func presenceLost() throws {
    let ann = try enter("ann")
    let ben = try enter("ben")
    for id in [ann, ben] { try subscribe(id) }
    _ = presence(ann)
    rig.ask(ben, .typing(.init(room: "r", isTyping: true)))
    #expect(typing(ann) == ["+ben"])
    _ = rig.pushes(ben)
    rig.book?.enter("shy", user: "ben", [Grant(.rooms, NamePattern("*"), .read)])
    rig.ask(ben, .refresh(.init(token: "shy")))
    #expect(
      rig.pushes(ben) == [
        .roomPresence(.init(room: "r", joined: [], updated: [], left: ["ann", "ben"]))
      ])
    #expect(typing(ann) == ["-ben"])
    #expect(presence(ann) == ["-ben"])
    // The client still receives publications, but no presence.
    let cid = try enter("cid")
    try subscribe(cid)
    #expect(presence(ben) == [])
    _ = try publish(ann)
    #expect(rig.pushes(ben).count == 1)
  }

  @Test("a person whose token is revoked is removed at once, without the grace period")
  func revoked() throws {
    let ann = try enter("ann")
    let ben = try enter("ben")
    for id in [ann, ben] { try subscribe(id) }
    _ = presence(ann)
    let answer = rig.request("POST", "/api/revoke", token: "pk_operator", #"{"user":"ben"}"#)
    #expect(answer.status == 200)
    #expect(presence(ann) == ["-ben"])
  }

  @Test("a person who subscribes again without presence is removed")
  func presenceGivenUp() throws {
    let ann = try enter("ann")
    let ben = try enter("ben")
    for id in [ann, ben] { try subscribe(id) }
    _ = presence(ann)
    try subscribe(ben, isPresent: false)
    #expect(presence(ann) == ["-ben"])
    try subscribe(ben)
    #expect(presence(ann) == ["+ben"])
  }

  @Test("following needs the right to read, and unfollowing does not")
  func unfollowing() throws {
    let ben = try enter("ben")
    rig.ask(ben, .follow(.init(room: "r", isFollowing: true)))
    rig.book?.enter("none", user: "ben")
    rig.ask(ben, .refresh(.init(token: "none")))
    #expect(code(rig.ask(ben, .follow(.init(room: "r", isFollowing: true)))) == .notAllowed)
    #expect(
      rig.ask(ben, .follow(.init(room: "r", isFollowing: false)))
        == .following(.init(room: "r", isFollowing: false)))
  }

  @Test("a room is occupied by the first person and vacated by the last")
  func occupied() throws {
    final class Observer: RoomObserver {
      var events: [String] = []
      func occupied(_ room: RoomName) { events.append("+\(room)") }
      func vacated(_ room: RoomName) { events.append("-\(room)") }
    }
    let observer = Observer()
    var handlers = PeopleHandlers()
    handlers.rooms = observer
    let rig = GatewayRig(people: handlers)
    let ann = try enter("ann", in: rig)
    let ben = try enter("ben", in: rig)
    try subscribe(ann, isPresent: false, in: rig)
    try subscribe(ben, isPresent: false, in: rig)
    rig.close(ann)
    #expect(observer.events == ["+r"])
    rig.ask(ben, .unsubscribe(.init(room: "r")))
    #expect(observer.events == ["+r", "-r"])
  }

  // MARK: Checks of the chat family

  @Test("D1: typing reaches others except blocked people, and ends by time and by disconnect")
  func D1() throws {
    let ann = try enter("ann")
    let ben = try enter("ben")
    let eve = try enter("eve")
    for id in [ann, ben, eve] { try subscribe(id) }
    rig.ask(eve, .block(.init(personID: "ann", isBlocked: true)))
    for id in [ann, ben, eve] { _ = rig.pushes(id) }
    rig.ask(ann, .typing(.init(room: "r", isTyping: true)))
    rig.ask(ann, .typing(.init(room: "r", isTyping: true)))
    #expect(typing(ben) == ["+ann"])
    #expect(typing(ann) == [] && typing(eve) == [])
    rig.ask(ann, .typing(.init(room: "r", isTyping: false)))
    #expect(typing(ben) == ["-ann"])
    rig.ask(ann, .typing(.init(room: "r", isTyping: true)))
    rig.pass(milliseconds: 5_900)
    #expect(typing(ben) == ["+ann"])
    rig.pass(milliseconds: 200)
    #expect(typing(ben) == ["-ann"])
    rig.ask(ann, .typing(.init(room: "r", isTyping: true)))
    rig.close(ann)
    #expect(typing(ben) == ["+ann", "-ann"])
    #expect(typing(eve) == [])
    #expect(code(rig.ask(ben, .typing(.init(room: "s", isTyping: true)))) == .notJoined)
  }

  @Test("D2: receipts change from none to delivered to read, only for the author")
  func D2() throws {
    let ann = try enter("ann")
    let ben = try enter("ben")
    let eve = try enter("eve")
    for id in [ann, ben, eve] { try subscribe(id, isPresent: false) }
    let offset = try publish(ann)
    for id in [ann, ben, eve] { _ = rig.pushes(id) }
    func give(_ state: ReceiptStage) -> ReceiptStage? {
      guard
        case .receipt(let receipt) = rig.ask(
          ben, .receipt(.init(room: "r", offset: offset, state: state)))
      else { return nil }
      return receipt.state
    }
    #expect(give(.delivered) == .delivered)
    #expect(give(.read) == .read)
    #expect(give(.delivered) == .read)
    let announced = rig.pushes(ann).compactMap {
      if case .receipt(let receipt) = $0 { receipt } else { nil }
    }
    #expect(announced.map(\.state) == [.delivered, .read])
    #expect(announced.map(\.personID) == ["ben", "ben"])
    #expect(rig.pushes(eve).isEmpty)
    guard
      case .receipts(let list) = rig.ask(ann, .receipts(.init(room: "r", offset: offset)))
    else { throw Unexpected(message: nil) }
    #expect(list.receipts == [.init(personID: "ben", stage: .read)])
    #expect(code(rig.ask(eve, .receipts(.init(room: "r", offset: offset)))) == .notAllowed)
    #expect(
      code(rig.ask(ben, .receipt(.init(room: "r", offset: 99, state: .read))))
        == .unknownPublication)
    let blind = try enter("blind", .presence)
    #expect(
      code(rig.ask(blind, .receipt(.init(room: "r", offset: offset, state: .read))))
        == .notAllowed)
  }

  @Test("D3: members can request when a person was online last")
  func D3() throws {
    let ann = try enter("ann")
    let ben = try enter("ben")
    let second = try enter("ben")
    for id in [ann, ben] { rig.ask(id, .follow(.init(room: "r", isFollowing: true))) }
    func ask(_ id: UInt64) throws -> [ServerMessage.LastOnline.Item] {
      let reply = rig.ask(id, .lastOnline(.init(room: "r", people: ["ben", "stranger"])))
      guard case .lastOnline(let answer) = reply else { throw Unexpected(message: reply) }
      return answer.people
    }
    #expect(try ask(ann) == [.init(personID: "ben", isOnline: true, time: nil)])
    rig.close(ben)
    #expect(try ask(ann) == [.init(personID: "ben", isOnline: true, time: nil)])
    rig.pass(milliseconds: 5_000)
    let time = rig.clock.now
    rig.close(second)
    rig.pass(milliseconds: 5_000)
    #expect(try ask(ann) == [.init(personID: "ben", isOnline: false, time: time)])
    let eve = try enter("eve")
    #expect(code(rig.ask(eve, .lastOnline(.init(room: "r", people: ["ben"])))) == .notJoined)
  }

  @Test("an empty reason of a report is treated as missing for all recipients")
  func emptyReason() throws {
    let ann = try enter("ann")
    let mod = try enter("mod", [.read, .manage])
    for id in [ann, mod] { try subscribe(id, isPresent: false) }
    let offset = try publish(ann)
    _ = rig.pushes(mod)
    let own = rig.ask(ann, .flag(.init(room: "r", offset: offset, isFlagged: true, reason: "")))
    for announced in [own, rig.pushes(mod).first] {
      guard case .flag(let flag) = announced else { throw Unexpected(message: announced) }
      #expect(flag.isFlagged && flag.reason == nil)
    }
    let listed = rig.ask(mod, .flags(.init(room: "r")))
    guard case .flags(let list) = listed else { throw Unexpected(message: listed) }
    #expect(list.flags.map(\.reason) == [nil])
  }

  final class Pushes: PushHandler {
    var all: [PushNotification] = []
    func notify(_ notification: PushNotification) { all.append(notification) }
  }

  @Test(
    "D4: flags reach moderators, blocks filter, pushes reach the offline once",
    arguments: [false, true])
  func D4(isMutual: Bool) throws {
    let pushes = Pushes()
    var settings = GatewaySettings()
    settings.blocksBothWays = isMutual
    var handlers = PeopleHandlers.standard(settings)
    handlers.push = pushes
    let rig = GatewayRig(people: handlers)
    let ann = try enter("ann", in: rig)
    let ben = try enter("ben", in: rig)
    let mod = try enter("mod", [.read, .manage], in: rig)
    for id in [ann, ben, mod] { try subscribe(id, isPresent: false, in: rig) }
    let offset = try publish(ann, in: rig)
    for id in [ann, ben, mod] { _ = rig.pushes(id) }

    // Flags.
    rig.ask(ben, .flag(.init(room: "r", offset: offset, isFlagged: true, reason: "spam")))
    guard case .flag(let flag) = rig.pushes(mod).first else { throw Unexpected(message: nil) }
    #expect(flag.personID == "ben" && flag.reason == "spam" && flag.isFlagged)
    #expect(rig.pushes(ann).isEmpty)
    guard case .flags(let list) = rig.ask(mod, .flags(.init(room: "r"))) else {
      throw Unexpected(message: nil)
    }
    #expect(list.flags.map(\.offset) == [offset])
    #expect(code(rig.ask(ben, .flags(.init(room: "r")))) == .notAllowed)
    rig.ask(ben, .flag(.init(room: "r", offset: offset, isFlagged: false)))
    guard case .flag(let unflag) = rig.pushes(mod).first else { throw Unexpected(message: nil) }
    #expect(!unflag.isFlagged)

    // Blocks.
    guard
      case .blocks(let blocks) = rig.ask(ben, .block(.init(personID: "ann", isBlocked: true)))
    else { throw Unexpected(message: nil) }
    #expect(blocks.people == ["ann"])
    _ = try publish(ann, in: rig)
    _ = try publish(ben, in: rig)
    func offsets(_ id: UInt64) -> [Int] {
      rig.pushes(id).compactMap {
        if case .publication(let push) = $0 { push.publication.offset } else { nil }
      }
    }
    #expect(offsets(ben) == [3])
    #expect(offsets(ann) == (isMutual ? [2] : [2, 3]))
    #expect(offsets(mod) == [2, 3])
    guard case .roomHistory(let page) = rig.ask(ben, .roomHistory(.init(room: "r"))) else {
      throw Unexpected(message: nil)
    }
    #expect(page.publications.map(\.offset) == [3])
    rig.ask(ben, .block(.init(personID: "ann", isBlocked: false)))
    _ = try publish(ann, in: rig)
    #expect(offsets(ben) == [4])

    // Pushes.
    for user in ["ann", "ben", "away", "gone"] {
      let id = try enter(user, in: rig)
      rig.ask(id, .follow(.init(room: "r", isFollowing: true)))
      rig.close(id)
    }
    _ = try publish(ann, in: rig)
    #expect(pushes.all == [])
    _ = try publish(ann, in: rig, pushes: true)
    #expect(pushes.all.map(\.person) == ["away", "gone"])
    let body = String(decoding: try #require(pushes.all.first).json, as: UTF8.self)
    for field in [
      #""action":"message""#, #""content":"hi""#, #""thread_entity_id":"r""#,
      #""message_sender_entity_id":"ann""#, #""message_type":"chat""#, #""message_entity_id":"#,
      #""message_date":"#, #""message_payload":{"type":"chat","text":"hi"}"#,
    ] { #expect(body.contains(field), "\(field)") }
  }

  @Test("users of Socket.IO and Bayeux are shown as online, and receive no pushes")
  func onlineInOtherDialects() throws {
    let pushes = Pushes()
    var handlers = PeopleHandlers.standard(GatewaySettings())
    handlers.push = pushes
    let rig = GatewayRig(people: handlers)
    let room = "/group/9"
    for user in ["ann", "sio", "bay"] {
      let id = try enter(user, in: rig)
      rig.ask(id, .follow(.init(room: room, isFollowing: true)))
      if user != "ann" { rig.close(id) }
    }
    let ann = try enter("ann", in: rig)
    /// Returns the people who are shown as online, and the recipients of a push notification.
    func look() throws -> (online: [String], announced: [String]) {
      let reply = rig.ask(ann, .lastOnline(.init(room: room, people: ["bay", "sio"])))
      guard case .lastOnline(let answer) = reply else { throw Unexpected(message: reply) }
      pushes.all = []
      rig.ask(ann, .publish(.init(room: room, data: JSONValue("hi"), pushes: true)))
      return (answer.people.filter(\.isOnline).map(\.personID), pushes.all.map(\.person.text))
    }
    #expect(try look() == ([], ["bay", "sio"]))

    let socket = rig.connect(as: .socketIO(query: "EIO=4&transport=websocket", address: "a"))
    rig.say(socket, #"40{"token":"sio"}"#)
    #expect(try look() == (["sio"], ["bay"]))

    let faye = rig.connect(as: .bayeux(address: "a"))
    rig.say(
      faye,
      #"{"channel":"/meta/handshake","version":"1.0","supportedConnectionTypes":["websocket"]}"#)
    let hello = rig.frames(faye).joined()
    let mark = try #require(hello.firstRange(of: #""clientId":""#))
    let client = hello[mark.upperBound...].prefix { $0 != "\"" }
    for _ in 0..<2 {
      rig.say(
        faye,
        #"{"channel":"/meta/subscribe","clientId":"\#(client)","subscription":"/group/9","#
          + #""ext":{"access_token":"bay"}}"#)
    }
    #expect(try look() == (["bay", "sio"], []))

    rig.say(socket, "41")
    #expect(try look() == (["bay"], ["sio"]))
    rig.say(faye, #"{"channel":"/meta/disconnect","clientId":"\#(client)"}"#)
    #expect(try look() == ([], ["bay", "sio"]))
  }

  @Test("a disabled feature is not a capability, and its requests are refused")
  func absent() throws {
    let rig = GatewayRig(people: PeopleHandlers())
    let (id, welcome) = try rig.connectNative(
      rig.token("ann", [Grant(.rooms, NamePattern("*"), .all)]))
    let names = [
      "blocking", "lastOnline", "membership", "moderation", "push", "receipts", "roomPresence",
      "typing",
    ]
    for name in names { #expect(!welcome.capabilities.contains(name)) }
    let messages: [ClientMessage] = [
      .subscribe(.init(room: "r", isPresent: true)), .typing(.init(room: "r", isTyping: true)),
      .receipt(.init(room: "r", offset: 1, state: .read)), .receipts(.init(room: "r", offset: 1)),
      .lastOnline(.init(room: "r", people: [])), .block(.init(personID: "x", isBlocked: true)),
      .blocks, .flag(.init(room: "r", offset: 1, isFlagged: true)), .flags(.init(room: "r")),
      .follow(.init(room: "r", isFollowing: true)),
    ]
    for message in messages { #expect(code(rig.ask(id, message)) == .notOffered) }
    let (_, full) = try self.rig.connectNative(self.rig.token("ann", []))
    for name in names where name != "push" { #expect(full.capabilities.contains(name)) }
  }
}
