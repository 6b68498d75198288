import ParleyHTTP1
import Testing

@Suite("Heads of requests")
struct HeadTests {
  /// Reads one head, whole and byte by byte, and checks that both agree.
  private func read(_ text: String, _ limits: HTTPLimits = HTTPLimits()) -> [Seen] {
    let bytes = Array(text.utf8)
    let whole = Peer.of(bytes, limits)
    let pieces = Peer.of(bytes, cuts: Array(0...bytes.count), limits)
    #expect(whole.seen == pieces.seen)
    #expect(whole.output == pieces.output)
    return whole.seen
  }

  private func error(_ text: String, _ limits: HTTPLimits = HTTPLimits()) -> HTTPError? {
    guard case .rejected(let error)? = read(text, limits).first else { return nil }
    return error
  }

  @Test(arguments: HTTPMethod.allCases)
  func `every method is read`(method: HTTPMethod) {
    #expect(
      read("\(method.rawValue) /a HTTP/1.1\r\nHost: x\r\n\r\n")
        == [
          .request(method.rawValue, "/a", query: "", host: "x", fields: [["host", "x"]], body: [])
        ])
  }

  @Test func `names are in lower case, values without the space around them`() {
    let seen = read(
      "GET /p?q HTTP/1.1\r\nHost:x:80\r\nX-A: \t a b\t \r\nAUTHORIZATION:Bearer abc\r\nX-E:\r\n\r\n"
    )
    #expect(
      seen == [
        .request(
          "GET", "/p", query: "q", host: "x:80",
          fields: [
            ["host", "x:80"], ["x-a", "a b"], ["authorization", "Bearer abc"], ["x-e", ""],
          ], body: [])
      ])
  }

  @Test(arguments: [
    "X-Auth", "X-Forwarded", "If", "Auth", "User", "Access", "Content", "Proxy", "X-Real",
    "Accept-CH", "Hos", "Hostt", "Connectio", "Content-Lengt", "Transfer-Encodin", "Upgrad",
    "Sec-WebSocket-Ke", "X", "Expec", "Sec-WebSocket-Extension",
  ])
  func `a field whose name begins like a known one is an ordinary field`(name: String) {
    let seen = read("GET /health HTTP/1.1\r\nHost: x\r\n\(name): b\r\n\r\n")
    #expect(
      seen == [
        .request(
          "GET", "/health", query: "", host: "x",
          fields: [["host", "x"], [name.lowercased(), "b"]], body: [])
      ])
  }

  @Test func `a long extension header is ignored`() {
    let seen = read(
      "GET / HTTP/1.1\r\nHost: x\r\nSec-WebSocket-Extensions: "
        + String(repeating: "a", count: 4000) + "\r\n\r\n")
    #expect(seen.count == 1)
  }

  @Test(
    arguments: [
      ("GARBAGE\r\n\r\n", .requestLine), ("GET /\r\n\r\n", .requestLine),
      ("GET / HTTP/1.1 \r\nHost: x\r\n\r\n", .requestLine),
      ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", .requestLine),
      ("GET /  HTTP/1.1\r\nHost: x\r\n\r\n", .requestLine),
      ("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", .requestLine),
      ("GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n", .requestLine),
      ("GET / HTTP/1.1\tx\r\nHost: x\r\n\r\n", .requestLine),
      (" GET / HTTP/1.1\r\nHost: x\r\n\r\n", .requestLine),
      ("GET  HTTP/1.1\r\nHost: x\r\n\r\n", .requestLine),
      ("GET / http/1.1\r\nHost: x\r\n\r\n", .requestLine),
      ("GET / HTTP/11\r\nHost: x\r\n\r\n", .requestLine),
      ("GET / HTTP/1.10\r\nHost: x\r\n\r\n", .requestLine),
      ("GET / HTTP/1,1\r\nHost: x\r\n\r\n", .requestLine),
      ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", .version),
      ("GET / HTTP/0.9\r\nHost: x\r\n\r\n", .version),
      ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .version),
      ("BREW / HTTP/1.1\r\nHost: x\r\n\r\n", .method),
      ("get / HTTP/1.1\r\nHost: x\r\n\r\n", .method),
      ("CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n", .method),
      ("TRACE / HTTP/1.1\r\nHost: x\r\n\r\n", .method),
      ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", .encrypted),
      ("GET / HTTP/1.1\nHost: x\n\n", .lineBreak),
      ("GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", .lineBreak),
      ("GET / HTTP/1.1\r\nHost: x\r\n\n", .lineBreak),
      ("GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n", .lineBreak),
      ("GET / HTTP/1.1\r\rHost: x\r\n\r\n", .lineBreak),
      ("\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", .requestLine),
      ("\r\rGET / HTTP/1.1\r\nHost: x\r\n\r\n", .lineBreak),
      ("\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", .requestLine),
      ("GET / HTTP/1.1\r\nHost: x\r\nA: b\u{0}c\r\n\r\n", .control),
      ("GET / HTTP/1.1\r\nHost: x\r\nA: b\u{7f}\r\n\r\n", .control),
      ("GET / HTTP/1.1\r\nHost: x\r\nA: b\u{1b}\r\n\r\n", .control),
      ("GET /\u{7} HTTP/1.1\r\nHost: x\r\n\r\n", .control),
      ("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", .foldedField),
      ("GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n\tfolded\r\n\r\n", .foldedField),
      ("GET / HTTP/1.1\r\n Host: x\r\n\r\n", .foldedField),
      ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", .field),
      ("GET / HTTP/1.1\r\nHost\t: x\r\n\r\n", .field),
      ("GET / HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n", .field),
      ("GET / HTTP/1.1\r\nHost: x\r\n: c\r\n\r\n", .field),
      ("GET / HTTP/1.1\r\nHost: x\r\nNoColon\r\n\r\n", .field),
      ("GET / HTTP/1.1\r\nHost: x\r\nÄ: b\r\n\r\n", .field),
      ("GET / HTTP/1.1\r\nHost: x\r\nA(b): c\r\n\r\n", .field),
      ("GET / HTTP/1.1\r\n\r\n", .hostCount),
      ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", .hostCount),
      ("GET / HTTP/1.1\r\nHost: a\r\nhOST: a\r\n\r\n", .hostCount),
      ("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", .hostCount),
      ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", .host),
      ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", .host),
      ("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", .host),
      ("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", .host),
      ("GET / HTTP/1.1\r\nHost: a:b\r\n\r\n", .host),
      ("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", .host),
      ("GET / HTTP/1.1\r\nHost: []\r\n\r\n", .host),
      ("GET / HTTP/1.1\r\nHost: :80\r\n\r\n", .host),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", .length),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n", .length),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\n", .length),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x1\r\n\r\n", .length),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1 1\r\n\r\n", .length),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n", .length),
      (
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        .lengthRepeated
      ),
      (
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        .lengthRepeated
      ),
      (
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        .lengthAndCoding
      ),
      (
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\n",
        .lengthAndCoding
      ),
      ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", .coding),
      ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", .coding),
      ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n", .coding),
      ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n", .coding),
      ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", .codingOrder),
      (
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        .codingOrder
      ),
      ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n\r\n", .codingOrder),
      ("POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", .codingOrder),
      ("POST / HTTP/1.1\r\nHost: x\r\nExpect: a-cake\r\nContent-Length: 1\r\n\r\n", .expectation),
    ] as [(String, HTTPError)])
  func `a request that breaks a rule is rejected`(text: String, expected: HTTPError) {
    #expect(read(text + "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n") == [.rejected(expected)])
    // It does not change what came before it.
    let seen = read("GET /first HTTP/1.1\r\nHost: x\r\n\r\n" + text)
    #expect(seen.count == 2)
    #expect(seen.last == .rejected(expected) || text.hasPrefix("\r\n"))
  }

  @Test(
    arguments: [
      ("/", "/"), ("/a%20b", "/a%20b"), ("/%252e%252e/x", "/%252e%252e/x"),
      ("/a/..%2Fb", "/a/..%2Fb"), ("/a../b..", "/a../b.."),
      ("/caf%c3%a9", "/caf%C3%A9"), ("//a", "/a"), ("///", "/"), ("/a//b///c/", "/a/b/c/"),
      ("/.well-known/x", "/.well-known/x"), ("/...", "/..."), ("/a/...b", "/a/...b"),
      ("/%61%2Fb", "/a%2Fb"), ("/%7Euser", "/~user"), ("/a;b=c,d", "/a;b=c,d"),
      ("/\"<>^`{|}\\", "/%22%3C%3E%5E%60%7B%7C%7D%5C"), ("/%25", "/%25"), ("/a%2e", "/a."),
      ("http://x/a", "/a"), ("HTTPS://x:1/a/b", "/a/b"), ("http://x", "/"), ("http://x?q", "/"),
      ("http://[::1]:80/a", "/a"),
    ])
  func `a path is normalized`(sent: String, expected: String) {
    guard
      case .request(_, let path, _, _, _, _)? =
        read("GET \(sent) HTTP/1.1\r\nHost: x\r\n\r\n").first
    else {
      Issue.record("\(sent) is rejected")
      return
    }
    #expect(path == expected)
    // The form is its own form.
    guard
      case .request(_, let again, _, _, _, _)? =
        read("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n").first
    else {
      Issue.record("\(path) is rejected")
      return
    }
    #expect(again == path)
  }

  @Test(
    arguments: [
      "/a/../b", "/a/./b", "/../../etc/passwd", "/%2e%2e/x", "/a/%2E%2e/x", "/a/.%2e", "/%2e",
      "/a/b/..", "/a/b/../", "/a/.", "/.", "/..", "//../a", "http://x/a/../b", "/a/..?q",
    ])
  func `a path with a segment of dots is rejected`(sent: String) {
    #expect(read("GET \(sent) HTTP/1.1\r\nHost: x\r\n\r\n") == [.rejected(.targetDots)])
  }

  @Test(
    arguments: [
      ("/p?a=b&c=d", "a=b&c=d"), ("/p?a=1%262", "a=1%262"), ("/p?", ""), ("/p?a=b=c", "a=b=c"),
      ("/p?/../?x", "/../?x"), ("http://x?q=/", "q=/"), ("/p?a[]=|", "a[]=|"),
    ])
  func `a query is passed on unchanged`(sent: String, expected: String) {
    guard
      case .request(_, _, let query, _, _, _)? =
        read("GET \(sent) HTTP/1.1\r\nHost: x\r\n\r\n").first
    else {
      Issue.record("\(sent) is rejected")
      return
    }
    #expect(query == expected)
  }

  @Test(
    arguments: [
      ("a", .targetForm), ("ftp://x/", .targetForm), ("http:/x", .targetForm),
      ("http:///a", .targetForm), ("http://u@x/", .targetForm), ("*", .targetForm),
      ("http://x y/", .requestLine), ("/a#b", .targetEncoding), ("/%", .targetEncoding),
      ("/%zz", .targetEncoding), ("/%4", .targetEncoding), ("/é", .targetEncoding),
      ("/%00", .targetControl), ("/a%0Ab", .targetControl), ("/a?b=%0d", .targetControl),
      ("http://x/%0a", .targetControl),
    ] as [(String, HTTPError)])
  func `an invalid target is rejected`(target: String, expected: HTTPError) {
    #expect(error("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n") == expected)
  }

  @Test func `OPTIONS may ask about the whole server`() {
    #expect(
      read("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
        == [.request("OPTIONS", "*", query: "", host: "x", fields: [["host", "x"]], body: [])])
  }

  @Test func `the host of an absolute target takes precedence over the field`() {
    guard
      case .request(_, _, _, let host, _, _)? =
        read("GET http://real:1/ HTTP/1.1\r\nHost: other\r\n\r\n").first
    else {
      Issue.record("rejected")
      return
    }
    #expect(host == "real:1")
  }

  @Test(arguments: ["x", "x:80", "x:", "[::1]", "[::1]:8080", "192.0.2.1:1", "", "a_b.c-d", "%41"])
  func `valid hosts pass`(host: String) {
    #expect(error("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n") == nil)
  }

  @Test func `an HTTP 1.0 client needs no host`() {
    #expect(error("GET / HTTP/1.0\r\n\r\n") == nil)
  }

  @Test func `one empty line before a request is ignored`() {
    #expect(
      read("\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n").count == 2)
  }

  // MARK: Limits

  @Test func `a request line has a limit`() {
    var limits = HTTPLimits()
    limits.requestLineBytesMax = 100
    func line(_ count: Int) -> String {
      let line = "GET / HTTP/1.1\r\n"
      let path = String(repeating: "a", count: count - line.utf8.count)
      return "GET /\(path) HTTP/1.1\r\n"
    }
    #expect(error(line(100) + "Host: x\r\n\r\n", limits) == nil)
    #expect(error(line(101) + "Host: x\r\n\r\n", limits) == .targetTooLong(100))
    #expect(error(line(5000), limits) == .targetTooLong(100))
  }

  @Test func `a head has a limit`() {
    var limits = HTTPLimits()
    limits.requestLineBytesMax = 100
    limits.headBytesMax = 200
    func head(_ count: Int) -> String {
      let head = "GET / HTTP/1.1\r\nHost: x\r\nA: \r\n\r\n"
      return "GET / HTTP/1.1\r\nHost: x\r\nA: "
        + String(repeating: "a", count: count - head.utf8.count) + "\r\n\r\n"
    }
    #expect(error(head(200), limits) == nil)
    for count in [201, 202, 203, 204, 400, 10_000] {
      #expect(error(head(count), limits) == .headTooLong(200))
    }
  }

  @Test func `fields have a limit`() {
    var limits = HTTPLimits()
    limits.fieldsMax = 10
    func head(_ count: Int) -> String {
      "GET / HTTP/1.1\r\nHost: x\r\n"
        + (1..<count).map { "a\($0): b\r\n" }.joined() + "\r\n"
    }
    #expect(error(head(10), limits) == nil)
    #expect(error(head(11), limits) == .tooManyFields(10))
    #expect(error(head(1000), limits) == .tooManyFields(10))
  }

  @Test(
    arguments: [
      (.encrypted, 400), (.version, 505), (.method, 501), (.targetTooLong(1), 414),
      (.headTooLong(1), 431), (.tooManyFields(1), 431), (.coding, 501), (.bodyTooLong(1), 413),
      (.expectation, 417), (.upgradeVersion, 426), (.headTimeout, 408), (.lineBreak, 400),
    ] as [(HTTPError, Int)])
  func `each error has its status`(error: HTTPError, status: Int) {
    #expect(error.status == status)
    #expect(!error.message.isEmpty)
  }
}
