import OTWorkloads
import Testing
import TransportLibwebsockets

@Suite("Bodies of responses that wait")
struct WaitingBodiesTests {
  private static func body(_ count: Int, _ byte: UInt8 = 0x61) -> [UInt8] {
    Bytes.repeating([byte], count: count)
  }

  private static func address(_ bytes: [UInt8]) -> UnsafeRawPointer? {
    bytes.withUnsafeBytes { $0.baseAddress }
  }

  private static func take(
    _ bodies: inout WaitingBodies, _ body: [UInt8]
  ) throws -> (body: [UInt8], ticket: WaitingBodies.Ticket) {
    guard let taken = bodies.take(body) else { throw TestClient.Failure("not taken") }
    return taken
  }

  private static func isRefused(_ bodies: inout WaitingBodies, _ body: [UInt8]) -> Bool {
    bodies.take(body) == nil
  }

  @Test func `equal bodies are one`() throws {
    var bodies = WaitingBodies(byteCountMax: 1 << 20)
    let first = try Self.take(&bodies, Self.body(500_000))
    let others = try (0..<100).map { _ in try Self.take(&bodies, Self.body(500_000)) }
    #expect(bodies.byteCount == 500_000)
    for other in others { #expect(Self.address(other.body) == Self.address(first.body)) }
    for other in others { bodies.give(other.ticket) }
    #expect(bodies.byteCount == 500_000)
    bodies.give(first.ticket)
    #expect(bodies.byteCount == 0)
  }

  @Test func `bodies that only look equal are not one`() throws {
    var bodies = WaitingBodies(byteCountMax: 1 << 20)
    let first = try Self.take(&bodies, Self.body(100_000))
    var changed = Self.body(100_000)
    // Between two of the places that are looked at first.
    changed[10] = 0x62
    let second = try Self.take(&bodies, changed)
    #expect(second.body == changed)
    #expect(bodies.byteCount == 200_000)
    bodies.give(first.ticket)
    #expect(bodies.byteCount == 100_000)
    bodies.give(second.ticket)
    #expect(bodies.byteCount == 0)
  }

  @Test func `over the limit none is taken, but one alone always is`() throws {
    var bodies = WaitingBodies(byteCountMax: 1_000_000)
    let long = try Self.take(&bodies, Self.body(3_000_000))
    #expect(Self.isRefused(&bodies, Self.body(10)))
    bodies.give(long.ticket)
    let first = try Self.take(&bodies, Self.body(600_000))
    #expect(Self.isRefused(&bodies, Self.body(600_000, 0x62)))
    let same = try Self.take(&bodies, Self.body(600_000))
    let second = try Self.take(&bodies, Self.body(400_000, 0x62))
    #expect(Self.isRefused(&bodies, Self.body(1)))
    for ticket in [first.ticket, same.ticket, second.ticket] { bodies.give(ticket) }
    #expect(bodies.byteCount == 0)
  }

  @Test func `long bodies leave a quarter to the others`() throws {
    var bodies = WaitingBodies(byteCountMax: 8 << 20)
    for letter in [0x61, 0x62, 0x63] as [UInt8] {
      _ = try Self.take(&bodies, Self.body(2 << 20, letter))
    }
    #expect(Self.isRefused(&bodies, Self.body(1 << 20, 0x64)))
    _ = try Self.take(&bodies, Self.body((1 << 20) - 1, 0x64))
    _ = try Self.take(&bodies, Self.body(10))
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `what is counted is what is kept`(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    var bodies = WaitingBodies(byteCountMax: 2_000_000)
    var kept: [(body: [UInt8], ticket: WaitingBodies.Ticket)] = []
    for _ in 0..<300 {
      if Bool.random(using: &generator), !kept.isEmpty {
        bodies.give(kept.remove(at: Int.random(in: 0..<kept.count, using: &generator)).ticket)
      } else {
        let count = [100, 20_000, 300_000].randomElement(using: &generator) ?? 0
        let body = Self.body(count, UInt8.random(in: 1...3, using: &generator))
        if let taken = bodies.take(body) {
          #expect(Bytes.areEqual(taken.body, body))
          kept.append(taken)
        }
      }
      var count = 0
      // Length and first byte tell all of a body.
      var seen: Set<[Int]> = []
      for (body, _) in kept {
        let isCompared = body.count >= WaitingBodies.comparedBytesMin
        if !isCompared || seen.insert([body.count, Int(body[0])]).inserted { count += body.count }
      }
      #expect(bodies.byteCount == count)
      #expect(count <= 2_000_000)
    }
  }

  @Test("of long bodies that are read, half may be one person's")
  func persons() {
    let bodies = LongBodies(byteCountMax: 100)
    var kept = [bodies.reserve(30, for: "ada"), bodies.reserve(20, for: "ada")]
    #expect(!kept.contains { $0 == nil })
    #expect(bodies.reserve(1, for: "ada") == nil)
    kept.append(bodies.reserve(40, for: "bea"))
    // Nobody in particular has no share, only what is left.
    #expect(bodies.reserve(10, for: "") != nil)
    #expect(bodies.reserve(11, for: "") == nil)
    kept.removeFirst()
    #expect(bodies.reserve(30, for: "ada") != nil)
    kept = []
    // One that is alone always finds room.
    #expect(bodies.reserve(1_000, for: "ada") != nil)
  }
}
