import ParleyJSON
import ParleyPusher
import Testing

@Suite("A connection of Pusher's protocol")
struct SessionTests {
  @Test(
    "a channel's kind follows from its name",
    arguments: [
      ("news", "open"), ("private-a", "restricted"), ("presence-r", "presence"),
      ("private-encrypted-a", "encrypted"), ("cache-a", "open cache"),
      ("private-cache-a", "restricted cache"), ("presence-cache-a", "presence cache"),
      ("private-encrypted-cache-a", "encrypted cache"), ("privatea", "open"),
      ("#server-to-user-7", #"user(id: "7")"#), ("a_-=@,.;1", "open"),
      ("", "none"), ("a/b", "none"), ("é", "none"), ("a b", "none"), ("#other", "none"),
      ("#server-to-user-", "none"),
    ])
  func kinds(name: String, expected: String) {
    let channel = PusherChannel(name)
    #expect(channel.map { "\($0.kind)" + ($0.isCache ? " cache" : "") } ?? "none" == expected)
  }

  @Test("a name may have 200 bytes")
  func lengths() {
    #expect(PusherChannel(String(repeating: "a", count: 200)) != nil)
    #expect(PusherChannel(String(repeating: "a", count: 201)) == nil)
  }

  @Test("a signature is valid for its socket, channel and data alone")
  func subscriptions() {
    var client = Client()
    #expect(client.subscribe("news") == ["subscribe news"])
    #expect(client.subscribe("private-a") == ["subscribe private-a"])
    let data = #"{"user_id":10,"user_info":{"name":"Ann"}}"#
    #expect(client.subscribe("presence-r", data) == ["subscribe presence-r as 10"])
    // Again, as another member.
    #expect(
      client.subscribe("presence-r", #"{"user_id":"11"}"#) == [
        "unsubscribe presence-r", "subscribe presence-r as 11",
      ])
    let refusal = #""data":{"type":"AuthError""#
    for (channel, auth, data) in [
      ("private-b", client.auth("private-a"), ""), ("private-b", "", ""),
      ("presence-r", client.auth("presence-r"), #","channel_data":"{\"user_id\":\"1\"}""#),
      ("#server-to-user-7", "", ""),
    ] {
      let answer = client.say(
        #"{"event":"pusher:subscribe","data":{"channel":"\#(channel)","auth":"\#(auth)"\#(data)}}"#)
      #expect(answer.count == 1 && answer[0].contains(refusal), "\(channel): \(answer)")
    }
    for data in ["{}", #"{"user_id":""}"#, #"{"user_id":true}"#, "[]"] {
      #expect(client.subscribe("presence-q", data)[0].contains("InvalidRequest"), "\(data)")
    }
    #expect(
      client.say(#"{"event":"pusher:unsubscribe","data":{"channel":"news"}}"#) == [
        "unsubscribe news"
      ])
    #expect(client.say(#"{"event":"pusher:unsubscribe","data":{"channel":"news"}}"#) == [])
    // Data of the protocol's own events may be text.
    #expect(
      client.say(#"{"event":"pusher:subscribe","data":"{\"channel\":\"news\"}"}"#) == [
        "subscribe news"
      ])
  }

