import ParleyDialectModels
import Foundation
import ParleyJSON
import Testing

/// Whether two texts are the same JSON, whatever the order of fields.
private func isSameJSON(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) throws -> Bool
{
  func canonical(_ bytes: some Sequence<UInt8>) throws -> Data {
    try JSONSerialization.data(
      withJSONObject: JSONSerialization.jsonObject(
        with: Data(Array(bytes)), options: .fragmentsAllowed),
      options: [.sortedKeys, .fragmentsAllowed])
  }
  return try canonical(left) == canonical(right)
}

/// Reads a model, expects that it is written back equal, and returns it.
@discardableResult
private func roundTrip<Model: JSONModel>(_: Model.Type, _ json: String) throws -> Model {
  let model = try Model(json: json.utf8)
  #expect(try isSameJSON(model.json, json.utf8))
  #expect(try Model(json: model.json) == model)
  return model
}

@Suite("B8: models of the Twake family")
struct TwakeModelTests {
  @Test("B8: an event about a message")
  func event() throws {
    let event = try roundTrip(Twake.SocketIOEvent.self, PageExamples.messageEvent)
    #expect(event.data.clientID == "system")
    #expect(event.data.action == .update)
    #expect(event.data.messageID == "5828c718-b49e-11eb-8ae0-0242ac120003")
    #expect(event.data.threadID == "c920712e-b49d-11eb-8ed2-0242ac120003")
  }

  @Test("B8: activity in a channel, and its last message")
  func activity() throws {
    let resource = try roundTrip(Twake.SocketIOResource.self, PageExamples.channelActivity)
    #expect(resource.action == .updated)
    #expect(resource.type == .channelActivity)
    let last = try #require(resource.resource["last_message"]?.fields)
    let summary = try Twake.MessageSummary(last)
    #expect(summary.senderName == "First Last")
    #expect(summary.text == "Message 2")
    #expect(summary.title.utf8.elementsEqual("📄 ch1 in TestCompany • WS1".utf8))
  }

  @Test("B8: a channel that was created")
  func channel() throws {
    let resource = try roundTrip(Twake.SocketIOResource.self, PageExamples.channelCreated)
    #expect(resource.action == .saved)
    let channel = try roundTrip(
      Twake.Channel.self, String(decoding: resource.resource.json, as: UTF8.self))
    #expect(channel.name == "Primary channel")
    #expect(channel.visibility == .public)
    #expect(channel.members.isEmpty)
    #expect(channel.hasUnread)
  }

