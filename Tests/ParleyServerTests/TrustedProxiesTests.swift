import ParleyGatewayPorts
import ParleyServer
import Testing

@Suite("Proxies")
struct TrustedProxiesTests {
  private let proxies = TrustedProxies(["10.0.0.0/8", "2001:db8:f::/48"])

  private func resolved(
    _ peer: String, _ headers: [String: String] = [:], by proxies: TrustedProxies? = nil
  ) -> RequestHead {
    (proxies ?? self.proxies).resolved(
      RequestHead(method: "GET", path: "/", headers: headers, remoteAddress: peer))
  }

  @Test(
    "the client is the rightmost address that is not a trusted proxy",
    arguments: [
      ("203.0.113.7", "203.0.113.7"), ("203.0.113.7, 10.1.1.1", "203.0.113.7"),
      // Addresses that a client makes up are to the left of the address that the proxy has added.
      ("198.51.100.1, 203.0.113.7", "203.0.113.7"),
      ("10.9.9.9, 203.0.113.7, 10.1.1.1, 10.2.2.2", "203.0.113.7"),
      ("127.0.0.1, 203.0.113.7", "203.0.113.7"), ("203.0.113.7:4711", "203.0.113.7"),
      ("[2001:db8::7]:80, 2001:db8:f::1", "2001:db8:0:0:0:0:0:7"),
      (" 203.0.113.7 ,10.1.1.1 ", "203.0.113.7"),
      // Left of a hop that is not an address nothing is trusted, so the proxy that has added it
      // counts as the client.
      ("203.0.113.7, unknown, 10.1.1.1", "10.1.1.1"), ("junk", "10.0.0.1"), ("", "10.0.0.1"),
      ("203.0.113.7,", "203.0.113.7"), ("10.3.3.3, 10.1.1.1", "10.3.3.3"),
    ])
  func client(hops: String, address: String) {
    #expect(resolved("10.0.0.1", ["x-forwarded-for": hops]).remoteAddress == address)
  }

  @Test("headers from other addresses are ignored", arguments: ["203.0.113.9", "127.0.0.1", "::1"])
  func limitedClient(peer: String) {
    let head = resolved(
      peer,
      [
        "x-forwarded-for": "10.0.0.1", "x-forwarded-proto": "https", "x-forwarded-host": "evil",
      ])
    #expect(head.remoteAddress == peer)
    #expect(head.limitedAddress == IPAddress(peer))
    #expect(!head.isSecure)
    #expect(head.headers["x-forwarded-proto"] == nil)
    #expect(head.headers["x-forwarded-host"] == nil)
  }

  @Test("a client behind a proxy is limited, the proxy itself is not")
  func limits() {
    #expect(
      resolved("10.0.0.1", ["x-forwarded-for": "203.0.113.7"]).limitedAddress
        == IPAddress("203.0.113.7"))
    #expect(resolved("10.0.0.1").limitedAddress == nil)
    #expect(resolved("10.0.0.1", ["x-forwarded-for": "10.4.4.4"]).limitedAddress == nil)
  }

  @Test("by default, a proxy on this machine is trusted")
  func loopback() throws {
    let none = TrustedProxies([])
    for text in ["127.0.0.1", "::1"] {
      let address = try #require(IPAddress(text))
      #expect(!none.isLimited(address))
      #expect(proxies.isLimited(address))
    }
    #expect(none.isLimited(try #require(IPAddress("203.0.113.7"))))
  }

  @Test("the origin of a page is that of the host requested from the proxy")
  func origins() {
    let policy = OriginPolicy(allowed: [])
    func allows(_ origin: String, from peer: String, _ more: [String: String]) -> Bool {
      var headers = more
      headers["origin"] = origin
      headers["host"] = headers["host"] ?? "127.0.0.1:8080"
      return policy.allows(resolved(peer, headers))
    }
    let told = ["x-forwarded-host": "notes.example", "x-forwarded-proto": "https"]
    #expect(allows("https://notes.example", from: "10.0.0.1", told))
    #expect(!allows("http://notes.example", from: "10.0.0.1", told))
    #expect(!allows("https://notes.example", from: "203.0.113.7", told))
    #expect(!allows("https://evil.example", from: "10.0.0.1", told))
    let kept = ["host": "notes.example", "x-forwarded-proto": "https"]
    #expect(allows("https://notes.example", from: "10.0.0.1", kept))
    // This proxy is not trusted in the settings. It ends TLS and forwards the host.
    #expect(allows("https://notes.example", from: "203.0.113.7", kept))
    #expect(allows("http://notes.example:9000", from: "10.0.0.1", ["host": "notes.example:9000"]))
  }

  @Test("a slash at the end of an origin is ignored, in requests and in settings")
  func trailingSlash() throws {
    let origins = ["https://app.example", "http://[::1]:3000", "http://127.0.0.1:8080"]
    for setting in ["", "/"] {
      let policy = OriginPolicy(allowed: origins.prefix(2).map { $0 + setting })
      for origin in origins {
        func allows(_ origin: String) -> Bool {
          let headers = ["host": "127.0.0.1:8080", "origin": origin]
          return policy.allows(RequestHead(method: "GET", path: "/ws", headers: headers))
        }
        #expect(allows(origin) && allows(origin + "/"), "\(origin)")
        for more in ["//", "/x", "/x/", "/.", "\\", "?", "/?"] {
          #expect(!allows(origin + more), "\(origin + more)")
        }
      }
    }
  }

  @Test("a script is served to allowed pages if their browser sends the origin")
  func scripts() {
    func allows(
      _ policy: OriginPolicy, _ headers: [String: String], isOpen: Bool = false
    ) -> Bool {
      var headers = headers
      headers["host"] = "127.0.0.1:8080"
      return policy.allowsScript(
        RequestHead(method: "GET", path: "/faye", headers: headers), isOpen: isOpen)
    }
    let policy = OriginPolicy(allowed: ["https://app.example"])
    for isOpen in [false, true] {
      for known in [
        "https://app.example", "https://app.example/", "https://app.example/a?b=//c#d",
        "http://127.0.0.1:8080/x",
      ] {
        #expect(allows(policy, ["referer": known], isOpen: isOpen), "\(known)")
      }
      for foreign in [
        "https://evil.example/", "https://evil.example/https://app.example/", "null", "",
        "https://app.example.evil.example/", "https://app.example@evil.example/", "app.example",
        "http:/app.example/", "https:", "//app.example/",
      ] {
        #expect(!allows(policy, ["referer": foreign], isOpen: isOpen), "\(foreign)")
        #expect(allows(OriginPolicy(allowed: ["*"]), ["referer": foreign], isOpen: isOpen))
      }
      // An `origin` header takes precedence over `referer`.
      #expect(
        !allows(
          policy, ["origin": "https://evil.example", "referer": "https://app.example/"],
          isOpen: isOpen))
    }
    // A request without both headers is allowed where tokens protect it, and in open mode only if
    // all origins are allowed.
    #expect(allows(policy, [:]))
    #expect(!allows(policy, [:], isOpen: true))
    #expect(allows(OriginPolicy(allowed: ["*"]), [:], isOpen: true))
  }
}
