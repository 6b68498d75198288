import ParleyDialectModels
import Gateway
import ParleyJSON
import Testing

/// The forms that only the server produces, compared with the clients' models.
@Suite("Forms of group chats")
struct GroupChatFormTests {
  @Test("a posted message with id and time has the form of a client's message")
  func message() throws {
    var subject = GroupChatForm.subject(
      group: "9", user: "1", name: "Ada", text: "hello", sourceGUID: "G", attachments: [])
    subject.append(JSONFields.Field("id", JSONValue("7")))
    subject.append(JSONFields.Field("created_at", JSONValue(5)))
    let push = try GroupChat.Push(GroupChatForm.push(subject, alert: "Ada: hello"))
    let line = try GroupChat.Line(try #require(push.subject))
    #expect(push.type == .line && push.type.rawValue == GroupChatForm.line)
    #expect(line.groupID == "9" && line.userID == "1" && line.name == "Ada")
    #expect(line.text == "hello" && line.sourceGUID == "G" && !line.isSystem)
    var own = GroupChat.Line()
    own.groupID = "9"
    own.name = "Ada"
    own.text = "hello"
    #expect(GroupChat.Push(own, receivedAt: 1).alert == push.alert)
  }

  @Test("its bytes do not change between releases, since repeated messages are recognised by them")
  func bytes() {
    let subject = GroupChatForm.subject(
      group: "9", user: "1", name: "", text: nil, sourceGUID: "G",
      attachments: [JSONValue(JSONFields([JSONFields.Field("type", JSONValue("image"))]))])
    let expected =
      #"{"type":"line.create","alert":": ","subject":{"group_id":"9","user_id":"1","#
      + #""source_guid":"G","attachments":[{"type":"image"}],"system":false}}"#
    #expect(
      String(decoding: GroupChatForm.push(subject, alert: ": ").json, as: UTF8.self) == expected)
  }

  @Test("a typing event has the form of a client's push", arguments: [nil, 5])
  func typing(started: Int?) throws {
    let push = try GroupChat.Push(GroupChatForm.typing("1", started: started))
    #expect(push.type == .typing && push.userID == "1" && push.started == started)
  }

  private static func person(_ id: String, _ name: String) -> GroupChat.Person {
    var person = GroupChat.Person()
    person.id = id
    person.nickname = name
    return person
  }

  private static let ada = person("1", "Ada")
  private static let bob = person("2", "Bob")

  @Test(
    "the sentence equals the sentence that clients make",
    arguments: [
      GroupChat.Change.memberAdded([bob], by: ada), .memberAdded([bob, ada, bob], by: ada),
      .memberRemoved(bob, by: ada), .memberRenamed(bob, to: "Rob"),
      .groupRenamed(to: "Us", by: bob),
      .avatarChanged(url: "u", by: bob), .avatarChanged(url: nil, by: bob),
      .like(messageID: "7", by: bob),
    ])
  func prose(change: GroupChat.Change) throws {
    #expect(GroupChatForm.prose(of: JSONValue(change.event.fields)) == change.prose)
    // An event without one of its fields is not recognised; only the picture may be absent.
    for field in change.event.data.all {
      var event = change.event
      event.data = JSONFields(change.event.data.all.filter { $0.name != field.name })
      let expected = GroupChat.Change(event)?.prose
      #expect(GroupChatForm.prose(of: JSONValue(event.fields)) == expected)
      #expect((expected == nil) == (field.name != "avatar_url"))
    }
  }

  @Test(
    "an event of another kind has no sentence",
    arguments: [
      "{}", #"{"type":"poll.created","data":{}}"#, #"{"type":"message.like"}"#,
      #"{"type":"membership.announce.added","data":{"adder_user":{"id":"1","nickname":"A"},"added_users":[{"id":"2"}]}}"#,
      #"{"type":"membership.announce.added","data":{"adder_user":{"id":"1","nickname":"A"},"added_users":[]}}"#,
      #"{"type":"group.name_change","data":{"user":{"id":1,"nickname":"A"},"name":"N"}}"#,
      #"{"type":"group.name_change","data":{"user":{"id":"1","nickname":"A"},"name":null}}"#,
    ])
  func none(json: String) throws {
    let event = try #require(JSONFields(json.utf8))
    #expect(GroupChatForm.prose(of: JSONValue(event)) == nil)
    let model = try? GroupChat.SystemEvent(event)
    #expect(model.flatMap { GroupChat.Change($0) } == nil)
  }
}
