import ParleyGrowthKit
import ParleyJSON
import Testing

import ParleyOffline

/// The cost of one event where many changes of one thing wait.
@Suite("Growth of an outbox's problems")
struct OutboxGrowthTests {
  private static let thing = ResourceID.temporary()

  private enum Others: Sendable {
    case ofTheThing, namingIt
  }

  /// A machine with a create, and as many changes behind it.
  private static func machine(
    _ size: Int, _ state: Mutation.State, _ others: Others
  ) -> OutboxMachine {
    let create = MutationDraft(.create, "contacts", thing, body: Array("{}".utf8))
    var entries = [
      Mutation(number: 1, key: "k1", user: "ann", draft: create, isTried: true, state: state)
    ]
    let reference = fields(("friend", thing.json))
    for number in 2...Int64(size) {
      let draft =
        switch others {
        case .ofTheThing: MutationDraft(.action("say"), "contacts", thing, body: [123, 125])
        case .namingIt:
          MutationDraft(.update, "contacts", ResourceID(number), body: reference)
        }
      entries.append(
        Mutation(
          number: number, key: "k\(number)", user: "ann", draft: draft, isTried: false,
          state: .waiting))
    }
    return OutboxMachine(OutboxMachine.Kept(entries: entries), user: "ann", seed: 1)
  }

  private static func law(
    _ name: String, _ event: OutboxMachine.Event, _ state: Mutation.State = .waiting,
    _ others: Others = .ofTheThing
  ) -> GrowthLaw {
    GrowthLaw(name, size: 500) { size in
      machine(size, state, others)
    } change: { machine in
      _ = try? machine.handle(event, now: 0)
    }
  }

  private static let refused = Mutation.State.refused(.status(422, reason: nil))

  static let laws = [
    law("refused", .answered(key: "k1", .refused(status: 422))),
    law(
      "refused, named by others", .answered(key: "k1", .refused(status: 422)), .waiting, .namingIt),
    law("made without an id", .answered(key: "k1", .done())),
    law("retried", .decide(key: "k1", .retry, freshKey: "f"), refused),
    law("discarded", .decide(key: "k1", .discard, freshKey: "f"), refused),
    law(
      "discarded, named by others", .decide(key: "k1", .discard, freshKey: "f"), refused, .namingIt),
  ]

  @Test("a problem costs in proportion to the changes behind it", arguments: laws)
  func growth(law: GrowthLaw) {
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }

  @Test("the measured events have their intended effects")
  func events() throws {
    var stopped = Self.machine(100, .waiting, .ofTheThing)
    _ = try stopped.handle(.answered(key: "k1", .refused(status: 422)), now: 0)
    #expect(stopped.undecided.map(\.key) == ["k1"])
    let released = try stopped.handle(.decide(key: "k1", .retry, freshKey: "f"), now: 0)
    #expect(
      released.contains { if case .send(let request) = $0 { request.key == "f" } else { false } })
    var nameless = Self.machine(100, .waiting, .ofTheThing)
    _ = try nameless.handle(.answered(key: "k1", .done()), now: 0)
    #expect(nameless.undecided.count == 99)
    var discarded = Self.machine(100, Self.refused, .ofTheThing)
    _ = try discarded.handle(.decide(key: "k1", .discard, freshKey: "f"), now: 0)
    #expect(discarded.count == 0)
    var named = Self.machine(100, Self.refused, .namingIt)
    _ = try named.handle(.decide(key: "k1", .discard, freshKey: "f"), now: 0)
    #expect(named.undecided.count == 99)
  }
}
