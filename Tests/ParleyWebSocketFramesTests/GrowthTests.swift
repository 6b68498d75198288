import ParleyGrowthKit
import Testing
import ParleyWebSocketFrames

/// Input costs at most in proportion to its bytes, however they are cut.
@Suite("Growth of reading frames", .serialized)
struct GrowthTests {
  static let laws: [GrowthLaw] = [
    law("one message, in small reads", size: 32_000, piece: 100, stream: text),
    law("one message of long scalars, in small reads", size: 32_000, piece: 100, stream: scalars),
    law("fragments with a ping after each", size: 2_000, piece: 1_000, stream: fragments),
    law("messages in one read", size: 2_000, piece: .max, stream: messages),
    law("a message byte by byte", size: 8_000, piece: 1, stream: text),
    law("a message that is too large", size: 32_000, piece: 100, bytesMax: 1_000, stream: text),
    queueing,
  ]

  private static func frame(_ payload: some Collection<UInt8>) -> ArraySlice<UInt8> {
    Frame(.text, maskKey: 0x3d21_fa37, reserving: payload.count) { $0 += payload }.bytes
  }

  private static func text(_ size: Int) -> [UInt8] {
    Array(frame([UInt8](repeating: 0x61, count: size)))
  }

  private static func scalars(_ size: Int) -> [UInt8] {
    Array(frame(String(repeating: "漢", count: size / 3).utf8))
  }

  private static func fragments(_ size: Int) -> [UInt8] {
    let ping = Frame.ping([1, 2, 3], maskKey: 5).bytes
    let payload = [UInt8](repeating: 1, count: 20)
    var stream: [UInt8] = []
    for number in 0..<size {
      let fragment = Frame(
        .binary, number == 0 ? .first : number == size - 1 ? .last : .middle, maskKey: 7,
        payload: payload)
      stream += fragment.bytes + ping
    }
    return stream
  }

  private static func messages(_ size: Int) -> [UInt8] {
    let message = frame("hello".utf8)
    var stream: [UInt8] = []
    for _ in 0..<size { stream += message }
    return stream
  }

  private static let queueing = GrowthLaw("frames sent little by little", size: 500) {
    (size: Int) -> [Frame] in
    (0..<size).map { Frame.ping([UInt8(truncatingIfNeeded: $0)]) }
  } run: { frames in
    var queue = FrameQueue(bytesMax: .max)
    for frame in frames { _ = queue.append(frame) }
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
    defer { scratch.deallocate() }
    while !queue.isEmpty { _ = queue.writeNext(joiningIn: scratch) { min($0.count, 7) } }
  }

  private static func law(
    _ name: String, size: Int, piece: Int, bytesMax: Int = 1 << 24,
    stream: @escaping @Sendable (Int) -> [UInt8]
  ) -> GrowthLaw {
    GrowthLaw(name, size: size, prepareEach: stream) { bytes in
      var reader = FrameReader(
        side: .server,
        limits: FrameLimits(messageBytesMax: bytesMax, tinyFragmentsMax: 1 << 17))
      bytes.withUnsafeMutableBytes { all in
        var start = 0
        while start < all.count {
          let end = start + min(piece, all.count - start)
          var input = UnsafeMutableRawBufferPointer(rebasing: all[start..<end])
          while let event = reader.next(&input) {
            if case .failure(let error) = event { preconditionFailure("\(error)") }
          }
          start = end
        }
      }
    }
  }

  @Test(arguments: laws)
  func growth(law: GrowthLaw) {
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }
}
