import ParleyOTWorkloads
import Testing
import ParleyWebSocketFrames

/// Laws over seeded streams: right ones, and right ones spoilt.
@Suite("Laws of frames")
struct LawTests {
  @Test(arguments: Seeds.smoke)
  func `any split of the same bytes gives the events of a plain reader`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    for _ in 0..<40 {
      let side: FrameReader.Side = generator.chance(70) ? .server : .client
      let acceptsCompressed = generator.chance(30)
      let limits = FrameLimits(
        messageBytesMax: generator.chance(50) ? 2000 : 200, fragmentsMax: 8, tinyFragmentsMax: 4)
      let bytes = FrameStream.random(
        from: side == .server ? .client : .server, allowsCompressed: acceptsCompressed, &generator)
      let plain = PlainReader.read(
        bytes, side: side, limits: limits, acceptsCompressed: acceptsCompressed)
      for cuts in cuts(bytes.count, &generator) {
        let seen = Reading.of(
          bytes, cuts: cuts, side, limits: limits, acceptsCompressed: acceptsCompressed)
        #expect(seen == plain, "seed \(seed), cut at \(cuts), bytes \(bytes)")
      }
    }
  }

  @Test(arguments: Seeds.smoke)
  func `encoded frames are decoded on both sides`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    for side in [FrameReader.Side.server, .client] {
      // Frames to a server are masked.
      func key() -> UInt32? {
        side == .server ? UInt32(truncatingIfNeeded: generator.next()) : nil
      }
      var bytes: [UInt8] = []
      var expected: [Seen] = []
      for _ in 0..<20 {
        let payload = FrameStream.payload(&generator, max: 70_000)
        let short = Array(payload.prefix(125))
        switch generator.below(6) {
        case 0:
          bytes += Frame(.binary, maskKey: key()) { $0 += payload }.bytes
          expected.append(.binary(payload))
        case 1:
          let text = String(repeating: "é漢🎈a", count: payload.count / 16)
          bytes += Frame(.text, maskKey: key()) { $0 += Array(text.utf8) }.bytes
          expected.append(.text(text))
        case 2:
          bytes += Frame.ping(short, maskKey: key()).bytes
          expected.append(.ping(short))
        case 3:
          bytes += Frame.pong(short, maskKey: key()).bytes
          expected.append(.pong(short))
        case 4:
          bytes +=
            Frame(.binary, isCompressed: true, maskKey: key()) { $0 += payload }.bytes
          expected.append(.compressed(.binary, payload))
        default:
          let half = payload.count / 2
          bytes +=
            Frame(
              .binary, .first, maskKey: key(), payload: payload[..<half]
            ).bytes
          bytes += Frame.ping([1], maskKey: key()).bytes
          bytes +=
            Frame(
              .binary, .last, maskKey: key(), payload: payload[half...]
            ).bytes
          expected += [.ping([1]), .binary(payload)]
        }
      }
      bytes += Frame.close(.goingAway, reason: "bye", maskKey: key()).bytes
      expected.append(.close(1001, Array("bye".utf8)))
      let whole = Reading.of(bytes, side, acceptsCompressed: true)
      #expect(whole == expected)
      let pieces = Array(stride(from: 1000, to: bytes.count, by: 1000))
      #expect(Reading.of(bytes, cuts: pieces, side, acceptsCompressed: true) == expected)
    }
  }

  @Test(arguments: Seeds.smoke)
  func `UTF-8 is what the standard library takes for it, cut anywhere`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    for _ in 0..<300 {
      let bytes = FrameStream.almostText(&generator)
      let expected = String(validating: bytes, as: UTF8.self) != nil
      for cut in [0, generator.below(bytes.count + 1), generator.below(bytes.count + 1)] {
        var check = UTF8Validator()
        let isValid =
          bytes[..<cut].withUnsafeBytes { check.append($0) }
          && bytes[cut...].withUnsafeBytes { check.append($0) } && check.isAtBoundary
        #expect(isValid == expected, "seed \(seed): \(bytes), cut at \(cut)")
      }
    }
  }

  @Test func `UTF-8 of up to four bytes is what the standard library takes for it`() {
    // Every first byte beyond ASCII, and each edge of what may follow.
    let edges: [UInt8] = [0, 0x61, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xf0, 0xff]
    // Behind enough for the way that takes several bytes at once, and alone.
    for padding in [0, 8] {
      var bytes = [UInt8](repeating: 0x61, count: 4 + padding)
      for first in UInt8(0x7f)...0xff {
        for count in 1...4 {
          for number in 0..<(count == 1 ? 1 : count == 2 ? 12 : count == 3 ? 144 : 1728) {
            bytes[0] = first
            bytes[1] = count > 1 ? edges[number % 12] : 0x61
            bytes[2] = count > 2 ? edges[number / 12 % 12] : 0x61
            bytes[3] = count > 3 ? edges[number / 144] : 0x61
            let text = bytes[..<(count + padding)]
            var check = UTF8Validator()
            let isValid = text.withUnsafeBytes { check.append($0) } && check.isAtBoundary
            if isValid != (String(validating: text, as: UTF8.self) != nil) {
              Issue.record("\(bytes)")
            }
          }
        }
      }
    }
  }

  @Test func `random streams show every event and every failure`() {
    var events: [String: Int] = [:]
    for seed in Seeds.smoke {
      var generator = SplitMix64(seed: seed)
      for _ in 0..<100 {
        let bytes = FrameStream.random(from: .client, allowsCompressed: true, &generator)
        let limits = FrameLimits(messageBytesMax: 200, fragmentsMax: 8, tinyFragmentsMax: 4)
        for seen in Reading.of(bytes, limits: limits, acceptsCompressed: true) {
          events[String("\(seen)".prefix { $0 != "(" && !$0.isNumber && $0 != "[" }), default: 0] +=
            1
        }
      }
    }
    for word in [
      "text ", "binary ", "compressed text ", "oversized ", "ping ", "pong ", "close ",
      "failure reservedBits", "failure unknownOpcode", "failure fragmentedControl",
      "failure longControl", "failure notMasked", "failure lengthNotMinimal",
      "failure lengthBeyondRange", "failure unexpectedContinuation",
      "failure expectedContinuation", "failure tooManyFragments", "failure textNotUTF",
      "failure closeStatus", "failure closeReasonNotUTF",
    ] {
      #expect(events[word, default: 0] > 3, "\(word) in \(events)")
    }
  }
}