  @Test("a connection has a number of channels at most")
  func channels() {
    var client = Client(channelsMax: 2)
    for channel in ["a", "b"] { #expect(client.subscribe(channel) == ["subscribe \(channel)"]) }
    #expect(client.subscribe("c")[0].contains(#""type":"LimitReached""#))
    #expect(client.subscribe("a") == ["unsubscribe a", "subscribe a"])
    #expect(client.say(#"{"event":"pusher:unsubscribe","data":{"channel":"a"}}"#).count == 1)
    #expect(client.subscribe("c") == ["subscribe c"])
  }

  @Test("a signed-in user's own channel is that user's, and a false signature ends the connection")
  func signIn() {
    var client = Client()
    func signIn(_ data: String, _ auth: String) -> String {
      #"{"event":"pusher:signin","data":{"auth":"\#(auth)","user_data":\#(quoted(data))}}"#
    }
    let data = #"{"id":"12345"}"#
    let auth =
      "278d425bdf160c739803:4708d583dada6a56435fb8bc611c77c359a31eebde13337c16ab43aa6de336ba"
    #expect(
      client.say(signIn(data, auth)) == [
        #"{"event":"pusher:signin_success","data":"{\"user_data\":\"{\\\"id\\\":\\\"12345\\\"}\"}"}"#
      ])
    #expect(client.subscribe("#server-to-user-12345") == ["subscribe #server-to-user-12345"])
    #expect(client.subscribe("#server-to-user-1")[0].contains("AuthError"))
    #expect(client.say(signIn(#"{"id":"1"}"#, auth)).last == "close 4009")
    #expect(client.subscribe("news") == [], "nothing follows the end")
  }

