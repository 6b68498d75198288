import Gateway
import ParleyGatewayPorts
import ParleyGrowthKit
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Crowds that open one note")
struct CrowdTests {
  private typealias Presence = ServerMessage.Presence

  private func rig(limit: Int) -> GatewayRig {
    let rig = GatewayRig(isDemo: true) { $0.presenceListMax = limit }
    rig.make("n1")
    return rig
  }

  private func join(_ rig: GatewayRig, _ id: UInt64) -> ServerMessage.Joined? {
    if case .joined(let joined) = rig.ask(id, .join(.init(documentID: "n1"))) {
      joined
    } else {
      nil
    }
  }

  private func presence(_ rig: GatewayRig, _ id: UInt64) -> [Presence] {
    rig.pushes(id).compactMap { if case .presence(let presence) = $0 { presence } else { nil } }
  }

  private func select(_ rig: GatewayRig, _ id: UInt64) {
    rig.ask(
      id, .select(.init(documentID: "n1", revision: 0, selections: [Selection(anchor: 0, head: 0)]))
    )
  }

  @Test("one message lists all people who join in a turn, and its bytes are shared")
  func oneMessage() throws {
    let rig = rig(limit: 100)
    let here = try (0..<5).map { _ in try rig.connectNative(nil) }
    for (id, _) in here { _ = join(rig, id) }
    let newcomers = try (0..<20).map { try rig.connectNative(nil, name: "New \($0)") }
    for (id, _) in here { _ = rig.pushes(id) }
    rig.isStepwise = true
    rig.frameAddresses = []
    rig.recipients = []
    for (id, _) in newcomers {
      #expect(join(rig, id)?.presence.map(\.clientID).sorted() == here.map(\.1.clientID).sorted())
    }
    rig.recipients = []
    rig.frameAddresses = []
    _ = rig.endTurn()
    #expect(rig.recipients.count == here.count + newcomers.count)
    #expect(Set(rig.frameAddresses.prefix(here.count)).count == 1)
    let all = newcomers.map(\.1.clientID)
    for (id, _) in here { #expect(presence(rig, id).map { $0.joined.map(\.clientID) } == [all]) }
    for (id, welcome) in newcomers {
      let others = all.filter { $0 != welcome.clientID }
      #expect(presence(rig, id).map { $0.joined.map(\.clientID) } == [others])
    }
  }

  @Test("a client does not receive its own presence, and a visit within one turn is not reported")
  func nothing() throws {
    let rig = rig(limit: 100)
    let (first, _) = try rig.connectNative(nil)
    _ = join(rig, first)
    #expect(presence(rig, first).isEmpty)
    let (second, _) = try rig.connectNative(nil)
    rig.isStepwise = true
    _ = join(rig, second)
    rig.ask(second, .leave(.init(documentID: "n1")))
    _ = rig.endTurn()
    #expect(presence(rig, first).isEmpty)
  }

  @Test("the count of a crowd is sent with ticks, and a person is named before moving a caret")
  func counted() throws {
    let rig = rig(limit: 4)
    let people = try (0..<8).map { try rig.connectNative(nil, name: "P\($0)") }
    var last: ServerMessage.Joined?
    for (id, _) in people { last = join(rig, id) }
    #expect(last?.people == 8 && last?.presence.isEmpty == true)
    rig.pass(milliseconds: 300)
    let first = people[0].0
    #expect(presence(rig, first).last?.people == 8)
    let crowd = try (0..<20).map { _ in try rig.connectNative(nil).0 }
    for id in crowd { _ = join(rig, id) }
    #expect(presence(rig, first).isEmpty)
    rig.pass(milliseconds: 300)
    #expect(presence(rig, first).map(\.people) == [28])
    let (actor, welcome) = people[3]
    _ = rig.pushes(actor)
    select(rig, actor)
    let heard = rig.pushes(first)
    guard heard.count == 2, case .presence(let named) = heard[0],
      case .selections(let carets) = heard[1]
    else {
      Issue.record("\(heard)")
      return
    }
    #expect(named.joined.map(\.name) == ["P3"] && named.people == 28)
    #expect(carets.clientID == welcome.clientID)
    #expect(
      presence(rig, actor).flatMap(\.joined).isEmpty, "a client receives no presence of itself")
    let (late, _) = try rig.connectNative(nil)
    let joined = join(rig, late)
    #expect(joined?.presence.map(\.clientID) == [welcome.clientID])
    #expect(joined?.presence.first?.selections == [Selection(anchor: 0, head: 0)])
    // When few people remain, all are listed again.
    for id in crowd + [late] + people.dropFirst(4).map(\.0) { rig.close(id) }
    _ = rig.pushes(first)
    rig.close(people[1].0)
    #expect(presence(rig, first).map(\.people) == [nil])
    let (again, _) = try rig.connectNative(nil)
    let list = join(rig, again)
    #expect(list?.people == nil)
    #expect(list?.presence.map(\.name) == ["P0", "P2", "P3"])
  }

  @Test("closing the connections to a note costs a step for each of them")
  func growth() {
    // Below the limit each departure is announced by name, so this many connections stay open.
    let rest = 200
    let finding = GrowthLaw(
      "close connections to a note", size: 500,
      prepareEach: { size in
        let rig = QuietRig()
        rig.recordsLastOnline = false
        rig.gather(size + rest, joins: true)
        return (rig: rig, size: size)
      }
    ) { hall in
      for person in 0..<hall.size { hall.rig.close(QuietRig.connection(person)) }
    }.check()
    #expect(finding.holds, "\(finding)")
  }
}