  @Test(
    "B8: integers as other languages write them",
    arguments: ["1000", "1000.0", "1e3", "1E+3", "10000e-1"])
  func integers(_ number: String) throws {
    let summary = try Twake.Reaction(json: #"{"name":"x","users":[],"count":\#(number)}"#.utf8)
    #expect(summary.count == 1_000)
    for wrong in ["1.5", "9007199254740994", "1e300", #""1""#, "true", "[1]"] {
      #expect(throws: ModelError.wrongType(field: "count", expected: "an integer"), "\(wrong)") {
        try Twake.Reaction(json: #"{"name":"x","users":[],"count":\#(wrong)}"#.utf8)
      }
    }
  }

  @Test("B8: a model is Codable with the fields of its JSON, and Identifiable")
  func codable() throws {
    let json =
      #"{"id":"1","channel_id":"c","creation_date":1,"modification_date":2,"content":{"original_str":"é","prepared":["a",{"b":[1,2.5,null,true]}]},"reactions":[{"name":"👍","users":["u"],"count":1}],"username":"ann","new_field":{"x":-7}}"#
    let message = try JSONDecoder().decode(Twake.Message.self, from: Data(json.utf8))
    #expect(message.id == "1" && message.reactions.map(\.id) == ["👍"])
    #expect(try isSameJSON(JSONEncoder().encode(message), json.utf8))
    #expect(
      try JSONDecoder().decode([Twake.BadgeType].self, from: Data(#"["channel","later"]"#.utf8))
        .map(\.isKnown) == [true, false])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Twake.Message.self, from: Data("[]".utf8))
    }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Twake.Message.self, from: Data("{}".utf8))
    }
  }

  @Test("B8: a summary of a message")
  func summary() throws {
    let summary = try roundTrip(Twake.MessageSummary.self, PageExamples.messageSummary)
    #expect(summary.date == 1_621_233_242_000)
    #expect(summary.title.utf8.elementsEqual("General in TestCompany • Analytics".utf8))
  }

  @Test("each model is written back as it was read")
  func others() throws {
    try roundTrip(
      Twake.Authentication.self,
      #"{"token":"a","refresh_token":"b","expiration":1,"refresh_expiration":2}"#)
    try roundTrip(
      Twake.Account.self,
      #"{"id":"u","email":"a@b.c","username":"ab","lastname":null,"last_activity":3,"new":[1.5]}"#)
    try roundTrip(
      Twake.Company.self, #"{"id":"c","name":"C","total_members":2,"permissions":["a"]}"#)
    try roundTrip(
      Twake.Workspace.self,
      #"{"id":"w","name":"W","company_id":"c","total_members":2,"user_last_access":1}"#)
    try roundTrip(
      Twake.File.self, #"{"id":"f","name":"F","preview":"/p","download":"/d","size":7}"#)
    let plain = try roundTrip(Twake.File.self, #"{"id":"f","name":"F","size":7}"#)
    #expect(plain.preview == nil && plain.download == nil)
    try roundTrip(
      Twake.File.self, #"{"id":"f","name":"F","preview":null,"download":null,"size":7}"#)
    try roundTrip(
      Twake.FirebaseNotification.self,
      """
      {"headers":{"title":"T","body":"B"},"payload":{"company_id":"c","workspace_id":"w",\
      "channel_id":"ch","message_id":"m"}}
      """)
    let local = try roundTrip(
      Twake.LocalNotification.self, #"{"type":"message","payload":{"any":{"thing":true}}}"#)
    #expect(try isSameJSON(local.stringified.utf8, local.json))
    let room = try roundTrip(
      Twake.SocketIORoom.self, #"{"key":"previous::x","type":"direct","id":"d","subscribed":true}"#)
    #expect(room.isSubscribed && room.type == .direct)
  }

  @Test("B8: unknown words survive")
  func unknownWords() throws {
    let resource = try roundTrip(
      Twake.SocketIOResource.self,
      #"{"action":"teleported","type":"spaceship","path":null,"resource":{}}"#)
    #expect(!resource.action.isKnown && !resource.type.isKnown)
    #expect(resource.path == nil)
    #expect(DomainRouter().route(resource) == .other(type: "spaceship"))
  }

  private static let message = #"""
    {"id":"m","channel_id":"ch","responses_count":0,"user_id":"u","creation_date":1,
    "modification_date":1,"content":{"original_str":"Hi","prepared":["Hi",{"type":"br"},[1]]},
    "reactions":[{"name":"👍","users":["u","v"],"count":2}],"username":"ada",
    "firstname":"Ada","lastname":"Lovelace","_is_read":1}
    """#

  @Test("a message knows its sender, whether it is read, and its hash")
  func getters() throws {
    var message = try roundTrip(Twake.Message.self, Self.message)
    #expect(message.sender == "Ada Lovelace")
    #expect(message.isRead)
    let expected = stableHash("m") &+ stableHash("Hi") &+ stableHash("👍") &+ 2
    #expect(message.hash == expected)
    message.reactions[0].count = 3
    #expect(message.hash == expected &+ 1)
    message.firstname = nil
    message.readFlag = 0
    #expect(message.sender == "ada")
    #expect(!message.isRead)
    #expect(try Twake.Message(json: message.json).readFlag == 0)
  }

  @Test("hashes are the same everywhere")
  func hashes() throws {
    // FNV-1a's own test values.
    #expect(UInt64(bitPattern: Int64(stableHash(""))) == 0xcbf2_9ce4_8422_2325)
    #expect(UInt64(bitPattern: Int64(stableHash("a"))) == 0xaf63_dc4c_8601_ec8c)
    #expect(UInt64(bitPattern: Int64(stableHash("foobar"))) == 0x8594_4171_f739_67e8)
    #expect(stableHash(nil) == 0)
    var channel = Twake.Channel()
    channel.name = "n"
    channel.lastActivity = 5
    channel.members = ["a", "b"]
    #expect(channel.hash == stableHash("n") &+ 5 &+ 2)
  }

  @Test("a badge matches its own type and id")
  func badge() throws {
    let badge = try roundTrip(Twake.Badge.self, #"{"type":"workspace","id":"w","count":3}"#)
    #expect(badge.matches(type: .workspace, id: "w"))
    #expect(!badge.matches(type: .channel, id: "w"))
    #expect(!badge.matches(type: .workspace, id: "x"))
    #expect(badge.hash == stableHash("workspace") &+ stableHash("w"))
  }

  @Test("what is no such model says why")
  func errors() {
    #expect(throws: ModelError.malformed) { try Twake.Badge(json: "[]".utf8) }
    #expect(throws: ModelError.malformed) { try Twake.Badge(json: "{".utf8) }
    #expect(throws: ModelError.missing(field: "id")) {
      try Twake.Badge(json: #"{"type":"x","count":1}"#.utf8)
    }
    #expect(throws: ModelError.wrongType(field: "count", expected: "an integer")) {
      try Twake.Badge(json: #"{"type":"x","id":"y","count":"1"}"#.utf8)
    }
  }
}

@Suite("Models of group chats")
struct GroupChatModelTests {
  private static let line = #"""
    {"type":"line.create","alert":"Andygv: hey","subject":{"id":"1","group_id":"9","user_id":"185",
    "name":"Andygv","text":"hey","source_guid":"G","created_at":1390000000,"system":false,
    "attachments":[{"type":"image","url":"u"}],"avatar_url":null},"received_at":1390000000123}
    """#

  @Test("a line is written back as it was read")
  func line() throws {
    let push = try roundTrip(GroupChat.Push.self, Self.line)
    let line = try GroupChat.Line(try #require(push.subject))
    #expect(line.text == "hey" && line.sourceGUID == "G" && !line.isSystem)
    #expect(GroupChat.Push(line, receivedAt: 1_390_000_000_123).alert == push.alert)
    try roundTrip(GroupChat.Push.self, #"{"type":"typing","user_id":"1","started":2}"#)
    try roundTrip(
      GroupChat.Group.self,
      #"{"id":"9","name":"N","members":[{"id":"1","user_id":"185","nickname":"Andygv"}]}"#)
  }

  private static func person(_ id: String, _ name: String) -> GroupChat.Person {
    var person = GroupChat.Person()
    person.id = id
    person.nickname = name
    return person
  }

  private static let ada = person("1", "Ada, and Bob added Eve")
  private static let bob = person("2", "Bob")

  @Test(
    "events of a group are reported in parts, and in words made from them",
    arguments: [
      (
        GroupChat.Change.memberAdded([bob], by: ada),
        "Ada, and Bob added Eve added Bob to the group."
      ),
      (.memberRemoved(bob, by: ada), "Ada, and Bob added Eve removed Bob from the group."),
      (.memberRenamed(bob, to: "Rob"), "Bob changed name to Rob"),
      (.groupRenamed(to: "Us", by: bob), "Bob changed the group's name to Us"),
      (.avatarChanged(url: "u", by: bob), "Bob changed the group's avatar"),
      (.like(messageID: "7", by: bob), "Bob liked your message"),
    ])
  func changes(change: GroupChat.Change, prose: String) throws {
    #expect(change.prose == prose)
    #expect(GroupChat.Change(change.event) == change)
    let line = change.line(id: "1", group: "9", time: 5)
    let push = try GroupChat.Push(json: GroupChat.Push(line, receivedAt: 5_000).json)
    #expect(push.alert == prose)
    switch DomainRouter().route(push, on: "/group/9") {
    case .members("9", change), .groupInfo(.updated, "9", change): break
    case .like("7", "2"): #expect(change == .like(messageID: "7", by: Self.bob))
    case let event: Issue.record("\(event)")
    }
  }

  @Test("an event of an unknown type survives, and is routed as such")
  func unknownEvent() throws {
    let push = try roundTrip(
      GroupChat.Push.self,
      #"""
      {"type":"line.create","subject":{"id":"1","group_id":"9","user_id":"system","created_at":1,
      "system":true,"event":{"type":"poll.created","data":{"x":1}}}}
      """#)
    #expect(DomainRouter().route(push, on: "/user/1") == .other(type: "poll.created"))
  }

  @Test("words in a message mean nothing to the router")
  func noProse() throws {
    var line = try GroupChat.Line(
      try #require(try GroupChat.Push(json: Self.line.utf8).subject))
    line.text = "Ada added Bob to the group."
    guard
      case .message(.created, "1", "9", _, _) = DomainRouter().route(
        GroupChat.Push(line, receivedAt: 1), on: "/group/9")
    else {
      Issue.record("a person's words were taken for an event")
      return
    }
  }

  @Test("an own message is known again, even if it comes before the answer to sending it")
  func echo() throws {
    let push = try GroupChat.Push(json: Self.line.utf8)
    var router = DomainRouter()
    router.willSend(sourceGUID: "G")
    #expect(router.route(push, on: "/user/185") == .echo(id: "1", sourceGUID: "G"))
  }
}

@Suite("The router, for Twake's events")
struct TwakeRouterTests {
  @Test(
    "arguments of the socket's events are routed; what is no model of them is another event",
    arguments: [
      (
        "realtime:event",
        #"{"name":"r","data":{"action":"remove","message_id":"m","thread_id":"t"}}"#,
        DomainEvent.message(.deleted, id: "m", place: "r", thread: "t", content: nil)
      ),
      (
        "realtime:event",
        #"{"name":"r","data":{"type":"writing","event":{"user_id":"u","is_writing":false}}}"#,
        .typing(place: "r", userID: "u", isTyping: false)
      ),
      (
        "realtime:event", #"{"name":"r","data":{"type":"writing","event":{"user_id":"u"}}}"#,
        .typing(place: "r", userID: "u", isTyping: true)
      ),
      (
        "realtime:resource",
        #"{"action":"event","type":"user_notification_badges","resource":{}}"#, .badges
      ),
      ("realtime:event", #"{"name":"r","data":1}"#, .other(type: "realtime:event")),
      ("realtime:event", "{}", .other(type: "realtime:event")),
      ("realtime:resource", #"{"action":1}"#, .other(type: "realtime:resource")),
    ])
  func arguments(name: String, json: String, event: DomainEvent) throws {
    let fields = try #require(JSONFields(json.utf8))
    #expect(DomainRouter().route(name, fields) == event)
  }

  @Test("messages, channels, members, presence")
  func routes() throws {
    let router = DomainRouter()
    #expect(
      router.route(try Twake.SocketIOEvent(json: PageExamples.messageEvent.utf8))
        == .message(
          .updated, id: "5828c718-b49e-11eb-8ae0-0242ac120003",
          place: "previous::channels/2982dc0a-65aa-47ae-a13c-082b2e3cc2a9/messages/updates",
          thread: "c920712e-b49d-11eb-8ed2-0242ac120003", content: nil))
    let channel = "2982dc0a-65aa-47ae-a13c-082b2e3cc2a9"
    #expect(
      router.route(try Twake.SocketIOResource(json: PageExamples.channelCreated.utf8))
        == .groupInfo(.saved, place: channel, nil))
    guard
      case .activity(channel, 1_620_987_774_000, let last?) = router.route(
        try Twake.SocketIOResource(json: PageExamples.channelActivity.utf8))
    else {
      Issue.record("activity was not recognised")
      return
    }
    #expect(last.senderName == "First Last")
    let online = """
      {"action":"event","room":"/users/online/c","type":"user:online","path":null,"resource":\
      {"online":[{"company_id":"c","user_id":"u1","is_online":true}]}}
      """
    #expect(
      router.route(try Twake.SocketIOResource(json: online.utf8)) == .presence(["u1": true]))
  }
}
