import ParleyHTTP1
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

  @Test("an accepted body is delivered completely, and further requests follow")
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

  @Test("the owner decides before a waiting client gets 100 Continue")
  func continues() {
    var peer = Peer(Self.limits)
    var isAsked = false
    peer.decide = { connection, _, _, now in
      isAsked = true
      #expect(connection.unsentByteCount == 0)
      connection.takeBody(bytesMax: 25, now: now)
    }
    peer.feed(Self.post(25, "expect: 100-continue\r\n"))
    #expect(isAsked)
    #expect(peer.text == "HTTP/1.1 100 Continue\r\n\r\n")
  }

  @Test("a refused body gets the owner's response, and is not stored")
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

  @Test("without a decision of the owner, the body is refused as too long")
  func tooLong() {
    var peer = Peer(Self.limits)
    peer.decide = { connection, _, _, now in connection.refuseBody(now: now) }
    peer.feed(Self.post(11) + "xxxxxxxxxxx")
    #expect(peer.statuses == [413])
    #expect(peer.text.contains("longer than 10 bytes"))
  }

  private static let chunkedHead =
    "POST /f HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n"

  @Test("the owner decides about chunks before the first one that exceeds the limit")
  func chunks() {
    let text = Self.chunkedHead + "\r\na\r\n0123456789\r\n1;x=y\r\nx\r\n0\r\n\r\n"
    let bytes = Array((text + "GET /g HTTP/1.1\r\nhost: a\r\n\r\n").utf8)
    for cuts in [[], Array(0...bytes.count)] {
      let peer = Peer.of(bytes, cuts: cuts, Self.limits)
      #expect(peer.seen.first == .asksForBody("/f", nil))
      #expect(peer.seen.count == 3)
      #expect(peer.statuses == [200, 200])
      guard case .request(_, _, _, _, _, let came) = peer.seen[1] else {
        Issue.record("expected the request, came \(peer.seen[1])")
        return
      }
      #expect(came == Array("0123456789x".utf8))
    }
  }

  @Test("chunks within the limit need no decision, and cannot exceed an accepted size")
  func chunkLimits() {
    #expect(
      Peer.of(Array((Self.chunkedHead + "\r\na\r\n0123456789\r\n0\r\n\r\n").utf8), Self.limits)
        .seen.count == 1)
    for taken in [5, 10, 12] {
      var peer = Peer(Self.limits)
      peer.decide = { connection, _, _, now in connection.takeBody(bytesMax: taken, now: now) }
      peer.feed(Self.chunkedHead + "\r\n6\r\n012345\r\n5\r\n01234\r\n2\r\n")
      #expect(peer.seen == [.asksForBody("/f", nil), .rejected(.bodyTooLong(taken))])
      #expect(peer.statuses == [413])
    }
    var limits = HTTPLimits()
    limits.bodyBytesMax = 10
    #expect(
      Peer.of(Array((Self.chunkedHead + "\r\nb\r\n").utf8), limits).seen
        == [.rejected(.bodyTooLong(10))])
  }

  @Test("a client that waits to send chunks gets 100 Continue once")
  func chunksThatWait() {
    var peer = Peer(Self.limits)
    peer.feed(Self.chunkedHead + "expect: 100-continue\r\n\r\n")
    #expect(peer.text == "HTTP/1.1 100 Continue\r\n\r\n")
    peer.feed("f\r\n012345678901234\r\n0\r\n\r\n")
    #expect(peer.statuses == [100, 200])
  }

  @Test("a body longer than accepted is refused before it is stored")
  func longerThanTaken() {
    var peer = Peer(Self.limits)
    peer.decide = { connection, _, _, now in connection.takeBody(bytesMax: 20, now: now) }
    peer.feed(Self.post(21) + "xxx")
    #expect(peer.statuses == [413])
    #expect(peer.text.contains("longer than 20 bytes"))
    #expect(peer.heldByteCountMax == 0)
  }

  @Test("the rest of a refused body is dropped if it arrives fast enough")
  func refusedSlowly() {
    var limits = Self.limits
    limits.bodyBytesPerSecondMin = 1_000
    var peer = Peer(limits)
    peer.decide = { connection, _, _, now in connection.refuseBody(now: now) }
    peer.feed(Self.post(10_000))
    #expect(peer.connection.deadline == 2_000)
    for second in 1...9 {
      peer.now = Int64(second) * 1_000
      peer.feed(String(repeating: "x", count: 1_000))
      #expect(peer.connection.deadline == peer.now + 2_000)
    }
    peer.feed(String(repeating: "x", count: 1_000))
    // Bytes after the body do not extend the deadline, and a drip extends it hardly.
    peer.now += 1_000
    peer.feed(String(repeating: "x", count: 10_000))
    #expect(peer.connection.deadline == peer.now + 1_000)
    var drip = Peer(limits)
    drip.decide = peer.decide
    drip.feed(Self.post(10_000))
    drip.now = 1_999
    drip.feed("x")
    #expect(drip.connection.deadline == 2_001)
  }

  @Test("refusing a body while it arrives frees its bytes")
  func refusedAmid() {
    var peer = Peer(Self.limits)
    peer.feed(Self.post(1_000) + String(repeating: "x", count: 600))
    #expect(peer.connection.heldByteCount == 600)
    peer.connection.refuse(with: HTTPResponse(status: 503), now: 0)
    #expect(peer.connection.heldByteCount == 0)
    peer.feed(String(repeating: "x", count: 400) + "GET /g HTTP/1.1\r\nhost: a\r\n\r\n")
    #expect(peer.statuses == [503])
    #expect(peer.text.contains("connection: close"))
    #expect(peer.requests.isEmpty)
  }

  @Test("a slow body ends with 408, and a peer that leaves gets no response")
  func slow() {
    var peer = Peer(Self.limits)
    peer.feed(Self.post(25) + "xx")
    let deadline = peer.connection.deadline
    #expect(deadline != nil)
    peer.now = deadline ?? 0
    if let event = peer.connection.expired(now: peer.now) { peer.handle(event) }
    peer.proceed()
    #expect(peer.statuses == [408])
    var other = Peer(Self.limits)
    other.feed(Self.post(25) + "xx")
    other.connection.peerEnded(now: 0)
    other.proceed()
    #expect(other.requests.isEmpty && other.output.isEmpty)
  }

  @Test("an unrequested decision changes nothing")
  func idle() {
    var peer = Peer(Self.limits)
    peer.connection.takeBody(bytesMax: 100, now: 0)
    peer.connection.refuseBody(now: 0)
    peer.feed("GET /g HTTP/1.1\r\nhost: a\r\n\r\n")
    #expect(peer.statuses == [200])
  }
}
