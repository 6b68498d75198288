import ParleySocketIO
import Testing

@Suite("Packets")
struct PacketTests {
  @Test(
    "packets of Socket.IO are decoded and encoded again",
    arguments: [
      "40", #"40{"sid":"x"}"#, "41", #"42["authenticated"]"#, #"421["online:get",{"data":["u1"]}]"#,
      #"431[{"data":[["u1",true]]}]"#, #"42/admin,7["x"]"#, "40/admin,", #"44/admin,"no""#, "41/a,",
    ])
  func socketPackets(text: String) throws {
    let engine = try #require(EnginePacket(text: text.utf8, generation: .four))
    guard case .message(let content) = engine else {
      Issue.record("no message")
      return
    }
    let packet = try #require(SocketPacket(content))
    #expect(packet.engineText.elementsEqual(text.utf8))
  }

  @Test(
    "rejects a malformed packet",
    arguments: [
      "", "5", "9", "2", "2{}", "2[]", "2[7]", #"2["x""#, #"2["x"]]"#, "3[]", "31{}", "3",
      #"51-["x",{"_placeholder":true,"num":0}]"#, "21234567890123456[\"x\"]", "0{", "\u{ff}",
      "4\r4", "0 7",
    ])
  func noPackets(text: String) {
    #expect(SocketPacket(text.utf8) == nil)
  }

  @Test("the query of a namespace is ignored")
  func query() throws {
    #expect(try #require(SocketPacket("0/admin?token=x&y=/z,".utf8)).namespace == "/admin")
    #expect(try #require(SocketPacket("0/admin?token=x".utf8)).namespace == "/admin")
  }

  @Test(
    "a body of the third generation is decoded with lengths in any unit",
    arguments: [
      "7:42[\"é\"]", "8:42[\"é\"]", "8:42[\"👍\"]", "7:42[\"👍\"]", "10:42[\"👍\"]",
      "7:42[\"é\"]1:2", "8:42[\"👍\"]7:42[\"é\"]",
    ])
  func counts(body: String) throws {
    let packets = try #require(EnginePayload.decode(Array(body.utf8), generation: .three))
    guard case .message(let content) = try #require(packets.first) else {
      Issue.record("no message")
      return
    }
    #expect(SocketPacket(content)?.eventName != nil)
  }

  /// The clients of Socket.IO 1 encode text twice. The same bytes are a legal body of Socket.IO 2, so they cannot be told
  /// apart; Compatibility.md says what happens.
  @Test("a doubly encoded body is decoded")
  func doubled() throws {
    let twice = String("42[\"é\"]".utf8.map { Character(Unicode.Scalar($0)) })
    let body = "\(twice.utf16.count):\(twice)"
    let packets = try #require(EnginePayload.decode(Array(body.utf8), generation: .three))
    #expect(packets == [.message(Array("2[\"Ã©\"]".utf8))])
  }

  @Test("the binary form of a body is read")
  func binary() throws {
    let text = Array(#"42["é"]"#.utf8)
    let body: [UInt8] = [0, UInt8(text.count), 0xff] + text + [1, 3, 0xff, 4, 0xde, 0xad]
    #expect(
      EnginePayload.decode(body, generation: .three)
        == [.message(Array(text.dropFirst())), .binary([0xde, 0xad])])
  }

  @Test("bodies are encoded so that lengths are right in every unit")
  func writing() throws {
    let packet = Array(#"42["é👍"]"#.utf8)
    let body = EnginePayload.encode([packet, [UInt8(ascii: "6")]], generation: .three)
    #expect(
      String(decoding: body, as: UTF8.self)
        == "24:42[\"\\u00e9\\ud83d\\udc4d\"]1:6")
    let packets = try #require(EnginePayload.decode(body, generation: .three))
    #expect(packets.count == 2)
    #expect(
      String(
        decoding: EnginePayload.encode([packet, [UInt8(ascii: "6")]], generation: .four),
        as: UTF8.self) == "42[\"é👍\"]\u{1e}6")
  }

  @Test(
    "rejects a malformed body",
    arguments: [
      "", ":", "1", "1:", "5:42", "-1:2", "0:", "1:2x", "99999999999:2", "3:é", "\u{0}",
      "\u{0}\u{1}",
      "\u{1}\u{1}", "\u{0}\u{9}\u{9}\u{9}",
    ])
  func noBodies(body: String) {
    #expect(EnginePayload.decode(Array(body.utf8), generation: .three) == nil)
  }

  @Test("the position of an event is its last argument")
  func places() throws {
    let event = try #require(SocketPacket(#"2/chat,["x",{"y":[1]}]"#.utf8))
    #expect(
      String(decoding: event.numbered("k.1z").engineText, as: UTF8.self)
        == #"42/chat,["x",{"y":[1]},"k.1z"]"#)
    #expect(SocketPacket(event.numbered("k.1z").engineText.dropFirst())?.arguments.count == 2)
  }

  @Test("binary parts in Base64 are read")
  func base64() {
    #expect(EnginePacket(text: "bAQI=".utf8, generation: .four) == .binary([1, 2]))
    #expect(EnginePacket(text: "b4AQI=".utf8, generation: .three) == .binary([1, 2]))
    for bad in ["bA", "b=", "b*", "bAQI=A"] {
      #expect(EnginePacket(text: bad.utf8, generation: .four) == nil, "\(bad)")
    }
  }

  @Test("random bytes are decoded or refused", arguments: 0..<200 as Range<UInt64>)
  func anything(seed: UInt64) {
    var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    func next() -> UInt8 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return UInt8(truncatingIfNeeded: state >> 24)
    }
    let alphabet = Array("0123456789:[]{}\"/,b=\u{1e}\u{0}\u{1}".utf8) + [0xff, 0xe9, 0xf0]
    let bytes = (0..<Int(next()) % 40).map { _ in alphabet[Int(next()) % alphabet.count] }
    for generation in EngineGeneration.allCases {
      for packet in EnginePayload.decode(bytes, generation: generation) ?? [] {
        if case .message(let content) = packet, let packet = SocketPacket(content) {
          #expect(SocketPacket(packet.engineText.dropFirst()) == packet)
        }
      }
    }
  }
}
