import ParleyClientCore
import ParleyJSON
import SocketMessages
import Testing

@Suite("Changes of values that are stored")
struct KeptChangeTests {
  private func live() -> Rig {
    var rig = Rig()
    rig.connect()
    rig.showsKept = true
    rig.room(.followValues)
    rig.room(.subscribe(isPresent: false, from: nil))
    subscribed(&rig)
    return rig
  }

  private func subscribed(_ rig: inout Rig) {
    var reply = ServerMessage.Subscribed(room: "r", position: RoomPosition(epoch: "p", offset: 5))
    reply.values = NamedValues()
    rig.receive(.subscribed(reply), to: "subscribe")
  }

  private func change(_ key: String) -> KeptChange {
    var publish = ClientMessage.Publish(room: "r", data: .null, key: key)
    publish.data = nil
    publish.values = ValueOperationList([ValueOperation("n", .add(1))])
    return KeptChange(publication: publish, key: key, clientID: nil)
  }

  private func make(_ key: String, _ rig: inout Rig) -> [String] {
    rig.room(.change(change(key).publication, key: key, .change))
  }

  @Test("a change that has no answer soon is stored, and removed after its answer")
  func order() {
    var rig = live()
    #expect(make("k", &rig) == ["r values n=1", "> publish k"])
    #expect(rig.pass(49) == [])
    #expect(rig.pass(1) == ["r keeps k by A"])
    #expect(rig.published(6) == ["r stored k 6"])
    #expect(rig.pass(1_000) == ["r keeps nothing"])
    // One that is answered at once is never stored.
    _ = make("l", &rig)
    #expect(rig.published(7) == ["r stored l 7"])
    #expect(rig.pass(2_000) == [])
  }

  @Test("changes are stored at once if the connection ends or the process may end")
  func ending() {
    var rig = live()
    _ = make("k", &rig)
    #expect(rig.handle(.suspending) == ["r keeps k by A"])
    _ = make("l", &rig)
    #expect(rig.handle(.closed(code: 1006)).contains("r keeps k by A l by A"))
  }

  @Test("without a connection it is stored as not sent, and with the next one as sent")
  func offline() {
    var rig = live()
    rig.handle(.closed(code: 1006))
    #expect(make("k", &rig) == ["r values n=1", "r keeps k"])
    #expect(make("l", &rig) == ["r values n=2", "r keeps k l"])
    rig.handle(.reachable)
    rig.handle(.opened)
    #expect(
      rig.welcome() == [
        "online", "> subscribe r@p:5", "r keeps k by A l by A", "> publish k", "> publish l",
      ])
  }

  @Test("stored changes come before new ones, and are sent under their keys")
  func restored() {
    var rig = Rig()
    rig.showsKept = true
    rig.handle(.start)
    var first = change("k")
    first.clientID = "A"
    #expect(rig.room(.restoreChanges([first, change("l")])) == ["r keeps k by A l"])
    rig.room(.followValues)
    rig.room(.subscribe(isPresent: false, from: nil))
    _ = make("m", &rig)
    rig.handle(.opened)
    #expect(
      rig.welcome().filter { $0.hasPrefix("> publish") } == [
        "> publish k", "> publish l", "> publish m",
      ])
    var reply = ServerMessage.Subscribed(room: "r", position: RoomPosition(epoch: "p", offset: 5))
    reply.values = NamedValues()
    #expect(rig.receive(.subscribed(reply), to: "subscribe").last == "r values n=3")
    // Those of an earlier process cannot be undone.
    #expect(rig.machine.values(ofRoom: "r")?.undo.contains("k", .undo) == false)
    #expect(rig.machine.values(ofRoom: "r")?.undo.last(.undo) == "m")
    // The same ones again change nothing.
    #expect(rig.room(.restoreChanges([first])) == ["r keeps k by A l by A m by A"])
    rig.handle(.closed(code: 1006))
  }

  @Test("a change that was sent under another client id is not sent again")
  func forgotten() {
    var rig = live()
    var other = change("k")
    other.clientID = "B"
    #expect(
      rig.room(.restoreChanges([other, change("l")])) == [
        "r keeps k by B l", "r values n=2", "r unsure k", "r values n=1", "r keeps l",
        "r keeps l by A", "> publish l",
      ])
  }
}
