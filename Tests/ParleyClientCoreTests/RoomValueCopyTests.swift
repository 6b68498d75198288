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
}