  @Test("client events are for signed channels that were joined, if the app allows them")
  func clientEvents() {
    func event(_ channel: String, _ data: String = #"{"on":true}"#) -> String {
      #"{"event":"client-typing","channel":"\#(channel)","data":\#(data)}"#
    }
    var client = Client()
    for channel in ["news", "private-a", "private-encrypted-a"] { _ = client.subscribe(channel) }
    _ = client.subscribe("presence-r", #"{"user_id":"7"}"#)
    #expect(
      client.say(event("private-a")) == [#"publish client-typing private-a {"on":true}"#])
    #expect(
      client.say(event("presence-r", #""text""#)) == [
        #"publish client-typing presence-r "text" by 7"#
      ])
    let large = #""\#(String(repeating: "x", count: PusherClientEvent.bytesMax))""#
    for message in [
      event("news"), event("private-encrypted-a"), event("private-b"), event("private-a", large),
    ] {
      #expect(client.say(message)[0].contains(#""code":4301"#))
    }
    var other = Client(exampleApp(allowsClientEvents: false))
    _ = other.subscribe("private-a")
    #expect(other.say(event("private-a"))[0].contains(#""code":4301"#))
  }

  @Test("a silent client is sent a ping, and its connection ends without a pong")
  func silence() {
    var client = Client()
    func tick(_ now: Int64) -> [String] { described(client.session.ticked(now: now)) }
    #expect(tick(29_999) == [])
    #expect(tick(30_000) == [#"{"event":"pusher:ping","data":"{}"}"#])
    #expect(client.say(#"{"event":"pusher:pong","data":{}}"#, at: 40_000) == [])
    #expect(tick(69_999) == [])
    #expect(tick(70_000).count == 1)
    #expect(tick(99_999) == [])
    #expect(tick(100_000).last == "close 4201")
    #expect(tick(200_000) == [])
  }

  @Test(
    "a malformed message is answered with an error, and the connection stays",
    arguments: [
      "", "[]", "1", "{}", #"{"event":1}"#, #"{"event":""}"#, #"{"event":"other"}"#,
      #"{"event":"pusher:subscribe"}"#, #"{"event":"pusher:subscribe","data":{"channel":1}}"#,
      #"{"event":"pusher:signin","data":{}}"#, #"{"event":"pusher:subscribe","data":"{"}"#,
      #"{"event":"\#(String(repeating: "a", count: 201))"}"#,
      #"{"event":"pusher:ping","data":"\#(String(repeating: "a", count: PusherMessage.bytesMax))"}"#,
    ])
  func malformed(message: String) {
    var client = Client()
    let answer = client.say(message)
    #expect(answer.count == 1 && answer[0].contains(#""code":4300"#), "\(answer)")
    #expect(
      client.say(#"{"event":"pusher:ping","data":{}}"#) == [#"{"event":"pusher:pong","data":"{}"}"#]
    )
  }

  @Test("versions 5 to 7 are served")
  func versions() {
    #expect(["5", "6", "7"].allSatisfy { PusherSession.problem(ofProtocol: $0) == nil })
    #expect(PusherSession.problem(ofProtocol: nil) == .noProtocol)
    #expect(PusherSession.problem(ofProtocol: "") == .noProtocol)
    #expect(PusherSession.problem(ofProtocol: "8") == .unsupportedProtocol)
  }
}

@Suite("Frames of Pusher's protocol")
struct FrameTests {
  @Test("each frame is as clients know it")
  func golden() throws {
    let info: JSONValue = ["name": JSONValue("Ann")]
    let ann = PusherMember(userID: "7", info: info)
    let channel = try #require(PusherChannel("presence-r"))
    let frames: [([UInt8], String)] = [
      (
        PusherFrame.established(socketID: "123.456", activitySeconds: 30),
        #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"123.456\",\"activity_timeout\":30}"}"#
      ),
      (
        PusherFrame.subscribed(to: "news", members: nil),
        #"{"event":"pusher_internal:subscription_succeeded","channel":"news","data":"{}"}"#
      ),
      (
        PusherFrame.subscribed(to: "presence-r", members: [ann]),
        #"{"event":"pusher_internal:subscription_succeeded","channel":"presence-r","data":"{\"presence\":{\"ids\":[\"7\"],\"hash\":{\"7\":{\"name\":\"Ann\"}},\"count\":1}}"}"#
      ),
      (
        PusherFrame.refused(.otherUser, channel: "#server-to-user-7"),
        ##"{"event":"pusher:subscription_error","channel":"#server-to-user-7","data":{"type":"AuthError","error":"this channel belongs to another user; sign in first","status":401}}"##
      ),
      (
        PusherFrame.added(ann, channel: "presence-r"),
        #"{"event":"pusher_internal:member_added","channel":"presence-r","data":"{\"user_id\":\"7\",\"user_info\":{\"name\":\"Ann\"}}"}"#
      ),
      (
        PusherFrame.removed("7", channel: "presence-r"),
        #"{"event":"pusher_internal:member_removed","channel":"presence-r","data":"{\"user_id\":\"7\"}"}"#
      ),
      (
        PusherFrame.event("order", channel: "news", data: #"{"n":1}"#),
        #"{"event":"order","channel":"news","data":"{\"n\":1}"}"#
      ),
      (
        PusherFrame.event(
          PusherClientEvent(
            channel: channel, event: "client-typing", data: ["on": JSONValue(true)], userID: "7")),
        #"{"event":"client-typing","channel":"presence-r","data":{"on":true},"user_id":"7"}"#
      ),
      (
        PusherFrame.cacheMiss(channel: "cache-a"),
        #"{"event":"pusher:cache_miss","channel":"cache-a","data":"{}"}"#
      ),
      (
        PusherFrame.error(.unknownApp),
        #"{"event":"pusher:error","data":{"code":4001,"message":"no app of this server has this key"}}"#
      ),
      (PusherFrame.ping, #"{"event":"pusher:ping","data":"{}"}"#),
      (PusherFrame.pong, #"{"event":"pusher:pong","data":"{}"}"#),
    ]
    for (bytes, text) in frames { #expect(String(decoding: bytes, as: UTF8.self) == text) }
  }

  @Test("codes say whether a client reconnects")
  func codes() {
    let ends: [PusherError] = [
      .unknownApp, .noProtocol, .unsupportedProtocol, .unauthorised, .overCapacity, .draining,
      .pongMissing,
    ]
    #expect(ends.map(\.code) == [4001, 4008, 4007, 4009, 4100, 4200, 4201])
    #expect(ends.allSatisfy { $0.endsConnection })
    let others: [PusherError] = [
      .malformed, .tooLarge(bytesMax: 1), .clientEventRefused(""),
      .clientEventsTooFast(perSecondMax: 10),
    ]
    #expect(others.allSatisfy { !$0.endsConnection && (4300...4399).contains($0.code) })
  }
}
