import ParleyGatewayPorts
import Glibc
import ParleyServer
import Testing

@Suite("The page's files")
struct StaticFileTests {
  private let folder = TestFolder()

  private func write(_ text: String, to name: String, modified: Int) throws {
    let path = folder.path + "/" + name
    let file = try #require(fopen(path, "w"))
    #expect(fputs(text, file) >= 0)
    fclose(file)
    let time = timespec(tv_sec: modified, tv_nsec: 0)
    #expect(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
  }

  private func headers(_ response: Response) -> [String: String] {
    Dictionary(response.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
  }

  private func response(
    _ path: String, accepting codings: String? = nil, knowing tag: String? = nil
  ) throws -> Response {
    var files = StaticFiles(root: folder.path)
    var headers = ["host": "notes.example"]
    headers["accept-encoding"] = codings
    headers["if-none-match"] = tag
    let response = files.response(
      to: RequestHead(method: "GET", path: path, headers: headers))
    return try #require(response)
  }

  @Test(
    "only the configured sites may frame the page of notes, and no site the operators' page",
    arguments: [
      ([], "'none'"),
      (["https://a.example", "https://b.example:1"], "https://a.example https://b.example:1"),
      (["*"], "*"),
    ] as [([String], String)])
  func framing(ancestors: [String], framing: String) throws {
    for name in ["index.html", "admin.html"] { try write("page", to: name, modified: 100) }
    var files = StaticFiles(root: folder.path, frameAncestors: ancestors)
    for (path, expected) in [
      ("/", framing), ("/n/a", framing), ("/assets/index.html", framing), ("/admin", "'none'"),
      ("/assets/admin.html", "'none'"),
    ] {
      let head = RequestHead(method: "GET", path: path, headers: ["host": "notes.example"])
      let response = files.response(to: head)
      let policy = try headers(#require(response))["content-security-policy"]
      #expect(policy?.contains("; frame-ancestors \(expected); ") == true, "\(path)")
      for closed in ["base-uri", "form-action", "object-src"] {
        #expect(policy?.contains("; \(closed) 'none'") == true, "\(path)")
      }
    }
  }

  @Test(
    "a client that accepts gzip receives the compressed file",
    arguments: [
      ("gzip", true), ("br, GZIP;q=0.5", true), ("*", true), ("deflate, x-gzip", true),
      ("gzip ; q=0.001", true),
      (nil, false), ("", false), ("br", false), ("gzip;q=0", false), ("gzip;q=0.000, *", false),
      ("*;q=0", false), (",;,", false),
    ] as [(String?, Bool)])
  func compressed(codings: String?, isTaken: Bool) throws {
    try write("plain", to: "app.js", modified: 100)
    try write("pressed", to: "app.js.gz", modified: 100)
    let response = try response("/assets/app.js", accepting: codings)
    let headers = headers(response)
    #expect(String(decoding: response.body, as: UTF8.self) == (isTaken ? "pressed" : "plain"))
    #expect(headers["content-encoding"] == (isTaken ? "gzip" : nil))
    #expect(headers["content-type"] == "text/javascript; charset=utf-8")
    #expect(headers["vary"] == "accept-encoding")
  }

  @Test(
    "the smallest accepted form is sent",
    arguments: [
      ("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("BR;q=0.1, gzip", "br"), ("*", "br"),
      ("br;q=0, *", "gzip"), ("br;q=0, gzip;q=0, *", nil), ("zstd", nil), (nil, nil),
    ] as [(String?, String?)])
  func brotli(codings: String?, coding: String?) throws {
    try write("plain", to: "app.js", modified: 100)
    try write("gzip", to: "app.js.gz", modified: 100)
    try write("br", to: "app.js.br", modified: 100)
    let response = try response("/assets/app.js", accepting: codings)
    #expect(String(decoding: response.body, as: UTF8.self) == coding ?? "plain")
    #expect(headers(response)["content-encoding"] == coding)
    #expect(response.headers.filter { $0.name == "vary" }.map(\.value) == ["accept-encoding"])
    let tag = try #require(headers(response)["etag"])
    #expect(try self.response("/assets/app.js", accepting: codings, knowing: tag).status == 304)
    let others = ["br", "gzip", nil].filter { $0 != coding }
    for other in others {
      #expect(try self.response("/assets/app.js", accepting: other, knowing: tag).status == 200)
    }
  }

  @Test(
    "only files with a hash in their names are cached without revalidation")
  func caching() throws {
    #expect(mkdir(folder.path + "/immutable", 0o700) == 0)
    try write("script", to: "immutable/app-ABCD2345.js", modified: 100)
    try write("page", to: "index.html", modified: 100)
    let fixed = headers(try response("/assets/immutable/app-ABCD2345.js"))["cache-control"]
    #expect(fixed == "public, max-age=31536000, immutable")
    for path in ["/", "/n/one", "/assets/index.html"] {
      #expect(headers(try response(path))["cache-control"] == "no-cache", "\(path)")
    }
    let missing = try response("/assets/immutable/app-ZZZZ2345.js")
    #expect(missing.status == 404)
    #expect(headers(missing)["cache-control"] == "no-store")
  }

  @Test(
    "the service worker is at the root, is revalidated each time, and can be disabled")
  func worker() throws {
    try write("worker", to: "worker.js", modified: 100)
    let response = try response("/worker.js")
    #expect(response.status == 200)
    #expect(headers(response)["content-type"] == "text/javascript; charset=utf-8")
    #expect(headers(response)["cache-control"] == "no-cache")
    #expect(headers(response)["content-security-policy"]?.contains("default-src 'self'") == true)
    #expect(headers(response)["service-worker-allowed"] == nil)
    var files = StaticFiles(root: folder.path, isKeptOffline: false)
    let head = RequestHead(method: "GET", path: "/worker.js", headers: ["host": "notes.example"])
    let answer = files.response(to: head)
    let missing = try #require(answer)
    #expect(missing.status == 404)
    #expect(headers(missing)["cache-control"] == "no-store")
  }

  @Test("a compressed form that is older than its file is not sent")
  func outdated() throws {
    try write("newer", to: "app.js", modified: 101)
    try write("pressed", to: "app.js.gz", modified: 100)
    let response = try response("/assets/app.js", accepting: "gzip")
    #expect(String(decoding: response.body, as: UTF8.self) == "newer")
    #expect(headers(response)["content-encoding"] == nil)
    #expect(headers(response)["vary"] == nil)
  }

  @Test("both forms have separate entity tags")
  func tags() throws {
    try write("equal", to: "app.js", modified: 100)
    try write("sizes", to: "app.js.gz", modified: 100)
    let plain = try #require(headers(try response("/assets/app.js"))["etag"])
    let pressed = try #require(
      headers(try response("/assets/app.js", accepting: "gzip"))["etag"])
    #expect(plain != pressed)
    #expect(try response("/assets/app.js", accepting: "gzip", knowing: pressed).status == 304)
    #expect(try response("/assets/app.js", accepting: "gzip", knowing: plain).status == 200)
    #expect(try response("/assets/app.js", knowing: plain).status == 304)
  }

  @Test("the page at a note's address is sent uncompressed, because its links are rewritten")
  func nestedPage() throws {
    try write("<a href=\"assets/x\">", to: "index.html", modified: 100)
    try write("pressed", to: "index.html.gz", modified: 100)
    let page = try response("/", accepting: "gzip")
    #expect(String(decoding: page.body, as: UTF8.self) == "pressed")
    let below = try response("/n/one", accepting: "gzip")
    #expect(String(decoding: below.body, as: UTF8.self) == "<a href=\"../assets/x\">")
  }

  @Test("the built page at a note's address is sent compressed")
  func builtOneDown() throws {
    try write("<a href=\"assets/x\">", to: "index.html", modified: 100)
    try write("built below", to: "index.below.html", modified: 100)
    try write("pressed below", to: "index.below.html.br", modified: 100)
    let below = try response("/n/one", accepting: "br")
    #expect(String(decoding: below.body, as: UTF8.self) == "pressed below")
    #expect(headers(below)["content-type"] == "text/html; charset=utf-8")
    let plain = try response("/n/one")
    #expect(String(decoding: plain.body, as: UTF8.self) == "built below")
    #expect(headers(plain)["vary"] == "accept-encoding")
  }
}
