import HTTP1
import Testing

/// Bodies that are longer than the limit, about which the owner decides before any of them is read.
@Suite("Longer bodies")
struct LongerBodyTests {
  private static let limits = {
    var limits = HTTPLimits()
    limits.bodyBytesMax = 10
    limits.asksForLongerBodies = true
    return limits
  }()

  private static func post(_ count: Int, _ fields: String = "") -> String {
    "POST /f HTTP/1.1\r\nhost: a\r\ncontent-length: \(count)\r\n\(fields)\r\n"
  }

  @Test("one that is taken comes whole, however it is cut, and others follow")
  func taken() {
    let body = String(repeating: "x", count: 25)
    let bytes = Array((Self.post(25) + body + "GET /g HTTP/1.1\r\nhost: a\r\n\r\n").utf8)
    for cuts in [[], Array(0...bytes.count)] {
      let peer = Peer.of(bytes, cuts: cuts, Self.limits)
      #expect(peer.seen.first == .asksForBody("/f", 25))
      #expect(peer.seen.count == 3)
      #expect(peer.requests.map(\.head.path) == ["/f", "/g"])
      #expect(peer.statuses == [200, 200])
      guard case .request(_, _, _, _, _, let came) = peer.seen[1] else {
        Issue.record("expected the request, came \(peer.seen[1])")
        return
      }
      #expect(came == Array(body.utf8))
    }
  }

  @Test("the owner is asked before a client that waits is told to send")
  func continues() {
    var peer = Peer(Self.limits)
    var isAsked = false
    peer.decide = { connection, _, _, now in
      isAsked = true
      #expect(connection.unsentByteCount == 0)
      connection.takeBody(now: now)
    }
    peer.feed(Self.post(25, "expect: 100-continue\r\n"))
    #expect(isAsked)
    #expect(peer.text == "HTTP/1.1 100 Continue\r\n\r\n")
  }

  @Test("one that is refused gets the owner's answer, and nothing of it is kept")
  func refused() {
    var peer = Peer(Self.limits)
    peer.decide = { connection, _, _, now in
      connection.refuseBody(with: HTTPResponse(status: 403, body: [0x6e]), now: now)
    }
    peer.feed(Self.post(1_000_000))
    for _ in 0..<100 { peer.feed(String(repeating: "x", count: 1_000)) }
    #expect(peer.statuses == [403])
    #expect(peer.text.contains("connection: close"))
    #expect(peer.heldByteCountMax == 0)
    #expect(peer.requests.isEmpty)
  }

  @Test("without an answer of the owner's, it is too long")
  func tooLong() {
    var peer = Peer(Self.limits)
    peer.decide = { connection, _, _, now in connection.refuseBody(now: now) }
    peer.feed(Self.post(11) + "xxxxxxxxxxx")
    #expect(peer.statuses == [413])
    #expect(peer.text.contains("longer than 10 bytes"))
  }

  @Test("chunks, whose length nobody knows before, keep to the limit")
  func chunks() {
    let peer = Peer.of(
      Array("POST /f HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nb\r\n".utf8),
      Self.limits)
    #expect(peer.seen == [.rejected(.bodyTooLong(10))])
  }

  @Test("one that comes too slowly ends with 408, and a peer that leaves with nothing")
  func slow() {
    var peer = Peer(Self.limits)
    peer.feed(Self.post(25) + "xx")
    let deadline = peer.connection.deadline
    #expect(deadline != nil)
    peer.now = deadline ?? 0
    if let event = peer.connection.expired(now: peer.now) { peer.handle(event) }
    peer.goOn()
    #expect(peer.statuses == [408])
    var other = Peer(Self.limits)
    other.feed(Self.post(25) + "xx")
    other.connection.peerEnded(now: 0)
    other.goOn()
    #expect(other.requests.isEmpty && other.output.isEmpty)
  }

  @Test("a decision that nobody asked for changes nothing")
  func idle() {
    var peer = Peer(Self.limits)
    peer.connection.takeBody(now: 0)
    peer.connection.refuseBody(now: 0)
    peer.feed("GET /g HTTP/1.1\r\nhost: a\r\n\r\n")
    #expect(peer.statuses == [200])
  }
}
