import ParleyBayeux
import Testing

@Suite("Messages and sessions")
struct SessionTests {
  private func message(_ json: String) throws -> BayeuxMessage {
    try #require(BayeuxMessage.decode(json.utf8)?.first)
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  private let connect = #"{"channel":"/meta/connect","clientId":"c","connectionType":"x","id":"2"}"#
  private let reply =
    #"{"id":"2","channel":"/meta/connect","successful":true,"clientId":"c","#
    + #""advice":{"reconnect":"retry","interval":0,"timeout":30000}}"#

  @Test("a body is one message or an array of at most 256 messages")
  func forms() throws {
    let one = #"{"channel":"/meta/subscribe","subscription":"/a","ext":{"access_token":"T"}}"#
    #expect(try message(one).subscriptions == ["/a"])
    #expect(try message(one).accessToken == "T")
    #expect(BayeuxMessage.decode("[\(one),\(one)]".utf8)?.count == 2)
    #expect(try message(#"{"subscription":["/a","/b",7]}"#).subscriptions == ["/a", "/b"])
    #expect(BayeuxMessage.decode("[]".utf8) == [])
    #expect(try message("{}").channel.isEmpty)
    for bad in ["", "7", "[7]", "[[]]", "{", "null"] {
      #expect(BayeuxMessage.decode(bad.utf8) == nil, "\(bad)")
    }
    #expect(BayeuxMessage.decode(("[{}" + String(repeating: ",{}", count: 256) + "]").utf8) == nil)
  }

  @Test("a reply repeats the id of its message if the id is a text or a number")
  func ids() throws {
    let reply = BayeuxReply.reply(
      to: try message(#"{"channel":"/x","id":7}"#), clientID: nil, error: .invalid("/x"))
    #expect(
      text(reply)
        == #"{"id":7,"channel":"/x","successful":false,"error":"405:/x:Invalid channel"}"#)
    #expect(try message(#"{"id":{"deep":1}}"#).id == nil)
  }

  @Test("on a WebSocket events are sent at once, and a connect is answered after its timeout")
  func webSocket() throws {
    var session = BayeuxSession(id: "c", settings: .init(), now: 0)
    #expect(session.connect(webSocket: try message(connect), now: 0).isEmpty)
    #expect(session.deliver([1]) == [.send([[1]])])
    #expect(session.ticked(now: 29_999).isEmpty)
    #expect(session.ticked(now: 30_000) == [.send([Array(reply.utf8)])])
    #expect(session.ticked(now: 31_000).isEmpty)
  }

  @Test("C3: a client connects at most three times in a minute")
  func noBusyLoop() throws {
    var session = BayeuxSession(id: "c", settings: .init(), now: 0)
    var rounds = 0
    var mustConnect = true
    for now in stride(from: Int64(0), to: 60_000, by: 250) {
      if mustConnect {
        rounds += 1
        mustConnect = false
        #expect(session.connect(webSocket: try message(connect), now: now).isEmpty)
      }
      if !session.ticked(now: now).isEmpty { mustConnect = true }
    }
    #expect(rounds <= 3)
  }

  @Test("a poll waits for the first event, and events between polls are kept")
  func polling() throws {
    var session = BayeuxSession(id: "c", settings: .init(), now: 0)
    #expect(session.deliver([1]).isEmpty)
    #expect(
      session.connect(request: try message(connect), now: 0) == [.answer([[1], Array(reply.utf8)])])
    #expect(session.connect(request: try message(connect), now: 0).isEmpty)
    #expect(session.deliver([2]) == [.answer([[2], Array(reply.utf8)])])
  }

  @Test("a connect with a timeout of zero is answered at once")
  func impatient() throws {
    var session = BayeuxSession(id: "c", settings: .init(), now: 0)
    let now = String(connect.dropLast()) + #","advice":{"timeout":0}}"#
    #expect(session.connect(webSocket: try message(now), now: 0) == [.send([Array(reply.utf8)])])
    #expect(session.connect(request: try message(now), now: 0) == [.answer([Array(reply.utf8)])])
  }

  @Test("a session ends after some time without a connect")
  func forgotten() throws {
    var session = BayeuxSession(id: "c", settings: .init(), now: 0)
    #expect(session.ticked(now: 59_999).isEmpty)
    #expect(session.ticked(now: 60_000) == [.end])
    session = BayeuxSession(id: "c", settings: .init(), now: 0)
    _ = session.connect(request: try message(connect), now: 0)
    session.interrupted()
    #expect(session.ticked(now: 89_999).isEmpty)
    #expect(session.ticked(now: 90_000) == [.end])
  }

  @Test("a session ends when the events kept between polls exceed their limit")
  func slow() {
    var settings = BayeuxSession.Settings()
    settings.queuedBytesMax = 100
    var session = BayeuxSession(id: "c", settings: settings, now: 0)
    #expect(session.deliver(Array(repeating: 1, count: 100)).isEmpty)
    #expect(session.deliver([1]) == [.end])
    #expect(session.deliver([1]).isEmpty)
  }
}
