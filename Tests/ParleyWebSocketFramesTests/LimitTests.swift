import ParleyOTWorkloads
import Testing
import ParleyWebSocketFrames

@Suite("Limits of frames")
struct LimitTests {
  private let limits = FrameLimits(messageBytesMax: 1000, fragmentsMax: 20, tinyFragmentsMax: 5)

  private func read(_ frames: [RawFrame]) -> [Seen] {
    let bytes = frames.flatMap(\.bytes)
    let whole = Reading.of(bytes, limits: limits)
    #expect(Reading.of(bytes, cuts: Array(0...bytes.count), limits: limits) == whole)
    return whole
  }

  private func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }

  @Test func `a message of the limit is accepted, one byte more is not`() {
    #expect(read([RawFrame(2, bytes(1000))]) == [.binary(bytes(1000))])
    #expect(read([RawFrame(2, bytes(1001))]) == [.oversized(1001)])
  }

  @Test func `a message over the limit is reported at its header, and dropped`() {
    var huge = RawFrame(1, [0xff, 0xff, 0xff])
    huge.declared = 1 << 62
    var reading = Reading(limits: limits)
    reading.feed(huge.bytes[...])
    #expect(reading.seen == [.oversized(1 << 62)])
    for _ in 0..<1000 { reading.feed(bytes(1000)[...]) }
    #expect(reading.seen.count == 1)
    #expect(reading.heldBytesMax == 0)
  }

  @Test func `fragments count together, and the next message is read`() {
    #expect(
      read([
        RawFrame(1, bytes(600), final: false), RawFrame(0, bytes(600), final: false),
        RawFrame(9, [1]), RawFrame(0, bytes(5000)), RawFrame(1, "next"),
      ]) == [.oversized(1200), .ping([1]), .text("next")])
  }

  @Test func `a higher limit applies from the next frame on, a lower one spares received bytes`() {
    var reading = Reading(limits: limits)
    reading.feed(RawFrame(2, bytes(600), final: false).bytes[...])
    reading.reader.setMessageBytesMax(2_000)
    reading.feed(RawFrame(0, bytes(1_400)).bytes[...])
    #expect(reading.seen == [.binary(bytes(2_000))])
    reading.feed(RawFrame(2, bytes(600), final: false).bytes[...])
    reading.reader.setMessageBytesMax(100)
    reading.feed(RawFrame(0, bytes(1)).bytes[...])
    #expect(reading.seen.last == .oversized(601))
  }

  @Test(arguments: [0, 1, 9, 500, 599, 600, 605, 640])
  func `a message that is dropped frees its memory, and the next one is read`(cut: Int) {
    let frames = [
      RawFrame(1, bytes(600), final: false), RawFrame(9, [1]), RawFrame(0, bytes(30)),
      RawFrame(1, "next"),
    ]
    let stream = frames.flatMap(\.bytes)
    var reading = Reading(limits: limits)
    reading.feed(stream[..<cut])
    reading.reader.dropMessage()
    #expect(reading.reader.heldBytes == 0)
    reading.feed(stream[cut...])
    // Before its first header has come there is nothing to drop.
    let isDropped = cut > 8
    let message: [Seen] = isDropped ? [] : [.text(bytes(630))]
    #expect(reading.seen == [.ping([1])] + message + [.text("next")])
  }

  @Test func `the number of frames in a message is limited`() {
    func message(_ count: Int) -> [RawFrame] {
      (0..<count).map { RawFrame($0 == 0 ? 2 : 0, bytes(20), final: $0 == count - 1) }
    }
    #expect(read(message(20)) == [.binary(bytes(400))])
    #expect(read(message(21)) == [.failure(.tooManyFragments)])
    // The limit also applies to messages that are dropped.
    #expect(
      read([RawFrame(2, bytes(1001), final: false)] + message(21).dropFirst())
        == [.oversized(1001), .failure(.tooManyFragments)])
  }

  @Test func `the number of tiny frames in a message is limited`() {
    func message(_ count: Int, _ size: Int) -> [RawFrame] {
      (0..<count).map { RawFrame($0 == 0 ? 2 : 0, bytes(size), final: $0 == count - 1) }
    }
    #expect(read(message(6, 15)) == [.binary(bytes(90))])
    #expect(read(message(7, 15)) == [.failure(.tooManyFragments)])
    #expect(read(message(7, 16)) == [.binary(bytes(112))])
    #expect(read(message(7, 0)) == [.failure(.tooManyFragments)])
  }

  @Test func `a declared length reserves little memory`() {
    var frame = RawFrame(2, [1, 2, 3])
    frame.declared = 1 << 20
    var reading = Reading(limits: FrameLimits(messageBytesMax: 1 << 24))
    reading.feed(frame.bytes[...])
    #expect(reading.seen.isEmpty)
    #expect(reading.reader.heldBytes <= 5000)
  }

  @Test func `memory grows with received bytes, and is released`() {
    let count = 1 << 20
    var reading = Reading(limits: FrameLimits(messageBytesMax: count))
    let frame = RawFrame(2, bytes(count)).bytes
    var fed = 0
    while fed < frame.count {
      let next = min(fed + 1000, frame.count)
      reading.feed(frame[fed..<next])
      fed = next
      #expect(reading.reader.heldBytes <= 2 * fed + 5000)
    }
    #expect(reading.seen == [.binary(bytes(count))])
    #expect(reading.reader.heldBytes == 0)
    #expect(reading.heldBytesMax <= count)
  }

  @Test func `a control frame in pieces between fragments is not part of the message`() {
    let frames = [
      RawFrame(1, "one ", final: false), RawFrame(9, bytes(125)), RawFrame(10, "pong"),
      RawFrame(0, "two"),
    ]
    let stream = frames.flatMap(\.bytes)
    let expected: [Seen] = [
      .ping(bytes(125)), .pong(Array("pong".utf8)), .text("one two"),
    ]
    for first in 0..<stream.count {
      for second in [first, (first + stream.count) / 2] {
        #expect(Reading.of(stream, cuts: [first, second]) == expected)
      }
    }
  }

  @Test func `nothing is read after the end`() {
    var reading = Reading()
    reading.feed(RawFrame(3).bytes[...])
    let hasEnded = reading.reader.hasEnded
    #expect(hasEnded)
    reading.feed(RawFrame(1, "a").bytes[...])
    reading.feed([])
    #expect(reading.seen == [.failure(.unknownOpcode(3))])
  }

  @Test func `a limit out of range traps`() async {
    await #expect(processExitsWith: .failure) { _ = FrameLimits(messageBytesMax: -1) }
    await #expect(processExitsWith: .failure) { _ = FrameLimits(messageBytesMax: .max) }
    await #expect(processExitsWith: .failure) { _ = FrameLimits(fragmentsMax: 0) }
  }
}
