import ParleyGatewayPorts
import ParleyServer
import Testing

@Suite("The HTTP API for pages of other origins")
struct CrossOriginTests {
  private let rule = CrossOrigin(
    OriginPolicy(allowed: ["https://app.example", "http://127.0.0.1:3000"]))

  private func head(
    _ origin: String?, path: String = "/api/notes", method: String = "GET"
  ) -> RequestHead {
    var headers = ["host": "notes.example"]
    headers["origin"] = origin
    return RequestHead(method: method, path: path, headers: headers)
  }

  private func headers(_ head: RequestHead, by rule: CrossOrigin? = nil) -> [String: String] {
    Dictionary(
      (rule ?? self.rule).headers(for: head).map { ($0.name, $0.value) },
      uniquingKeysWith: { "\($0), \($1)" })
  }

  @Test(
    "an allowed origin is returned as it was sent",
    arguments: ["https://app.example", "https://app.example:443", "http://127.0.0.1:3000"])
  func allowed(origin: String) {
    let headers = headers(head(origin))
    #expect(headers["access-control-allow-origin"] == origin)
    #expect(headers["vary"] == "origin")
    let exposed = headers["access-control-expose-headers"] ?? ""
    for name in ["etag", "retry-after", "location", "link", "idempotency-replayed"] {
      #expect(exposed.contains(name))
    }
    #expect(headers["access-control-allow-credentials"] == nil)
    let preflight = rule.preflight(head(origin, method: "OPTIONS"))
    #expect(preflight?.status == 204)
    let answer = Dictionary(
      (preflight?.headers ?? []).map { ($0.name, $0.value) },
      uniquingKeysWith: { first, _ in first })
    for name in ["authorization", "content-type", "if-match", "if-none-match", "idempotency-key"] {
      #expect(answer["access-control-allow-headers"]?.contains(name) ?? false)
    }
    for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
      #expect(answer["access-control-allow-methods"]?.contains(method) ?? false)
    }
    #expect(answer["access-control-max-age"] == "600")
  }

  @Test(
    "another origin gets no headers",
    arguments: [
      "https://evil.example", "http://app.example", "https://app.example.evil.example",
      "https://app.example:444", "http://notes.example", "null", "", "*",
    ])
  func others(origin: String) {
    #expect(headers(head(origin)) == ["vary": "origin"])
    #expect(rule.preflight(head(origin, method: "OPTIONS")) == nil)
  }

  @Test("other paths have no headers", arguments: ["/", "/faye", "/socket/", "/health"])
  func paths(path: String) {
    #expect(headers(head("https://app.example", path: path)) == [:])
    #expect(rule.preflight(head("https://app.example", path: path, method: "OPTIONS")) == nil)
  }

  @Test("files for clients have headers for allowed origins, too")
  func clients() {
    let answer = headers(head("https://app.example", path: "/sdk/version.json"))
    #expect(answer["access-control-allow-origin"] == "https://app.example")
    #expect(headers(head("https://evil.example", path: "/sdk/version.json")) == ["vary": "origin"])
  }

  @Test("if all origins are allowed, the request's origin is returned, never a wildcard")
  func everybody() {
    let everybody = CrossOrigin(OriginPolicy(allowed: ["*"]))
    let answer = headers(head("https://any.example"), by: everybody)
    #expect(answer["access-control-allow-origin"] == "https://any.example")
    #expect(answer["access-control-allow-credentials"] == nil)
    #expect(headers(head("null"), by: everybody) == ["vary": "origin"])
  }

  @Test("without allowed origins there are no headers")
  func nobody() {
    let nobody = CrossOrigin(OriginPolicy(allowed: []))
    #expect(headers(head("https://app.example"), by: nobody) == [:])
    #expect(headers(head(nil), by: nobody) == [:])
    #expect(headers(head(nil)) == ["vary": "origin"])
  }
}
