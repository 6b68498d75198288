import ParleyClientCore
import ParleyJSON
import SocketMessages
import Testing

@Suite("A client's copy of a room's values")
struct RoomValueCopyTests {
  private func values(_ list: (ValueName, Int, offset: Int)...) -> NamedValues {
    NamedValues(list.map { .init($0.0, JSONValue($0.1), offset: $0.offset) })
  }

  /// Subscribed to the room `r` with values; the newest offset is 5.
  private func live(_ first: NamedValues = NamedValues()) -> Rig {
    var rig = Rig()
    rig.connect()
    rig.room(.followValues)
    rig.room(.subscribe(isPresent: false, from: nil))
    _ = begin(&rig, first)
    return rig
  }

  private func begin(_ rig: inout Rig, _ first: NamedValues, hasMore: Bool = false) -> [String] {
    var reply = ServerMessage.Subscribed(
      room: "r", position: RoomPosition(epoch: "p", offset: 5))
    reply.values = first
    reply.hasMore = hasMore
    return rig.receive(.subscribed(reply), to: "subscribe")
  }

  private func publication(
    _ rig: inout Rig, _ offset: Int, by sender: String? = nil, _ operations: ValueOperation...
  ) -> [String] {
    let publication = Publication(
      offset: offset, time: 1, senderID: sender, data: nil,
      values: ValueOperation.json(of: operations))
    return rig.receive(.publication(.init(room: "r", epoch: "p", publication: publication)))
  }

  private func change(_ rig: inout Rig, _ key: String, _ operations: ValueOperation...) -> [String]
  {
    var publish = ClientMessage.Publish(room: "r", data: .null, key: key)
    publish.data = nil
    publish.values = ValueOperationList(operations)
    return rig.room(.publish(publish, key: key))
  }

