import Gateway
import ParleyGatewayPorts
import OTCore
import ParleyJSON
import ParleyOTWorkloads
import SocketMessages
import Testing

@Suite("What many get")
struct BroadcastTests {
  private func publish(_ number: Int, in room: String, _ rig: GatewayRig, by id: UInt64) throws {
    let data = try #require(JSONValue("\(number)".utf8))
    _ = rig.ask(id, .publish(.init(room: room, data: data)))
  }

  @Test(
    "a publication reaches the subscribers of the room, once each, in the order of their arrival",
    arguments: UInt64(1)...10)
  func membership(seed: UInt64) throws {
    let rig = GatewayRig(isDemo: true)
    var random = SplitMix64(seed: seed)
    let (publisher, _) = try rig.connectNative(nil)
    var outside: [UInt64] = []
    for _ in 0..<20 { outside.append(try rig.connectNative(nil).0) }
    // The expected recipients, in the order in which they subscribed.
    var members: [UInt64] = []
    for step in 1...200 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0, 1:
        guard let id = outside.randomElement(using: &random) else { continue }
        _ = rig.ask(id, .subscribe(.init(room: "r")))
        outside.removeAll { $0 == id }
        members.append(id)
      case 2:
        guard let id = members.randomElement(using: &random) else { continue }
        members.removeAll { $0 == id }
        if Bool.random(using: &random) {
          _ = rig.ask(id, .unsubscribe(.init(room: "r")))
          outside.append(id)
        } else {
          rig.close(id)
        }
      default:
        rig.recipients = []
        rig.frameAddresses = []
        try publish(step, in: "r", rig, by: publisher)
        // The publisher receives a reply instead.
        #expect(rig.recipients.filter { $0 != publisher } == members, "seed \(seed), step \(step)")
        #expect(Set(rig.frameAddresses).count <= 2, "one frame for all members, and the answer")
      }
    }
  }

  @Test("a slow subscriber is closed, and the others receive the publications")
  func slowSubscriber() throws {
    let rig = GatewayRig(isDemo: true)
    let (publisher, _) = try rig.connectNative(nil)
    var members: [UInt64] = []
    for _ in 0..<5 {
      let (id, _) = try rig.connectNative(nil)
      _ = rig.ask(id, .subscribe(.init(room: "r")))
      members.append(id)
    }
    rig.queues.bytes[members[2]] = GatewaySettings().queuedBytesMax + 1
    rig.recipients = []
    try publish(1, in: "r", rig, by: publisher)
    let others = members.filter { $0 != members[2] }
    #expect(rig.recipients.filter { $0 != publisher } == others)
    #expect(rig.closeCodes[members[2]] != nil)
    rig.queues.bytes[members[2]] = nil
    rig.recipients = []
    try publish(2, in: "r", rig, by: publisher)
    #expect(rig.recipients.filter { $0 != publisher } == others)
  }

  @Test("a subscriber whose bytes wait for the loop's next turn is not closed")
  func offered() throws {
    let rig = GatewayRig(isDemo: true)
    let (publisher, _) = try rig.connectNative(nil)
    let (member, _) = try rig.connectNative(nil)
    _ = rig.ask(member, .subscribe(.init(room: "r")))
    rig.queues.withRoom = [member]
    rig.queues.bytes[member] = GatewaySettings().queuedBytesMax + 1
    rig.recipients = []
    try publish(1, in: "r", rig, by: publisher)
    #expect(rig.recipients.contains(member) && rig.closeCodes[member] == nil)
    #expect(rig.queues.bytes[member] == nil)
  }

  @Test(
    "a follower whose bytes wait for the loop's next turn receives changes, up to a limit",
    arguments: [(1 << 20, true, true), (1 << 20, false, false), (5 << 20, true, false)])
  func waiting(bytes: Int, hasRoom: Bool, getsChange: Bool) throws {
    let rig = GatewayRig(isDemo: true)
    rig.make("n")
    let (author, _) = try rig.connectNative(nil)
    let (follower, _) = try rig.connectNative(nil)
    for id in [author, follower] { _ = rig.ask(id, .join(.init(documentID: "n"))) }
    _ = rig.pushes(follower)
    rig.queues.bytes[follower] = bytes
    if hasRoom { rig.queues.withRoom = [follower] }
    func change(_ sequence: Int) throws {
      var operation = TextOperation()
      operation.retain(sequence - 1)
      operation.insert("x")
      _ = rig.ask(
        author,
        .change(
          .init(
            documentID: "n", epoch: "epoch of n", revision: sequence - 1, sequence: sequence,
            operation: operation)))
    }
    func changes() -> Int {
      rig.pushes(follower).count { if case .changes = $0 { true } else { false } }
    }
    try change(1)
    #expect(changes() == (getsChange ? 1 : 0))
    rig.queues.bytes[follower] = nil
    rig.drain(follower)
    #expect(changes() == (getsChange ? 0 : 1))
  }
}
