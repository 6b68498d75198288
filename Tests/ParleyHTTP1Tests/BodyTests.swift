import ParleyHTTP1
import Testing

@Suite("Bodies of requests")
struct BodyTests {
  private func read(_ text: String, _ limits: HTTPLimits = HTTPLimits()) -> [Seen] {
    let bytes = Array(text.utf8)
    let whole = Peer.of(bytes, limits)
    let pieces = Peer.of(bytes, cuts: Array(0...bytes.count), limits)
    #expect(whole.seen == pieces.seen)
    #expect(whole.output == pieces.output)
    return whole.seen
  }

  private func bodies(_ seen: [Seen]) -> [String] {
    seen.map {
      switch $0 {
      case .request(_, _, _, _, _, let body): String(decoding: body, as: UTF8.self)
      case .rejected(let error): "\(error)"
      default: "\($0)"
      }
    }
  }

  private func chunked(_ body: String, _ limits: HTTPLimits = HTTPLimits()) -> [String] {
    bodies(
      read(
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\(body)", limits))
  }

  private let next = "GET /next HTTP/1.1\r\nHost: x\r\n\r\n"

  @Test(arguments: HTTPMethod.allCases, [0, 1, 5, 5000])
  func `a body of the declared length is read, and the bytes after it are another request`(
    method: HTTPMethod, count: Int
  ) {
    let body = String(repeating: "x", count: count)
    let seen = read(
      "\(method.rawValue) / HTTP/1.1\r\nHost: x\r\nContent-Length: \(count)\r\n\r\n\(body)\(next)")
    #expect(bodies(seen) == [body, ""])
  }

  @Test func `a length may have leading zeros`() {
    #expect(
      bodies(read("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 0003\r\n\r\nabc\(next)"))
        == ["abc", ""])
  }

  @Test(arguments: [
    "0\r\n\r\n", "000\r\n\r\n", "0;a=b\r\n\r\n", "0\r\nTrailer: x\r\nOther:\r\n\r\n",
  ])
  func `an empty body in chunks`(body: String) {
    #expect(chunked(body + next) == ["", ""])
  }

  @Test(
    arguments: [
      ("3\r\nabc\r\n0\r\n\r\n", "abc"), ("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", "abcde"),
      ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
      ("a\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
      ("3;name=value\r\nabc\r\n0\r\n\r\n", "abc"), ("3 ; a=\"b\"\r\nabc\r\n0\r\n\r\n", "abc"),
      ("3\t;\r\nabc\r\n0\r\n\r\n", "abc"), ("0000000000000003\r\nabc\r\n0\r\n\r\n", "abc"),
      ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"), ("5\r\n0\r\n\r\n\r\n0\r\n\r\n", "0\r\n\r\n"),
      ("3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n", "abc"),
    ])
  func `chunks are put together`(body: String, expected: String) {
    #expect(chunked(body + next) == [expected, ""])
  }

  @Test(arguments: [
    "\r\n", ";\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1 \r\nx", "1 1\r\n",
    "1\nx", "1\r\nx\n", "1\r\nxy", "1\r\nx\r\r", "1;a\nb\r\n", "1;a\u{0}\r\n", "1\r x",
    "00000000000000003\r\nabc\r\n", "fffffffffffffffff\r\n", "1\r\nx0\r\n\r\n", "3\r\nab\r\n0\r\n",
  ])
  func `malformed chunks are rejected`(body: String) {
    #expect(chunked(body + next) == ["chunk"])
  }

  @Test(arguments: [
    "0\r\n\n", "0\r\nA: b\n", "0\r\n A: b\r\n", "0\r\nA b\r\n", "0\r\nA\r\n", "0\r\n\rx",
    "0\r\nA: b\r\r", "0\r\nA: \u{0}\r\n", "0\r\nx0\r\n\r\n",
  ])
  func `malformed trailers are rejected`(body: String) {
    #expect(chunked(body + next) == ["trailer"])
  }

  @Test func `a length over the limit is rejected at the head`() {
    var limits = HTTPLimits()
    limits.bodyBytesMax = 10
    func head(_ length: String) -> String {
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n"
    }
    #expect(bodies(read(head("10") + "0123456789", limits)) == ["0123456789"])
    for length in ["11", "1000000000000000000", "99999999999999999999999999"] {
      #expect(read(head(length), limits) == [.rejected(.bodyTooLong(10))])
    }
  }

  @Test func `chunks over the limit are rejected at the size`() {
    var limits = HTTPLimits()
    limits.bodyBytesMax = 10
    #expect(chunked("5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n", limits) == ["0123456789"])
    #expect(chunked("5\r\n01234\r\n6\r", limits) == ["bodyTooLong(10)"])
    #expect(chunked("b\r", limits) == ["bodyTooLong(10)"])
    #expect(chunked("ffffffffffffffff\r", limits) == ["bodyTooLong(10)"])
    #expect(chunked("7fffffffffffffff\r", limits) == ["bodyTooLong(10)"])
  }

  @Test func `extensions and trailers have limits`() {
    var limits = HTTPLimits()
    limits.chunkExtensionBytesMax = 20
    #expect(
      chunked("1;" + String(repeating: "a", count: 20) + "\r\nx\r\n0\r\n\r\n", limits) == ["x"])
    #expect(
      chunked("1;" + String(repeating: "a", count: 21) + "\r\n", limits) == ["chunkExtension(20)"])
    #expect(
      chunked(String(repeating: "1;aaaa\r\nx\r\n", count: 6), limits) == ["chunkExtension(20)"])
    #expect(chunked("1" + String(repeating: " ", count: 30), limits) == ["chunkExtension(20)"])
    limits.requestLineBytesMax = 100
    limits.headBytesMax = 100
    #expect(
      chunked("0\r\nA: " + String(repeating: "a", count: 200), limits) == ["headTooLong(100)"])
    limits.fieldsMax = 2
    #expect(chunked("0\r\na:\r\nb:\r\nc:\r\n\r\n", limits) == ["tooManyFields(2)"])
  }

  @Test func `a declared length reserves little memory, which grows with received bytes`() {
    var peer = Peer()
    peer.feed("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
    let piece = [UInt8](repeating: 0x61, count: 1000)
    for number in 1...999 {
      peer.feed(piece[...])
      #expect(peer.connection.heldByteCount == number * 1000)
    }
    peer.feed(piece[...])
    #expect(peer.connection.heldByteCount == 0)
    #expect(bodies(peer.seen).map(\.count) == [1_000_000])
  }

  @Test func `a client may wait for 100`() {
    var peer = Peer()
    peer.feed("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n")
    #expect(peer.text == "HTTP/1.1 100 Continue\r\n\r\n")
    #expect(peer.seen.isEmpty)
    peer.feed("ok")
    #expect(peer.statuses == [100, 200])
    // Neither a client that sends nothing nor one that cannot know it waits.
    #expect(
      Peer.of(Array("GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n".utf8)).statuses == [
        200
      ])
    #expect(
      Peer.of(
        Array("POST / HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\nx".utf8)
      ).statuses == [200])
  }

  @Test func `a body over the limit gets 413 instead of 100`() {
    var limits = HTTPLimits()
    limits.bodyBytesMax = 10
    let peer = Peer.of(
      Array(
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n".utf8),
      limits)
    #expect(peer.statuses == [413])
  }
}
