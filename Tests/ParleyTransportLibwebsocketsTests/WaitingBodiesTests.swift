import ParleyGatewayPorts
import ParleyOTWorkloads
import ParleyModel
import Testing
import ParleyTransportLibwebsockets

@Suite("Bodies of responses that wait")
struct WaitingBodiesTests {
  private static func body(_ count: Int, _ byte: UInt8 = 0x61) -> [UInt8] {
    Bytes.repeating([byte], count: count)
  }

  private static func address(_ bytes: [UInt8]) -> UnsafeRawPointer? {
    bytes.withUnsafeBytes { $0.baseAddress }
  }

  /// Bodies with an account of their own.
  private struct Bodies: ~Copyable {
    let account: ResponseAccount
    var waiting: WaitingBodies

    init(_ bytesMax: Int) {
      account = ResponseAccount(bytesMax: bytesMax)
      waiting = WaitingBodies(account)
    }

    var byteCount: Int { account.counts.held }

    mutating func give(_ ticket: WaitingBodies.Ticket) { waiting.give(ticket) }
  }

  private static func take(
    _ bodies: inout Bodies, _ body: [UInt8], for limitedClient: LimitedClient? = nil
  ) throws -> (body: [UInt8], ticket: WaitingBodies.Ticket) {
    guard let taken = bodies.waiting.take(body, for: limitedClient) else {
      throw TestClient.Failure("not taken")
    }
    return taken
  }

  private static func isRefused(
    _ bodies: inout Bodies, _ body: [UInt8], for limitedClient: LimitedClient? = nil
  ) -> Bool {
    bodies.waiting.take(body, for: limitedClient) == nil
  }

  private static let ada = LimitedClient.user("ada")
  private static let bea = LimitedClient.user("bea")

  @Test func `equal bodies share memory`() throws {
    var bodies = Bodies(1 << 20)
    let first = try Self.take(&bodies, Self.body(500_000))
    let others = try (0..<100).map { _ in try Self.take(&bodies, Self.body(500_000)) }
    #expect(bodies.byteCount == 500_000)
    for other in others { #expect(Self.address(other.body) == Self.address(first.body)) }
    for other in others { bodies.give(other.ticket) }
    #expect(bodies.byteCount == 500_000)
    bodies.give(first.ticket)
    #expect(bodies.byteCount == 0)
  }

  @Test func `similar bodies do not share memory`() throws {
    var bodies = Bodies(1 << 20)
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

  @Test func `over the limit no body is accepted, except for a single one`() throws {
    var bodies = Bodies(1_000_000)
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
    var bodies = Bodies(8 << 20)
    for letter in [0x61, 0x62, 0x63] as [UInt8] {
      _ = try Self.take(&bodies, Self.body(2 << 20, letter))
    }
    #expect(Self.isRefused(&bodies, Self.body(1 << 20, 0x64)))
    _ = try Self.take(&bodies, Self.body((1 << 20) - 1, 0x64))
    _ = try Self.take(&bodies, Self.body(10))
  }

  @Test func `one limitedClient's bodies leave as much to all others`() throws {
    var bodies = Bodies(100_000)
    var kept: [WaitingBodies.Ticket] = []
    for byte in [0x61, 0x62] as [UInt8] {
      kept.append(try Self.take(&bodies, Self.body(20_000, byte), for: Self.ada).ticket)
    }
    #expect(Self.isRefused(&bodies, Self.body(20_000, 0x63), for: Self.ada))
    #expect(bodies.account.counts.refusals == 1)
    // Again what it waits for costs nothing.
    kept.append(try Self.take(&bodies, Self.body(20_000, 0x61), for: Self.ada).ticket)
    #expect(bodies.byteCount == 40_000)
    // Another has a share, and the first body of each is bounded by the capacity alone.
    kept.append(try Self.take(&bodies, Self.body(50_000, 0x64), for: Self.bea).ticket)
    #expect(Self.isRefused(&bodies, Self.body(20_000, 0x64), for: .user("cid")))
    for ticket in kept { bodies.give(ticket) }
    #expect(bodies.byteCount == 0)
    kept = [try Self.take(&bodies, Self.body(40_000), for: Self.ada).ticket]
  }

  @Test func `a body that several wait for counts once, and each owes it`() throws {
    var bodies = Bodies(100_000)
    let text = Self.body(40_000)
    let first = try Self.take(&bodies, text, for: Self.ada).ticket
    let second = try Self.take(&bodies, text, for: Self.bea).ticket
    #expect(bodies.byteCount == 40_000)
    // Each of them owes it, so another that long is too much for either.
    #expect(Self.isRefused(&bodies, Self.body(40_000, 0x62), for: Self.bea))
    bodies.give(first)
    #expect(bodies.byteCount == 40_000)
    #expect(Self.isRefused(&bodies, Self.body(40_000, 0x62), for: Self.bea))
    bodies.give(second)
    #expect(bodies.byteCount == 0)
    _ = try Self.take(&bodies, Self.body(40_000, 0x62), for: Self.bea)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `the counted bytes equal the kept bytes`(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    var bodies = Bodies(2_000_000)
    let limitedClients: [LimitedClient?] = [nil, Self.ada, Self.bea]
    var kept: [(body: [UInt8], ticket: WaitingBodies.Ticket)] = []
    for _ in 0..<300 {
      if Bool.random(using: &generator), !kept.isEmpty {
        bodies.give(kept.remove(at: Int.random(in: 0..<kept.count, using: &generator)).ticket)
      } else {
        let count = [100, 20_000, 300_000].randomElement(using: &generator) ?? 0
        let body = Self.body(count, UInt8.random(in: 1...3, using: &generator))
        let limitedClient = limitedClients[Int.random(in: 0..<3, using: &generator)]
        if let taken = bodies.waiting.take(body, for: limitedClient) {
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
    for (_, ticket) in kept { bodies.give(ticket) }
    #expect(bodies.byteCount == 0)
  }

  @Test("uploads of one stranger leave as much to all others, and one alone always finds room")
  func uploads() {
    let account = ByteAccount(bytesMax: 100)
    var kept = [account.reserve(30, for: Self.ada), account.reserve(20, for: Self.ada)]
    #expect(!kept.contains { $0 == nil })
    #expect(account.reserve(1, for: Self.ada) == nil)
    kept.append(account.reserve(25, for: Self.bea))
    // An unknown client has no share, only the rest.
    kept.append(account.reserve(25, for: nil))
    #expect(account.reserve(1, for: nil) == nil)
    #expect(account.counts == (100, 2))
    kept = []
    #expect(account.counts.held == 0)
    let alone = account.reserve(1_000, for: Self.ada)
    #expect(alone != nil && account.counts.held == 100)
    #expect(account.reserve(1_000, for: Self.bea) == nil)
  }
}
