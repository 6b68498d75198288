import ParleyOTWorkloads
import Testing
import ParleyWebSocketFrames

@Suite("Queues of frames")
struct QueueTests {
  private func text(_ string: String) -> Frame {
    Frame(.text) { $0 += Array(string.utf8) }
  }

  @Test(arguments: Seeds.smoke)
  func `bytes are written in the order of frames, in writes of any size`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var queue = FrameQueue(bytesMax: 20_000)
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1000, alignment: 16)
    defer { scratch.deallocate() }
    var expected: [UInt8] = []
    var sent: [UInt8] = []
    func send() {
      let most = generator.chance(50) ? .max : 1 + generator.below(1500)
      let taken = queue.writeNext(joiningIn: scratch, atMost: most) { bytes in
        #expect(bytes.count <= most)
        let count = generator.chance(40) ? bytes.count : generator.below(bytes.count + 1)
        sent += bytes[..<count]
        return count
      }
      _ = taken
      #expect(queue.byteCount == expected.count - sent.count)
    }
    for _ in 0..<500 {
      if generator.chance(55) {
        let payload = FrameStream.payload(&generator, max: 3000)
        let frame = Frame(.binary) { $0 += payload }
        let waited = queue.byteCount
        switch queue.append(frame) {
        case .queued: expected += frame.bytes
        case .full: #expect(waited + frame.byteCount > 20_000)
        }
      } else {
        send()
      }
    }
    while !queue.isEmpty { send() }
    #expect(sent == expected)
    #expect(Reading.of(sent, .client).allSatisfy { if case .binary = $0 { true } else { false } })
  }

  @Test func `small frames are joined, a long one is written without a copy`() {
    var queue = FrameQueue(bytesMax: 1 << 20)
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 16)
    defer { scratch.deallocate() }
    for number in 0..<10 { #expect(queue.append(text("\(number)")) == .queued) }
    #expect(queue.append(text(String(repeating: "x", count: 500))) == .queued)
    #expect(queue.append(text("end")) == .queued)
    var writes: [Int] = []
    while !queue.isEmpty {
      _ = queue.writeNext(joiningIn: scratch) {
        writes.append($0.count)
        return $0.count
      }
    }
    #expect(writes == [30, 504, 5])
  }

  @Test func `a queue reports that it is full, and accepts more after it has drained`() {
    var queue = FrameQueue(bytesMax: 10)
    #expect(queue.append(text("12345678")) == .queued)
    #expect(queue.append(text("")) == .full)
    #expect(queue.byteCount == 10)
    _ = queue.writeNext(joiningIn: UnsafeMutableRawBufferPointer(start: nil, count: 0)) {
      $0.count
    }
    #expect(queue.append(text("12345678")) == .queued)
  }

  @Test func `a flood of pings queues only the latest pongs`() {
    var queue = FrameQueue(bytesMax: 1 << 20)
    for number in 0..<100_000 {
      #expect(queue.append(pong: .pong(Array("\(number)".utf8))) == .queued)
    }
    #expect(queue.byteCount < 1000)
    var sent: [UInt8] = []
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    defer { scratch.deallocate() }
    while !queue.isEmpty {
      // Three bytes at a time, so that the flood continues while a pong is cut.
      _ = queue.writeNext(joiningIn: scratch) {
        let count = min(3, $0.count)
        sent += $0[..<count]
        return count
      }
    }
    let seen = Reading.of(sent, .client)
    #expect(seen.count == FrameQueue.pongsMax)
    #expect(seen.last == .pong(Array("99999".utf8)))
    #expect(seen.first == .pong(Array("0".utf8)))
    #expect(queue.append(pong: .pong([1])) == .queued)
    #expect(queue.byteCount == 3)
  }

  @Test func `dropping the queue keeps the rest of a partly written frame`() {
    var queue = FrameQueue(bytesMax: 1 << 20)
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    defer { scratch.deallocate() }
    _ = queue.append(text("first"))
    _ = queue.append(text("second"))
    var sent: [UInt8] = []
    func send(_ most: Int) {
      _ = queue.writeNext(joiningIn: scratch) {
        let count = min(most, $0.count)
        sent += $0[..<count]
        return count
      }
    }
    send(4)
    queue.removeUnsent()
    _ = queue.append(.close(.goingAway))
    while !queue.isEmpty { send(100) }
    #expect(Reading.of(sent, .client) == [.text("first"), .close(1001, [])])
    _ = queue.append(text("x"))
    queue.removeUnsent()
    #expect(queue.isEmpty)
  }

  @Test func `encoded frames have the form of the RFC's examples`() {
    #expect(Array(text("Hello").bytes) == [0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f])
    let masked = Frame(.text, maskKey: 0x3d21_fa37) { $0 += Array("Hello".utf8) }
    #expect(
      Array(masked.bytes)
        == [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58])
    let first = Frame(.text, .first, payload: Array("Hel".utf8))
    #expect(Array(first.bytes) == [0x01, 0x03, 0x48, 0x65, 0x6c])
    let last = Frame(.text, .last, payload: Array("lo".utf8))
    #expect(Array(last.bytes) == [0x80, 0x02, 0x6c, 0x6f])
    let long = Frame(.binary) { $0 += [UInt8](repeating: 0, count: 256) }
    #expect(Array(long.bytes.prefix(4)) == [0x82, 0x7e, 0x01, 0x00])
    let longer = Frame(.binary) { $0 += [UInt8](repeating: 0, count: 65_536) }
    #expect(Array(longer.bytes.prefix(10)) == [0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0])
    #expect(Array(Frame.close(nil).bytes) == [0x88, 0x00])
  }

  @Test func `a long reason is truncated between scalars`() {
    let frame = Frame.close(
      CloseStatus(4500), reason: String(repeating: "é", count: 100))
    #expect(
      Reading.of(Array(frame.bytes), .client)
        == [.close(4500, Array(String(repeating: "é", count: 61).utf8))])
  }
}
