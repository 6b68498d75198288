import ParleyHTTP1
import ParleyOTWorkloads
import Testing

@Suite("Connections")
struct ConnectionTests {
  private func get(_ path: String, _ fields: String = "") -> String {
    "GET \(path) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n"
  }

  private func post(_ path: String, _ body: String = "b") -> String {
    "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  private func ok(_ text: String, closes: Bool = false) -> HTTPResponse {
    HTTPResponse(status: 200, body: Array(text.utf8), closes: closes)
  }

  private func paths(_ peer: Peer) -> [String] { peer.requests.map(\.head.path) }

  /// A peer whose owner answers when the test does.
  private func quiet(_ limits: HTTPLimits = HTTPLimits()) -> Peer {
    var peer = Peer(limits)
    peer.answer = { _, _ in nil }
    return peer
  }

  // MARK: Answers

  @Test func `a response has a length and keeps the connection alive`() {
    var peer = Peer()
    peer.feed(get("/a"))
    #expect(
      peer.text == "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: keep-alive\r\n\r\nGET /a")
    #expect(peer.connection.ending == .none)
    #expect(peer.connection.wantsInput)
  }

  @Test func `HEAD has the length but not the body`() {
    var peer = Peer()
    peer.feed("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n" + get("/b"))
    #expect(
      peer.text
        == "HTTP/1.1 200 OK\r\ncontent-length: 7\r\nconnection: keep-alive\r\n\r\n"
        + "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: keep-alive\r\n\r\nGET /b")
  }

  @Test(arguments: [204, 304])
  func `a status without a body has neither length nor body`(status: Int) {
    var peer = Peer()
    peer.answer = { _, _ in HTTPResponse(status: status, body: [0x61]) }
    peer.feed(get("/a"))
    #expect(peer.text.hasSuffix("\r\nconnection: keep-alive\r\n\r\n"))
    #expect(!peer.text.contains("content-length"))
  }

  @Test(arguments: [0, 1, 511, 512, 513, 65_536, 1_000_000], [1, 100, 100_000])
  func `responses of any size are written completely in small writes`(count: Int, takes: Int) {
    let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    guard takes > 1 || count <= 1000 else { return }
    var peer = Peer()
    peer.takes = takes
    peer.answer = { _, _ in HTTPResponse(status: 200, body: body) }
    peer.feed(get("/a"))
    #expect(peer.output.suffix(count) == body[...])
    peer.output = []
    peer.feed(get("/b"))
    #expect(peer.output.suffix(count) == body[...])
  }

  @Test func `a header field with line breaks is omitted`() {
    var peer = Peer()
    peer.answer = { _, _ in
      HTTPResponse(
        status: 200,
        fields: [
          ("x-a", "1\r\nx-evil: 1"), ("x-b", "2"), ("x-c\r\nx-evil", "1"), ("x d", "1"),
          ("x-e", "a\u{0}b"), ("x-f", "a\nb"), ("x-g", "tab\tand é"), ("", "1"),
          ("Content-Length", "5"), ("Transfer-Encoding", "chunked"), ("Connection", "upgrade"),
          ("Date", "never"),
        ])
    }
    peer.feed(get("/a"))
    #expect(
      peer.text
        == "HTTP/1.1 200 OK\r\nx-b: 2\r\nx-g: tab\tand é\r\ncontent-length: 0\r\n"
        + "connection: keep-alive\r\n\r\n")
  }

  @Test func `the date is the caller's`() {
    var peer = Peer()
    peer.connection.date = HTTPDate(secondsSince1970: 784_111_777)
    peer.feed(get("/a"))
    #expect(peer.text.contains("\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"))
    peer.feed("BREW\r\n")
    #expect(peer.text.split(separator: "date: ").count == 3)
  }

  @Test(
    arguments: [
      (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
      (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
      (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"), (-5, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
      (.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ] as [(Int64, String)])
  func `dates are those of the calendar`(seconds: Int64, text: String) {
    #expect(HTTPDate(secondsSince1970: seconds).text == Array(text.utf8))
  }

  // MARK: Staying open

  @Test(
    arguments: [
      ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", true),
      ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", false),
      ("GET / HTTP/1.1\r\nHost: x\r\nConnection: a, CLOSE ,b\r\n\r\n", false),
      ("GET / HTTP/1.1\r\nHost: x\r\nConnection: closed\r\n\r\n", true),
      ("GET / HTTP/1.1\r\nHost: x\r\nConnection: a\r\nConnection: close\r\n\r\n", false),
      ("GET / HTTP/1.0\r\n\r\n", false),
      ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true),
      ("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", false),
    ])
  func `the connection closes when the client wants it`(request: String, stays: Bool) {
    var peer = Peer()
    peer.feed(request)
    #expect(peer.statuses == [200])
    #expect(peer.text.contains("connection: \(stays ? "keep-alive" : "close")\r\n"))
    #expect(peer.connection.ending == (stays ? .none : .endSending))
    peer.feed(get("/more"))
    #expect(peer.statuses.count == (stays ? 2 : 1))
  }

  @Test func `the connection closes when the owner wants it`() {
    var peer = quiet()
    peer.feed(get("/a") + get("/b"))
    peer.respond(0, ok("a", closes: true))
    #expect(peer.text.contains("connection: close"))
    #expect(peer.connection.ending == .endSending)
    // The other request will not be answered.
    #expect(peer.seen.last == .abandoned)
    peer.respond(1, ok("b"))
    #expect(peer.statuses == [200])
    peer.connection.peerEnded(now: 0)
    #expect(peer.connection.ending == .close)
  }

  @Test func `after the last response, received bytes are dropped for a while`() {
    var peer = Peer()
    peer.feed(get("/a", "Connection: close\r\n"))
    #expect(peer.connection.wantsInput)
    for _ in 0..<100 { peer.feed([UInt8](repeating: 0x61, count: 10_000)[...]) }
    #expect(peer.heldByteCountMax < 100)
    #expect(peer.connection.deadline == 2_000)
    _ = peer.connection.expired(now: 1_999)
    #expect(peer.connection.ending == .endSending)
    _ = peer.connection.expired(now: 2_000)
    #expect(peer.connection.ending == .close)
    #expect(peer.connection.deadline == nil)
  }

  // MARK: Pipelining

  @Test func `responses are written in the order of requests`() {
    var peer = quiet()
    peer.feed((0..<5).map { get("/\($0)") }.joined())
    #expect(paths(peer) == ["/0", "/1", "/2", "/3", "/4"])
    peer.respond(3, ok("three"))
    peer.respond(1, ok("one"))
    #expect(peer.output.isEmpty)
    peer.respond(0, ok("zero"))
    #expect(peer.statuses.count == 2)
    peer.respond(4, ok("four"))
    peer.respond(2, ok("two"))
    let words = ["zero", "one", "two", "three", "four"]
    #expect(
      peer.text
        == words.map {
          "HTTP/1.1 200 OK\r\ncontent-length: \($0.count)\r\nconnection: keep-alive\r\n\r\n\($0)"
        }.joined())
  }

  @Test func `a limited number of requests is with the owner at once`() {
    var limits = HTTPLimits()
    limits.pipelinedMax = 3
    var peer = quiet(limits)
    peer.feed((0..<5).map { get("/\($0)") }.joined())
    #expect(paths(peer) == ["/0", "/1", "/2"])
    #expect(!peer.connection.wantsInput)
    #expect(peer.connection.heldByteCount > 0)
    peer.respond(0, ok(""))
    #expect(paths(peer).count == 4)
    #expect(!peer.connection.wantsInput)
    peer.respond(1, ok(""))
    #expect(paths(peer).count == 5)
    #expect(!peer.connection.wantsInput)
    peer.respond(2, ok(""))
    #expect(peer.connection.wantsInput)
    #expect(peer.connection.heldByteCount == 0)
  }

  @Test func `a request with an unsafe method is handled alone`() {
    var peer = quiet()
    peer.feed(get("/0") + get("/1") + post("/2") + get("/3") + get("/4"))
    #expect(paths(peer) == ["/0", "/1"])
    #expect(!peer.connection.wantsInput)
    peer.respond(0, ok(""))
    #expect(paths(peer) == ["/0", "/1"])
    peer.respond(1, ok(""))
    #expect(paths(peer) == ["/0", "/1", "/2"])
    #expect(!peer.connection.wantsInput)
    peer.respond(2, ok(""))
    #expect(paths(peer) == ["/0", "/1", "/2", "/3", "/4"])
  }

  @Test(arguments: [
    ["POST", "POST"], ["GET", "POST"], ["POST", "GET"], ["PUT", "DELETE"], ["GET", "GET"],
  ])
  func `two requests in one write are both answered`(methods: [String]) {
    var peer = Peer()
    peer.feed(
      methods.map {
        $0 == "GET"
          ? get("/nope")
          : "\($0) /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"
      }.joined())
    #expect(peer.statuses == [200, 200])
    #expect(peer.connection.wantsInput)
  }

  @Test func `a client that reads no answers is not read from`() {
    var limits = HTTPLimits()
    limits.unsentBytesMax = 1000
    var peer = Peer(limits)
    peer.answer = { _, _ in
      HTTPResponse(status: 200, body: [UInt8](repeating: 1, count: 600))
    }
    peer.takes = 0
    peer.feed((0..<100).map { get("/\($0)") }.joined())
    #expect(peer.requests.count == 2)
    #expect(!peer.connection.wantsInput)
    #expect(peer.connection.unsentByteCount < 2000)
    peer.takes = 10_000
    peer.proceed()
    #expect(peer.requests.count == 100)
    #expect(peer.connection.unsentByteCount == 0)
  }

  @Test func `a malformed request is answered after the requests before it`() {
    var peer = quiet()
    peer.feed(get("/a") + "NONSENSE\r\n\r\n" + get("/b"))
    #expect(peer.seen.last == .rejected(.requestLine))
    #expect(peer.output.isEmpty)
    #expect(peer.connection.ending == .none)
    #expect(!peer.connection.wantsInput)
    peer.respond(0, ok("a"))
    #expect(peer.statuses == [200, 400])
    #expect(peer.connection.ending == .endSending)
  }

  // MARK: WebSockets

  private let handshake =
    "GET /ws?a=b HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"

  @Test func `a handshake is answered, and bytes after it are kept for the WebSocket`() {
    let bytes = Array((handshake + "Sec-WebSocket-Protocol: a, b\r\n\r\nFRAMES").utf8)
    for cut in 0..<bytes.count - 6 {
      var peer = Peer()
      peer.feed(bytes[..<cut])
      // Once it is accepted, the bytes that follow are the WebSocket's own affair.
      peer.feed(bytes[cut...])
      #expect(peer.upgraded == Array("FRAMES".utf8))
      #expect(
        peer.text
          == "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n"
          + "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
          + "sec-websocket-protocol: a\r\nconnection: Upgrade\r\n\r\n")
      #expect(peer.connection.ending == .none)
      #expect(peer.connection.deadline == nil)
    }
  }

  @Test func `frames before the response are kept, and no more is read`() {
    var peer = Peer()
    peer.upgrades = false
    peer.feed(handshake + "\r\nabc")
    #expect(!peer.connection.wantsInput)
    peer.feed("GET /smuggled HTTP/1.1\r\n\r\n")
    #expect(peer.seen.count == 1)
    let accepted = peer.connection.upgrade(peer.requests[0].number, accept: "x")
    #expect(accepted?.rest == Array("abcGET /smuggled HTTP/1.1\r\n\r\n".utf8))
    let again = peer.connection.upgrade(peer.requests[0].number, accept: "x")
    #expect(again == nil)
  }

  @Test func `a refused handshake ends the connection`() {
    var peer = Peer()
    peer.upgrades = false
    peer.feed(handshake + "\r\n" + get("/smuggled"))
    peer.respond(0, HTTPResponse(status: 403, body: Array("no".utf8)))
    #expect(peer.statuses == [403])
    #expect(peer.text.contains("connection: close"))
    #expect(peer.connection.ending == .endSending)
    #expect(peer.seen.count == 1)
  }

  @Test func `a handshake waits until all responses before it are written`() {
    var peer = quiet()
    peer.feed(get("/a") + handshake + "\r\n")
    #expect(peer.seen.count == 1)
    peer.takes = 0
    peer.respond(0, ok("a"))
    #expect(peer.seen.count == 1)
    peer.takes = .max
    peer.proceed()
    #expect(peer.seen.count == 2)
    #expect(peer.upgraded == [])
  }

  @Test(
    arguments: [
      ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 12", .upgradeVersion),
      ("Sec-WebSocket-Version: 13\r\n", "", .upgradeVersion),
      ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 13, 8", .upgradeVersion),
      ("dGhlIHNhbXBsZSBub25jZQ==", "short", .upgradeKey),
      ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ=", .upgradeKey),
      ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j????", .upgradeKey),
      ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZ===", .upgradeKey),
      ("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", "", .upgradeKey),
      (
        "Sec-WebSocket-Version",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version", .upgradeKey
      ),
      ("GET /", "POST /", .upgradeMethod), ("HTTP/1.1", "HTTP/1.0", .upgradeMethod),
      ("Host: x", "Host: x\r\nContent-Length: 1", .upgradeBody),
      ("Host: x", "Host: x\r\nTransfer-Encoding: chunked", .upgradeBody),
      ("Host: x", "Host: x\r\nSec-WebSocket-Protocol: a b", .upgradeProtocols),
    ] as [(String, String, HTTPError)])
  func `an invalid handshake is rejected`(what: String, by: String, expected: HTTPError) {
    var peer = Peer()
    peer.feed(handshake.replacing(what, with: by) + "\r\nx")
    #expect(peer.seen == [.rejected(expected)])
    #expect(peer.statuses == [expected.status])
    if expected == .upgradeVersion {
      #expect(peer.text.contains("\r\nsec-websocket-version: 13\r\nupgrade: websocket\r\n"))
      #expect(peer.text.contains("\r\nconnection: close, Upgrade\r\n"))
    }
  }

  @Test(
    arguments: [
      ("Upgrade: websocket", "Upgrade: h2c"), ("keep-alive, Upgrade", "keep-alive"),
    ])
  func `an upgrade to another protocol, or without a Connection header, is ignored`(
    what: String, by: String
  ) {
    var peer = Peer()
    peer.feed(handshake.replacing(what, with: by) + "\r\n")
    #expect(peer.statuses == [200])
    #expect(peer.upgraded == nil)
  }

  @Test(
    arguments: [
      ("Upgrade: websocket", "Upgrade: WebSocket"), ("Upgrade: websocket", "upgrade: a, websocket"),
      ("Host: x", "Host: x\r\nContent-Length: 0"), ("keep-alive, Upgrade", "upgrade"),
      ("Host: x", "Host: x\r\nSec-WebSocket-Extensions: \(String(repeating: "x", count: 300))"),
    ])
  func `handshakes in other spellings are accepted`(what: String, by: String) {
    var peer = Peer()
    peer.feed(handshake.replacing(what, with: by) + "\r\n")
    #expect(peer.statuses == [101])
  }

  @Test func `the offers of a handshake reach the owner`() {
    var peer = Peer()
    peer.feed(
      handshake + "Sec-WebSocket-Protocol: a, ,b\r\nsec-websocket-protocol: c\r\n"
        + "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n")
    guard case .upgrade("/ws", let offer)? = peer.seen.first else {
      Issue.record("\(peer.seen)")
      return
    }
    #expect(offer.subprotocols == ["a", "b", "c"])
    #expect(offer.key == "dGhlIHNhbXBsZSBub25jZQ==")
  }

  // MARK: Time

  @Test func `a head must arrive within the time limit`() {
    var peer = Peer()
    #expect(peer.connection.deadline == 10_000)
    peer.now = 5_000
    peer.feed("GET / HTT")
    #expect(peer.connection.deadline == 10_000)
    _ = peer.connection.expired(now: 9_999)
    #expect(peer.connection.unsentByteCount == 0)
    peer.now = 10_000
    if let event = peer.connection.expired(now: 10_000) { peer.handle(event) }
    #expect(peer.seen == [.rejected(.headTimeout)])
    peer.proceed()
    #expect(peer.statuses == [408])
    #expect(peer.connection.ending == .endSending)
  }

  @Test func `a later head must arrive within the time limit from its first byte`() {
    var peer = Peer()
    peer.now = 3_000
    peer.feed(get("/a"))
    #expect(peer.connection.deadline == 33_000)
    peer.now = 20_000
    peer.feed("G")
    #expect(peer.connection.deadline == 30_000)
    peer.now = 29_000
    peer.feed("E")
    #expect(peer.connection.deadline == 30_000)
  }

  @Test func `an idle connection is closed without a response`() {
    var peer = Peer()
    peer.feed(get("/a"))
    peer.output = []
    #expect(peer.connection.expired(now: 30_000) == nil)
    #expect(peer.connection.ending == .close)
    #expect(peer.connection.unsentByteCount == 0)
  }

  @Test func `a body must arrive at a minimum rate`() {
    var limits = HTTPLimits()
    limits.bodyBytesPerSecondMin = 1000
    var peer = Peer(limits)
    peer.now = 1_000
    peer.feed("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n")
    #expect(peer.connection.deadline == 11_000)
    peer.now = 8_000
    peer.feed([UInt8](repeating: 0x61, count: 5_000)[...])
    #expect(peer.connection.deadline == 16_000)
    // A byte now and then earns next to nothing.
    for _ in 0..<8 {
      peer.now += 900
      peer.feed([0x61])
    }
    #expect(peer.connection.deadline == 16_008)
    if let event = peer.connection.expired(now: 16_008) { peer.handle(event) }
    peer.proceed()
    #expect(peer.seen == [.rejected(.bodyTimeout)])
    #expect(peer.statuses == [408])
  }

  @Test func `the owner has no deadline`() {
    var peer = quiet()
    peer.feed(get("/a"))
    #expect(peer.connection.deadline == nil)
    peer.feed(post("/b"))
    #expect(peer.connection.deadline == nil)
  }

  @Test func `a response must be read at a minimum rate`() {
    var peer = Peer()
    peer.takes = 0
    peer.answer = { _, _ in
      HTTPResponse(status: 200, body: [UInt8](repeating: 1, count: 200_000))
    }
    peer.feed(get("/a"))
    #expect(peer.connection.deadline == 30_000)
    peer.now = 20_000
    while peer.write(10_000) > 0, peer.output.count < 65_536 {}
    #expect(peer.connection.deadline == 50_000)
    // A little is not enough.
    peer.now = 49_000
    peer.write(1_000)
    #expect(peer.connection.deadline == 50_000)
    #expect(peer.connection.expired(now: 50_000) == nil)
    #expect(peer.connection.ending == .close)
  }

  // MARK: Ends

  @Test func `a client that has ended its side gets the responses to complete requests`() {
    var peer = quiet()
    // More than the owner has at once, and the beginning of another.
    let count = peer.connection.limits.pipelinedMax + 3
    peer.feed((0..<count).map { get("/\($0)") }.joined() + "GET /never HTTP/1.1\r\nHost:")
    peer.connection.peerEnded(now: 0)
    peer.proceed()
    #expect(!peer.connection.wantsInput)
    for index in 0..<count {
      #expect(peer.connection.ending == .none)
      #expect(peer.connection.deadline == 30_000)
      peer.respond(index, ok("\(index)"))
    }
    #expect(paths(peer) == (0..<count).map { "/\($0)" })
    #expect(peer.statuses == Array(repeating: 200, count: count))
    #expect(peer.text.ranges(of: "connection: close").count == 1)
    #expect(peer.connection.ending == .close)
    #expect(peer.connection.heldByteCount == 0)
  }

  @Test func `a truncated body is not a request`() {
    var peer = Peer()
    peer.feed("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabc")
    peer.connection.peerEnded(now: 0)
    peer.proceed()
    #expect(peer.requests.isEmpty && peer.output.isEmpty)
    #expect(peer.connection.ending == .close)
  }

  @Test func `a connection closes after the response to a client that has ended its side`() {
    var peer = quiet()
    peer.feed(get("/a"))
    peer.connection.peerEnded(now: 5)
    peer.proceed()
    peer.connection.peerEnded(now: 20_000)
    _ = peer.connection.expired(now: 30_004)
    #expect(peer.connection.ending == .none)
    #expect(peer.connection.expired(now: 30_005) != nil)
    #expect(peer.connection.ending == .close)
    #expect(Peer().connection.deadline != nil)
  }

  @Test func `a client that leaves abandons its requests`() {
    var peer = quiet()
    peer.feed(get("/a") + get("/b"))
    peer.connection.cut()
    peer.proceed()
    #expect(peer.seen.suffix(2) == [.abandoned, .abandoned])
    #expect(peer.connection.ending == .close)
    peer.respond(0, ok("late"))
    #expect(peer.output.isEmpty)
  }

  @Test func `a started response is sent to a client that has ended its side`() {
    var peer = Peer()
    peer.takes = 0
    peer.feed(get("/a", "Connection: close\r\n"))
    peer.connection.peerEnded(now: 0)
    #expect(peer.connection.ending == .none)
    peer.takes = .max
    peer.proceed()
    #expect(peer.statuses == [200])
    #expect(peer.connection.ending == .close)
  }

  @Test func `a server that stops answers received requests`() {
    var idle = Peer()
    idle.feed(get("/a"))
    idle.connection.stop(now: 0)
    #expect(idle.connection.ending == .close)
    var busy = quiet()
    busy.feed(get("/a") + get("/b"))
    busy.connection.stop(now: 0)
    busy.feed(get("/c"))
    #expect(paths(busy) == ["/a", "/b"])
    busy.respond(0, ok("a"))
    #expect(busy.connection.ending == .none)
    busy.respond(1, ok("b"))
    #expect(busy.statuses == [200, 200])
    #expect(busy.text.contains("keep-alive") && busy.text.contains("connection: close"))
    #expect(busy.connection.ending == .endSending)
    var half = Peer()
    half.feed("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na")
    half.connection.stop(now: 0)
    half.feed("b")
    #expect(half.statuses == [200])
    #expect(half.text.contains("connection: close"))
    #expect(half.connection.ending == .endSending)
  }

  @Test func `a connection over a limit is answered at once`() {
    var peer = Peer()
    peer.connection.refuse(
      with: HTTPResponse(status: 503, fields: [("retry-after", "5")]), now: 0)
    peer.feed(get("/a"))
    #expect(peer.statuses == [503])
    #expect(peer.text.contains("retry-after: 5\r\n"))
    #expect(peer.seen.isEmpty)
    #expect(peer.connection.ending == .endSending)
  }

  @Test func `limits out of range trap`() async {
    await #expect(processExitsWith: .failure) {
      var limits = HTTPLimits()
      limits.headBytesMax = 10
      _ = HTTPServerConnection(limits: limits, now: 0)
    }
    await #expect(processExitsWith: .failure) {
      var limits = HTTPLimits()
      limits.bodyBytesMax = .max
      _ = HTTPServerConnection(limits: limits, now: 0)
    }
  }
}