  @Test("begins with the values of the subscription, and follows others' changes")
  func following() {
    var rig = Rig()
    rig.connect()
    rig.room(.followValues)
    rig.room(.subscribe(isPresent: false, from: nil))
    #expect(begin(&rig, values(("a", 1, offset: 3))) == ["r live", "r at 5", "r values a=1"])
    #expect(
      publication(&rig, 6, ValueOperation("a", .add(2)), ValueOperation("b", .set(.null)))
        == ["r has 6", "r values a=3 b=null"])
    #expect(publication(&rig, 7, ValueOperation("a", .delete)) == ["r has 7", "r values a=-"])
    #expect(publication(&rig, 7, ValueOperation("b", .delete)) == [])
  }

  @Test("pages with later positions count no operation twice")
  func pages() {
    var rig = Rig()
    rig.connect()
    rig.room(.followValues)
    rig.room(.subscribe(isPresent: false, from: nil))
    #expect(
      begin(&rig, values(("a", 1, offset: 3)), hasMore: true)
        == ["r live", "r at 5", "> values"])
    #expect(
      publication(&rig, 6, ValueOperation("a", .add(1)), ValueOperation("b", .add(1)))
        == ["r has 6"])
    // The second page was read when 7 was published, which has not arrived here.
    let page = ServerMessage.Values(
      room: "r", position: RoomPosition(epoch: "p", offset: 7),
      values: values(("b", 12, offset: 7)),
      hasMore: false)
    #expect(rig.receive(.values(page), to: "values") == ["r values a=2 b=12"])
    #expect(
      publication(&rig, 7, ValueOperation("a", .add(1)), ValueOperation("b", .add(11)))
        == ["r has 7", "r values a=3"])
    #expect(
      publication(&rig, 8, ValueOperation("b", .add(1))) == ["r has 8", "r values b=13"])
  }

  @Test("an own change shows at once, over others' changes, and counts once")
  func pending() {
    var rig = live(values(("n", 1, offset: 3)))
    #expect(
      change(&rig, "k", ValueOperation("n", .add(10))) == ["r values n=11", "> publish k"])
    #expect(
      publication(&rig, 6, ValueOperation("n", .set(JSONValue(5)))) == [
        "r has 6", "r values n=15",
      ])
    // The answer comes before the publication: nothing flickers.
    #expect(rig.published(7) == ["r stored k 7"])
    #expect(publication(&rig, 7, by: "k", ValueOperation("n", .add(10))) == ["r has 7"])
    #expect(
      publication(&rig, 8, ValueOperation("n", .add(1))) == ["r has 8", "r values n=16"])
  }

  @Test("a publication that comes before its answer counts once, too")
  func answerAfterwards() {
    var rig = live(values(("n", 1, offset: 3)))
    _ = change(&rig, "k", ValueOperation("n", .add(10)))
    #expect(publication(&rig, 6, by: "k", ValueOperation("n", .add(10))) == ["r has 6"])
    #expect(rig.published(6) == ["r stored k 6"])
  }

  @Test("a refused change is withdrawn, and the app learns of the current values")
  func refusal() {
    var rig = live(values(("n", 1, offset: 3)))
    _ = change(&rig, "k", ValueOperation("n", .add(10)))
    var failure = ServerMessage.Failure(
      code: .conflict, message: "", retryable: false, retryAfter: nil)
    failure.values = values(("n", 1, offset: 3))
    #expect(
      rig.receive(.error(failure), to: "publish")
        == ["r conflict k n", "r values n=1", "r failed k"])
  }

  @Test("changes made without a connection are sent in order, and shown meanwhile")
  func offline() {
    var rig = live(values(("n", 1, offset: 3)))
    rig.handle(.closed(code: 1006))
    #expect(change(&rig, "k", ValueOperation("n", .add(10))) == ["r values n=11"])
    #expect(change(&rig, "l", ValueOperation("n", .add(100))) == ["r values n=111"])
    rig.handle(.reachable)
    rig.handle(.opened)
    #expect(rig.welcome() == ["online", "> subscribe r@p:5", "> publish k", "> publish l"])
    #expect(begin(&rig, values(("n", 2, offset: 4))).last == "r values n=112")
  }

  /// Steps in the life of an own change that was published as 6, `{"add":"n","by":10}` over 1.
  enum Step: String, CaseIterable, Sendable {
    case answered, seen, lineLost
    /// The subscription recovers the publications after the known position.
    case recovered
    /// Too many publications were missed, so the subscription begins with the values.
    case replaced
    /// The server has lost 6, and no client but the author knew of it.
    case lost
    /// The server has lost 6, and continues in another epoch.
    case lostInAnotherEpoch
  }

  @Test(
    "an accepted change counts once, or not at all if the server has lost it",
    arguments: [
      ([.answered, .seen], 11), ([.seen, .answered], 11),
      ([.answered, .lineLost, .recovered], 11), ([.answered, .lineLost, .replaced], 11),
      ([.seen, .lineLost, .replaced], 11), ([.answered, .seen, .lineLost, .replaced], 11),
      ([.lineLost, .recovered, .answered], 11), ([.lineLost, .replaced, .answered], 11),
      ([.answered, .lineLost, .lost], 1), ([.answered, .lineLost, .lostInAnotherEpoch], 1),
      ([.answered, .seen, .lineLost, .lostInAnotherEpoch], 1),
      ([.seen, .lineLost, .lostInAnotherEpoch], 1),
    ] as [([Step], Int)])
  func orders(steps: [Step], expected: Int) {
    var rig = live(values(("n", 1, offset: 3)))
    var shown: String?
    func look(_ lines: [String]) {
      guard let line = lines.last(where: { $0.hasPrefix("r values") }) else { return }
      shown = line.split(separator: "=").last.map(String.init)
    }
    look(change(&rig, "k", ValueOperation("n", .add(10))))
    for step in steps {
      switch step {
      case .answered: look(rig.published(6))
      case .seen: look(publication(&rig, 6, by: "k", ValueOperation("n", .add(10))))
      case .lineLost:
        rig.handle(.closed(code: 1006))
        rig.handle(.reachable)
        rig.handle(.opened)
        look(rig.welcome())
      case .recovered:
        var reply = ServerMessage.Subscribed(room: "r", position: .init(epoch: "p", offset: 6))
        reply.isRecovered = true
        reply.publications = [
          Publication(
            offset: 6, time: 1, senderID: "k", data: nil,
            values: ValueOperation.json(of: [ValueOperation("n", .add(10))]))
        ]
        look(rig.receive(.subscribed(reply), to: "subscribe"))
      case .replaced: look(renew(&rig, "p", 16, 11))
      case .lost: look(renew(&rig, "p", 5, 1))
      case .lostInAnotherEpoch: look(renew(&rig, "q", 5, 1))
      }
    }
    #expect(shown == "\(expected)")
  }

  private func renew(_ rig: inout Rig, _ epoch: Epoch, _ offset: Int, _ n: Int) -> [String] {
    var reply = ServerMessage.Subscribed(room: "r", position: .init(epoch: epoch, offset: offset))
    reply.isRecovered = false
    reply.values = values(("n", n, offset: 3))
    return rig.receive(.subscribed(reply), to: "subscribe")
  }

  @Test("a page that was read before the copy's position makes the copy begin again")
  func formerPage() {
    var rig = Rig()
    rig.connect()
    rig.room(.followValues)
    rig.room(.subscribe(isPresent: false, from: nil))
    _ = begin(&rig, values(("a", 1, offset: 3)), hasMore: true)
    _ = publication(&rig, 6, ValueOperation("b", .add(1)))
    let page = ServerMessage.Values(
      room: "r", position: RoomPosition(epoch: "p", offset: 5), values: NamedValues(),
      hasMore: false)
    #expect(rig.receive(.values(page), to: "values").contains("> subscribe r@p:6"))
  }
}
