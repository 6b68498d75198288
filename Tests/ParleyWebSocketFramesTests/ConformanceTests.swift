import Testing
import ParleyWebSocketFrames

/// A stream of frames, and the expected results of reading it.
struct FrameCase: Sendable, CustomTestStringConvertible {
  let name: String
  let bytes: [UInt8]
  let events: [Seen]

  init(_ name: String, _ frames: [RawFrame], _ events: [Seen]) {
    self.name = name
    bytes = frames.flatMap(\.bytes)
    self.events = events
  }

  var testDescription: String { name }
}

/// The cases of Autobahn's groups 1 to 7 and 10, at the level of frames: each whole and byte by byte.
@Suite("Conformance of frames")
struct ConformanceTests {
  /// Checks a case, read in one piece, byte by byte, in pieces of 997 bytes, and from a server.
  static func check(_ test: FrameCase) {
    let count = test.bytes.count
    #expect(Reading.of(test.bytes) == test.events)
    #expect(Reading.of(test.bytes, cuts: Array(0...count)) == test.events)
    #expect(
      Reading.of(test.bytes, cuts: Array(stride(from: 997, to: count, by: 997))) == test.events)
  }

  private static let messageSizes = [0, 1, 125, 126, 127, 128, 65_535, 65_536, 200_000]

  @Test("1: messages of any size", arguments: messageSizes)
  func anySize(count: Int) {
    let text = [UInt8](repeating: UInt8(ascii: "*"), count: count)
    Self.check(FrameCase("text", [RawFrame(1, text)], [.text(text)]))
    let binary = (0..<count).map { UInt8(truncatingIfNeeded: 0xfe &- $0) }
    Self.check(FrameCase("binary", [RawFrame(2, binary)], [.binary(binary)]))
  }

  private static let hello = Array("Hello, world!".utf8)
  private static let long = [UInt8](repeating: 0xfe, count: 125)

  @Test(
    "2: pings and pongs",
    arguments: [
      FrameCase("2.1", [RawFrame(9)], [.ping([])]),
      FrameCase("2.2", [RawFrame(9, hello)], [.ping(hello)]),
      FrameCase("2.3", [RawFrame(9, [0, 255, 254, 253, 0])], [.ping([0, 255, 254, 253, 0])]),
      FrameCase("2.4", [RawFrame(9, long)], [.ping(long)]),
      FrameCase("2.5", [RawFrame(9, long + [0])], [.failure(.longControl)]),
      FrameCase("2.7", [RawFrame(10)], [.pong([])]),
      FrameCase("2.8", [RawFrame(10, hello)], [.pong(hello)]),
      FrameCase("2.9", [RawFrame(10, hello), RawFrame(9, long)], [.pong(hello), .ping(long)]),
      FrameCase(
        "2.10", (0..<10).map { RawFrame(9, "payload-\($0)") },
        (0..<10).map { .ping(Array("payload-\($0)".utf8)) }),
    ])
  func pings(test: FrameCase) { Self.check(test) }

  @Test(
    "3: reserved bits",
    arguments: [
      FrameCase("3.1", [RawFrame(1, hello, reserved: 4)], [.failure(.reservedBits)]),
      FrameCase(
        "3.2", [RawFrame(1, hello), RawFrame(1, hello, reserved: 2), RawFrame(9)],
        [.text(hello), .failure(.reservedBits)]),
      FrameCase(
        "3.3", [RawFrame(1, hello), RawFrame(1, hello, reserved: 3), RawFrame(9)],
        [.text(hello), .failure(.reservedBits)]),
      FrameCase(
        "3.4", [RawFrame(1, hello), RawFrame(1, hello, reserved: 1), RawFrame(9)],
        [.text(hello), .failure(.reservedBits)]),
      FrameCase("3.5", [RawFrame(2, long, reserved: 5)], [.failure(.reservedBits)]),
      FrameCase("3.6", [RawFrame(9, hello, reserved: 6)], [.failure(.reservedBits)]),
      FrameCase("3.7", [RawFrame(8, [], reserved: 7)], [.failure(.reservedBits)]),
    ])
  func reserved(test: FrameCase) { Self.check(test) }

  @Test("4: opcodes without a meaning", arguments: [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8])
  func opcodes(opcode: UInt8) {
    Self.check(
      FrameCase(
        "4.1, 4.2", [RawFrame(1, Self.hello), RawFrame(opcode, Self.hello), RawFrame(9)],
        [.text(Self.hello), .failure(.unknownOpcode(opcode))]))
    Self.check(FrameCase("empty", [RawFrame(opcode)], [.failure(.unknownOpcode(opcode))]))
  }

  private static func part(_ opcode: UInt8, _ text: String, final: Bool = false) -> RawFrame {
    RawFrame(opcode, text, final: final)
  }

  @Test(
    "5: fragments",
    arguments: [
      FrameCase(
        "5.1", [part(9, "fragment1"), part(0, "fragment2", final: true)],
        [.failure(.fragmentedControl)]),
      FrameCase(
        "5.2", [part(10, "fragment1"), part(0, "fragment2", final: true)],
        [.failure(.fragmentedControl)]),
      FrameCase(
        "5.3", [part(1, "fragment1"), part(0, "fragment2", final: true)],
        [.text("fragment1fragment2")]),
      FrameCase(
        "5.6", [part(1, "fragment1"), RawFrame(9, hello), part(0, "fragment2", final: true)],
        [.ping(hello), .text("fragment1fragment2")]),
      FrameCase(
        "5.9", [part(0, "non-continuation", final: true), RawFrame(1, hello)],
        [.failure(.unexpectedContinuation)]),
      FrameCase(
        "5.12", [part(0, "non-continuation"), RawFrame(1, hello)],
        [.failure(.unexpectedContinuation)]),
      FrameCase(
        "5.15",
        [
          part(1, "fragment1"), part(0, "fragment2", final: true), part(0, "fragment3"),
          part(1, "fragment4", final: true),
        ], [.text("fragment1fragment2"), .failure(.unexpectedContinuation)]),
      FrameCase(
        "5.16", [part(0, "fragment1"), part(1, "fragment2"), part(0, "fragment3", final: true)],
        [.failure(.unexpectedContinuation)]),
      FrameCase(
        "5.18", [part(1, "fragment1"), part(1, "fragment2", final: true)],
        [.failure(.expectedContinuation)]),
      FrameCase(
        "5.19",
        [
          part(1, "fragment1"), part(0, "fragment2"), RawFrame(9, "pongme 1!"),
          part(0, "fragment3"), part(0, "fragment4"), RawFrame(9, "pongme 2!"),
          part(0, "fragment5", final: true),
        ],
        [
          .ping(Array("pongme 1!".utf8)), .ping(Array("pongme 2!".utf8)),
          .text("fragment1fragment2fragment3fragment4fragment5"),
        ]),
      FrameCase(
        "a binary message within a text", [part(1, "a"), RawFrame(2, [1])],
        [.failure(.expectedContinuation)]),
      FrameCase(
        "empty fragments", [part(2, ""), part(0, ""), part(0, "", final: true)], [.binary([])]),
      FrameCase(
        "a close between fragments", [part(1, "a"), RawFrame(8), part(0, "b", final: true)],
        [.close(nil, [])]),
    ])
  func fragments(test: FrameCase) { Self.check(test) }

  @Test(
    "6: text that is UTF-8",
    arguments: [
      "", "Hello-µ@ßöäüàá-UTF-8!!", "κόσμε", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaé",
      "漢字🎈é漢字🎈é漢字🎈é漢字🎈é",
    ].map { Array($0.utf8) }
      + ([
        0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfdd0, 0xfffd, 0xfffe, 0xffff, 0x10000,
        0x1fffe, 0x10ffff,
      ] as [UInt32]).compactMap(Unicode.Scalar.init).map { Array(String($0).utf8) })
  func valid(bytes: [UInt8]) {
    Self.check(FrameCase("6.1, 6.2, 6.5 to 6.11", [RawFrame(1, bytes)], [.text(bytes)]))
    // 6.2.3 and 6.2.4: a fragment for each byte.
    var frames = bytes.enumerated().map { RawFrame($0 == 0 ? 1 : 0, [$1], final: false) }
    frames.append(RawFrame(frames.isEmpty ? 1 : 0))
    Self.check(FrameCase("a fragment for each byte", frames, [.text(bytes)]))
  }

  /// Invalid texts; each begins to be so at its last byte but the number of bytes given.
  private static let invalidTexts: [([UInt8], Int)] = [
    ([0xce, 0xba, 0xe1, 0xbd, 0xb9, 0xed, 0xa0, 0x80, 0x65], 2), ([0x80], 0), ([0xbf], 0),
    ([0x80, 0xbf], 1), ([0xc0, 0xaf], 1), ([0xc1, 0xbf], 1), ([0xe0, 0x80, 0xaf], 1),
    ([0xe0, 0x9f, 0xbf], 1), ([0xf0, 0x80, 0x80, 0xaf], 2), ([0xf0, 0x8f, 0xbf, 0xbf], 2),
    ([0xf8, 0x80, 0x80, 0x80, 0xaf], 4), ([0xfc, 0x80, 0x80, 0x80, 0x80, 0xaf], 5),
    ([0xed, 0xa0, 0x80], 1), ([0xed, 0xad, 0xbf], 1), ([0xed, 0xae, 0x80], 1),
    ([0xed, 0xbf, 0xbf], 1), ([0xed, 0xa0, 0x80, 0xed, 0xb0, 0x80], 4),
    ([0xf4, 0x90, 0x80, 0x80], 2), ([0xf5, 0x80, 0x80, 0x80], 3), ([0xfe], 0), ([0xff], 0),
    ([0xc3, 0x28], 0), ([0xe2, 0x82, 0x28], 0), ([0xf0, 0x9f, 0x8e, 0x28], 0),
    ([0xe2, 0x28, 0xa1], 1), ([0xf0, 0x28, 0x8c, 0xbc], 2), ([0xfb], 0), ([0xe0, 0xc0], 0),
    (Array(repeating: 0x61, count: 40) + [0xff], 0),
  ]

  @Test("6: text that is not UTF-8", arguments: invalidTexts)
  func invalid(bytes: [UInt8], wrongFromEnd: Int) {
    for (before, after) in [([], []), ([0x61], [0x61]), (Array("漢字 abcdefgh".utf8), [0x20, 0x20])]
      as [([UInt8], [UInt8])]
    {
      let text = before + bytes + after
      Self.check(FrameCase("6.3", [RawFrame(1, text), RawFrame(9)], [.failure(.textNotUTF8)]))
      // 6.4: it fails at the first wrong byte, however much is still to come, and not before.
      var reading = Reading()
      let frame = RawFrame(1, text + [UInt8](repeating: 0x61, count: 1000)).bytes
      let wrong = before.count + bytes.count - 1 - wrongFromEnd
      reading.feed(frame[..<(8 + wrong)])
      #expect(reading.seen.isEmpty)
      reading.feed(frame[(8 + wrong)...(8 + wrong)])
      #expect(reading.seen == [.failure(.textNotUTF8)])
    }
  }

  @Test(
    "6: text that ends within a scalar", arguments: [[0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x8e]])
  func truncated(bytes: [UInt8]) {
    Self.check(FrameCase("6.6", [RawFrame(1, bytes), RawFrame(9)], [.failure(.textNotUTF8)]))
    Self.check(
      FrameCase(
        "a fragment", [RawFrame(1, bytes, final: false), RawFrame(0, [0x61])],
        [.failure(.textNotUTF8)]))
    Self.check(
      FrameCase(
        "an empty last fragment", [RawFrame(1, bytes, final: false), RawFrame(0)],
        [.failure(.textNotUTF8)]))
  }

  private static func close(_ status: UInt16, _ reason: [UInt8] = []) -> RawFrame {
    RawFrame(8, [UInt8(status >> 8), UInt8(status & 255)] + reason)
  }

  @Test(
    "7: closing",
    arguments: [
      FrameCase("7.1.1", [RawFrame(1, hello), close(1000)], [.text(hello), .close(1000, [])]),
      FrameCase("7.1.2", [close(1000), close(1000)], [.close(1000, [])]),
      FrameCase("7.1.3", [close(1000), RawFrame(9)], [.close(1000, [])]),
      FrameCase("7.1.4", [close(1000), RawFrame(1, hello)], [.close(1000, [])]),
      FrameCase(
        "7.1.5", [part(1, "fragment1"), close(1000), part(0, "fragment2", final: true)],
        [.close(1000, [])]),
      FrameCase("7.3.1", [RawFrame(8)], [.close(nil, [])]),
      FrameCase("7.3.2", [RawFrame(8, "a")], [.failure(.closePayloadOfOneByte)]),
      FrameCase("7.3.3", [close(1000)], [.close(1000, [])]),
      FrameCase("7.3.4", [close(1000, hello)], [.close(1000, hello)]),
      FrameCase(
        "7.3.5", [close(1000, [UInt8](repeating: 0x2a, count: 123))],
        [.close(1000, [UInt8](repeating: 0x2a, count: 123))]),
      FrameCase(
        "7.3.6", [close(1000, [UInt8](repeating: 0x2a, count: 124))], [.failure(.longControl)]),
      FrameCase(
        "7.5.1", [close(1000, [0xce, 0xba, 0xed, 0xa0, 0x80, 0x65])],
        [.failure(.closeReasonNotUTF8)]),
      FrameCase(
        "a reason cut within a scalar", [close(1000, [0xc3])], [.failure(.closeReasonNotUTF8)]),
    ])
  func closing(test: FrameCase) { Self.check(test) }

  @Test(
    "7.7: status codes that may be sent",
    arguments: [
      1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000,
      4999,
    ] as [UInt16])
  func validStatus(status: UInt16) {
    Self.check(FrameCase("7.7", [Self.close(status)], [.close(status, [])]))
    Self.check(FrameCase("7.7", [Self.close(status, Self.hello)], [.close(status, Self.hello)]))
  }

  @Test(
    "7.9, 7.13: status codes that may not",
    arguments: [
      0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535,
    ] as [UInt16])
  func invalidStatus(status: UInt16) {
    Self.check(FrameCase("7.9", [Self.close(status)], [.failure(.closeStatus(status))]))
    Self.check(FrameCase("7.9", [Self.close(status, Self.hello)], [.failure(.closeStatus(status))]))
  }

  @Test func `10: a message cut in many frames`() {
    let text = [UInt8](repeating: 0x2a, count: 65_536)
    let starts = stride(from: 0, to: text.count, by: 1300)
    let frames = starts.map {
      RawFrame(
        $0 == 0 ? 1 : 0, Array(text[$0..<min($0 + 1300, text.count)]),
        final: $0 + 1300 >= text.count)
    }
    Self.check(FrameCase("10.1.1", frames, [.text(text)]))
  }

  // MARK: Masks and lengths

  @Test func `a server accepts only masked frames, and a client only unmasked ones`() {
    var bare = RawFrame(1, "a")
    bare.key = nil
    #expect(Reading.of(bare.bytes) == [.failure(.notMasked)])
    #expect(Reading.of(bare.bytes, .client) == [.text("a")])
    #expect(Reading.of(RawFrame(1, "a").bytes, .client) == [.failure(.masked)])
    // Seen at the second byte, whatever is to come.
    #expect(Reading.of([0x81, 0x05]) == [.failure(.notMasked)])
    #expect(Reading.of([0x81, 0x85], .client) == [.failure(.masked)])
  }

  @Test(arguments: [(0, 2), (125, 2), (0, 8), (125, 8), (126, 8), (65_535, 8)])
  func `a length must use the fewest bytes`(count: Int, lengthBytes: Int) {
    var frame = RawFrame(2, [UInt8](repeating: 1, count: count))
    frame.lengthBytes = lengthBytes
    Self.check(FrameCase("", [frame], [.failure(.lengthNotMinimal)]))
  }

  @Test(arguments: [1 << 63, 1 << 63 | 5, .max] as [UInt64])
  func `a length of 2^63 is refused at the header`(length: UInt64) {
    var frame = RawFrame(2, [])
    frame.declared = length
    #expect(Reading.of(Array(frame.bytes[..<10])) == [.failure(.lengthBeyondRange)])
  }

  @Test(arguments: [UInt8(1), 2], [126, 127] as [UInt8])
  func `a long control frame is refused at its second byte`(opcode: UInt8, length: UInt8) {
    #expect(Reading.of([0x87 + opcode, 0x80 | length]) == [.failure(.longControl)])
  }

  @Test func `an invalid first byte is refused before the second arrives`() {
    #expect(Reading.of([0xf1]) == [.failure(.reservedBits)])
    #expect(Reading.of([0x83]) == [.failure(.unknownOpcode(3))])
    #expect(Reading.of([0x09]) == [.failure(.fragmentedControl)])
    #expect(Reading.of([0x80]) == [.failure(.unexpectedContinuation)])
  }

  @Test func `every key unmasks, wherever the payload is cut`() {
    let payload = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    for key in [[0, 0, 0, 0], [1, 2, 3, 4], [255, 0, 255, 0]] as [[UInt8]] {
      var frame = RawFrame(2, payload)
      frame.key = key
      let bytes = frame.bytes
      for cut in 1..<bytes.count {
        #expect(Reading.of(bytes, cuts: [cut]) == [.binary(payload)])
      }
    }
  }

  // MARK: Compression

  @Test func `RSV1 is allowed only in the first frame of a message, after negotiation`() {
    func of(_ frames: RawFrame...) -> [Seen] {
      Reading.of(frames.flatMap(\.bytes), acceptsCompressed: true)
    }
    // Not checked as text: it is not inflated yet.
    #expect(of(RawFrame(1, [0xff, 0xfe], reserved: 4)) == [.compressed(.text, [0xff, 0xfe])])
    #expect(
      of(RawFrame(2, [0xff], final: false, reserved: 4), RawFrame(9), RawFrame(0, [0xfe]))
        == [.ping([]), .compressed(.binary, [0xff, 0xfe])])
    #expect(of(RawFrame(1, "a")) == [.text("a")])
    #expect(
      of(RawFrame(2, [0xff], final: false, reserved: 4), RawFrame(0, [0xfe], reserved: 4))
        == [.failure(.reservedBits)])
    #expect(of(RawFrame(9, [], reserved: 4)) == [.failure(.reservedBits)])
    #expect(of(RawFrame(1, [], reserved: 6)) == [.failure(.reservedBits)])
  }
}