/// Random streams of frames.
enum FrameStream {
  static func payload(_ generator: inout SplitMix64, max: Int) -> [UInt8] {
    let count =
      switch generator.below(10) {
      case 0: 0
      case 1...5: generator.below(20)
      case 6: 120 + generator.below(12)
      case 7: generator.below(min(max, 3000) + 1)
      default: generator.below(max + 1)
      }
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }

  /// Text, perhaps with a wrong byte.
  static func almostText(_ generator: inout SplitMix64) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<generator.below(12) {
      switch generator.below(6) {
      case 0: bytes += Array("é".utf8)
      case 1: bytes += Array("漢字".utf8)
      case 2: bytes += Array("🎈".utf8)
      case 3: bytes += [UInt8](repeating: 0x61, count: generator.below(40))
      default: bytes.append(UInt8(generator.below(128)))
      }
    }
    if !bytes.isEmpty, generator.chance(40) {
      let index = generator.below(bytes.count)
      switch generator.below(3) {
      case 0: bytes[index] = UInt8(truncatingIfNeeded: generator.next())
      case 1: bytes.remove(at: index)
      default: bytes[index] = 0xc0 | bytes[index]
      }
    }
    return bytes
  }

  static func random(
    from side: FrameReader.Side, allowsCompressed: Bool, _ generator: inout SplitMix64
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    var isOpen = false
    // Now and then a message in many pieces.
    let isLong = generator.chance(10)
    for _ in 0..<generator.between(1, isLong ? 30 : 12) {
      var frame: RawFrame
      switch generator.below(10) {
      case 0: frame = RawFrame(9, Array(payload(&generator, max: 125).prefix(125)))
      case 1: frame = RawFrame(10, Array(payload(&generator, max: 125).prefix(125)))
      case 2 where generator.chance(20):
        frame = RawFrame(8, [3, UInt8(0xe8 + generator.below(20))] + almostText(&generator))
        if frame.payload.count > 125 { frame.payload = [] }
      default:
        let isText = generator.chance(60)
        frame = RawFrame(
          isOpen ? 0 : isText ? 1 : 2,
          isText ? almostText(&generator) : payload(&generator, max: 400),
          final: generator.chance(isLong ? 5 : 60),
          reserved: allowsCompressed && generator.chance(20) ? 4 : 0)
        isOpen = frame.first & 0x80 == 0
      }
      frame.key = side == .client ? (0..<4).map { _ in UInt8(generator.below(256)) } : nil
      if generator.chance(2) { frame.lengthBytes = generator.chance(50) ? 2 : 8 }
      if generator.chance(2) {
        frame.declared = generator.next() >> UInt64(generator.below(6) * 10)
      }
      if generator.chance(2) { frame.first ^= 1 << UInt8(generator.below(8)) }
      if generator.chance(1) { frame.key = frame.key == nil ? [1, 2, 3, 4] : nil }
      if frame.lengthBytes == nil || frame.payload.count < 126 || frame.lengthBytes != 0 {
        bytes += frame.bytes
      }
    }
    if !bytes.isEmpty, generator.chance(25) {
      // Spoilt: a byte changed, taken out, or a piece doubled.
      let index = generator.below(bytes.count)
      switch generator.below(3) {
      case 0: bytes[index] = UInt8(truncatingIfNeeded: generator.next())
      case 1: bytes.remove(at: index)
      default: bytes.insert(contentsOf: bytes[index...].prefix(30), at: index)
      }
    }
    return bytes
  }
}

