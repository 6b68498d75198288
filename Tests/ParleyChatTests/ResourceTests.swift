import ParleyJSON
import ParleyChat
import ParleyClient
import SocketMessages
import Testing

@MainActor @Suite("Resources with delegates", .timeLimit(.minutes(30)))
struct ResourceTests {
  private let server = ScriptedRooms()

  /// Writes down each call.
  @MainActor final class Diary: ResourceDelegate {
    let words = Feed<String>(bound: 1_000)

    private func write(_ word: String) { words.put(word) { Array($0) } }

    func resourceDidConnect(_ id: String) { write("\(id) connected") }

    func resource(_ id: String, didReceive message: ResourceMessage) {
      switch message {
      case .updated(let publication):
        write("\(id) updated \(String(decoding: publication.json, as: UTF8.self))")
      case .changed: write("\(id) changed")
      case .updatesMissed(let after, let through):
        write("\(id) missed \(after.offset)-\(through.offset)")
      }
    }

    func resource(_ id: String, didDisconnect reason: ResourceDisconnection) {
      switch reason {
      case .offline: write("\(id) offline")
      case .failed: write("\(id) failed")
      case .closed: write("\(id) closed")
      }
    }

    func next() async -> String? { await words.next() }
  }

  @Test("a delegate is told of updates, lost connections, reconnections and missed updates")
  func whole() async throws {
    let parley = Parley(transport: server, as: "Ann", timeout: .seconds(600), seed: 1)
    let resources = ResourceConnections(parley, senderID: "mine")
    let diary = Diary()
    let registration = resources.register("acc-1", delegate: diary)
    #expect(await diary.next() == "acc-1 connected")
    server.publish("1", in: "acc-1", by: "u-ben", senderID: "theirs")
    #expect(await diary.next() == "acc-1 updated 1")
    // What this app has published itself is left out.
    try await resources.publish("own", updating: "acc-1")
    server.publish("3", in: "acc-1", by: "u-ben")
    #expect(await diary.next() == "acc-1 updated 3")
    server.set { state in
      _ = state.store(.init(room: "acc-1", data: .init(Array("4".utf8)) ?? .null), by: "u-ben")
    }
    server.cut()
    #expect(await diary.next() == "acc-1 offline")
    parley.networkChanged()
    #expect(await diary.next() == "acc-1 updated 4")
    #expect(await diary.next() == "acc-1 connected")
    server.set { $0.epoch = "f" }
    server.cut()
    #expect(await diary.next() == "acc-1 offline")
    parley.networkChanged()
    #expect(await diary.next() == "acc-1 missed 4-4")
    #expect(await diary.next() == "acc-1 connected")
    server.say(.unsubscribed(.init(room: "acc-1")))
    #expect(await diary.next() == "acc-1 failed")
    registration.cancel()
  }

  @Test("one resource can have several registrations, and each one ends by itself")
  func several() async throws {
    let parley = Parley(transport: server, as: "Ann", timeout: .seconds(600), seed: 1)
    let resources = ResourceConnections(parley)
    let (first, second) = (Diary(), Diary())
    let one = resources.register("org-1", delegate: first)
    #expect(await first.next() == "org-1 connected")
    // It is followed already, so this comes within the call.
    let other = resources.register("org-1", delegate: second)
    #expect(await second.next() == "org-1 connected")
    one.cancel()
    server.publish("1", in: "org-1", by: "u-ben")
    #expect(await second.next() == "org-1 updated 1")
    server.say(.resourceUpdate(.init(resourceID: "org-1", senderID: nil)))
    #expect(await second.next() == "org-1 changed")
    server.say(.resourceUpdate(.init(resourceID: "org-1", senderID: resources.senderID)))
    parley.room("org-1").close()
    #expect(await second.next() == "org-1 closed")
    first.words.finish()
    #expect(await first.next() == nil)
    #expect(
      server.messages.filter { if case .subscribe = $0 { true } else { false } }.count == 1)
    other.cancel()
  }

  @Test("a registration does not retain its delegate")
  func weakness() async throws {
    let parley = Parley(transport: server, as: "Ann", timeout: .seconds(600), seed: 1)
    let resources = ResourceConnections(parley)
    var diary: Diary? = Diary()
    weak let weakDiary = diary
    let registration = resources.register("acc-1", delegate: try #require(diary))
    #expect(await diary?.next() == "acc-1 connected")
    diary = nil
    #expect(weakDiary == nil)
    registration.cancel()
  }
}