/// A reader without any art: the whole stream at once, byte by byte, as the RFC defines it.
enum PlainReader {
  static func read(
    _ bytes: [UInt8], side: FrameReader.Side, limits: FrameLimits, acceptsCompressed: Bool
  ) -> [Seen] {
    var seen: [Seen] = []
    var place = 0
    var message: (opcode: UInt8, isCompressed: Bool, bytes: [UInt8], frames: Int, tiny: Int)?
    var isDiscarding = false
    func number(_ count: Int) -> UInt64? {
      guard place + count <= bytes.count else { return nil }
      defer { place += count }
      return bytes[place..<(place + count)].reduce(0) { $0 << 8 | UInt64($1) }
    }
    while let first = number(1).map({ UInt8($0) }) {
      let opcode = first & 0x0f
      let isFinal = first & 0x80 != 0
      let rsv = first >> 4 & 7
      let mayCompress = acceptsCompressed && (opcode == 1 || opcode == 2)
      if rsv != 0, !(rsv == 4 && mayCompress) { return seen + [.failure(.reservedBits)] }
      switch opcode {
      case 0: if message == nil { return seen + [.failure(.unexpectedContinuation)] }
      case 1, 2: if message != nil { return seen + [.failure(.expectedContinuation)] }
      case 8, 9, 10: if !isFinal { return seen + [.failure(.fragmentedControl)] }
      default: return seen + [.failure(.unknownOpcode(opcode))]
      }
      guard let second = number(1) else { return seen }
      if (second & 0x80 != 0) != (side == .server) {
        return seen + [.failure(side == .server ? .notMasked : .masked)]
      }
      var length = second & 0x7f
      if opcode >= 8, length > 125 { return seen + [.failure(.longControl)] }
      if length == 126 {
        guard let long = number(2) else { return seen }
        if long < 126 { return seen + [.failure(.lengthNotMinimal)] }
        length = long
      } else if length == 127 {
        guard let long = number(8) else { return seen }
        if long >= 1 << 63 { return seen + [.failure(.lengthBeyondRange)] }
        if long < 65_536 { return seen + [.failure(.lengthNotMinimal)] }
        length = long
      }
      var key: [UInt8] = [0, 0, 0, 0]
      if side == .server {
        guard number(4) != nil else { return seen }
        key = Array(bytes[(place - 4)..<place])
      }
      if opcode < 8 {
        if opcode > 0 { message = (opcode, rsv == 4, [], 0, 0) }
        message?.frames += 1
        if !isFinal, length < 16 { message?.tiny += 1 }
        if let message,
          message.frames > limits.fragmentsMax
            || message.tiny > limits.tinyFragmentsMax
        {
          return seen + [.failure(.tooManyFragments)]
        }
        let sum = UInt64(message?.bytes.count ?? 0) + length
        if !isDiscarding, sum > UInt64(limits.messageBytesMax) {
          seen.append(.oversized(sum))
          isDiscarding = true
        }
      }
      let available = Int(min(length, UInt64(bytes.count - place)))
      let isWhole = UInt64(available) == length
      let payload = (0..<available).map { bytes[place + $0] ^ key[$0 & 3] }
      place += available
      if opcode >= 8 {
        guard isWhole else { return seen }
        switch opcode {
        case 9: seen.append(.ping(payload))
        case 10: seen.append(.pong(payload))
        default: return seen + [close(payload)]
        }
        continue
      }
      if isDiscarding {
        guard isWhole else { return seen }
        if isFinal {
          isDiscarding = false
          message = nil
        }
        continue
      }
      message?.bytes += payload
      guard let current = message else { return seen }
      let isEnd = isFinal && isWhole
      if current.opcode == 1, !current.isCompressed, !isText(current.bytes, isWhole: isEnd) {
        return seen + [.failure(.textNotUTF8)]
      }
      guard isWhole else { return seen }
      guard isFinal else { continue }
      message = nil
      if current.isCompressed {
        seen.append(.compressed(current.opcode == 1 ? .text : .binary, current.bytes))
      } else {
        seen.append(current.opcode == 1 ? .text(current.bytes) : .binary(current.bytes))
      }
    }
    return seen
  }

  private static func close(_ payload: [UInt8]) -> Seen {
    if payload.isEmpty { return .close(nil, []) }
    guard payload.count > 1 else { return .failure(.closePayloadOfOneByte) }
    let status = UInt16(payload[0]) << 8 | UInt16(payload[1])
    guard CloseStatus(status).isValidOnWire else { return .failure(.closeStatus(status)) }
    guard String(validating: payload[2...], as: UTF8.self) != nil else {
      return .failure(.closeReasonNotUTF8)
    }
    return .close(status, Array(payload[2...]))
  }

  /// Whether bytes are text, or may still become text.
  private static func isText(_ bytes: [UInt8], isWhole: Bool) -> Bool {
    if String(validating: bytes, as: UTF8.self) != nil { return true }
    if isWhole { return false }
    // A scalar that is cut can be mended by some end.
    let ends: [[UInt8]] = [
      [0x80], [0xbf], [0x80, 0x80], [0xbf, 0xbf], [0x80, 0x80, 0x80], [0xbf, 0xbf, 0xbf],
      [0x90, 0x80, 0x80], [0x9f, 0x80],
    ]
    return ends.contains { String(validating: bytes + $0, as: UTF8.self) != nil }
  }
}
