import ParleyGatewayPorts
import ParleyServer
import Testing

@Suite("Hosts that an open server answers to")
struct HostPolicyTests {
  private let policy = HostPolicy(
    isOpen: true, listening: ["192.168.1.5", "Box.lan."],
    origins: ["https://notes.example.org", "http://[2001:db8::7]:8080", "none"])

  @Test(
    "own hosts, with any port, in any case, with a last dot",
    arguments: [
      "localhost", "localhost:8080", "LOCALHOST:8080", "localhost.", "localhost.:8080",
      "a.localhost", "a.b.localhost.:1", "127.0.0.1", "127.0.0.1:8080", "127.255.0.3:80",
      "[::1]", "[::1]:8080", "[0:0:0:0:0:0:0:1]:8080", "[::ffff:127.0.0.1]:8080", "127.0.0.1.",
      "192.168.1.5", "192.168.1.5:8080", "box.lan", "BOX.LAN.:8080",
      "notes.example.org", "notes.example.org.", "notes.example.org:9999", "[2001:db8:0::7]:1",
    ])
  func own(host: String) {
    #expect(policy.allows(authority: host))
    #expect(policy.allows(RequestHead(method: "GET", path: "/", headers: ["host": host])))
  }

  @Test(
    "other hosts, and invalid ones",
    arguments: [
      "evil.example", "evil.example:8080", "localhost.evil.example", "evillocalhost",
      "notes.example.org.evil.example", "example.org", "192.168.1.6", "10.0.0.1:8080",
      "[2001:db8::8]", "[::2]:8080", "0.0.0.0", "127.0.0.1.evil.example", "127.0.0.1@evil.example",
      "evil.example@127.0.0.1", "127.0.0.1%evil.example", "[::1%25lo]", "localhost evil.example",
      "localhost, evil.example", "localhost/evil", "localhost:8080:1", "localhost:x", "", ".", ":",
      "[::1", "none", "locàlhost", "localhost..",
    ])
  func others(host: String) {
    #expect(!policy.allows(authority: host))
    #expect(!policy.allows(RequestHead(method: "GET", path: "/", headers: ["host": host])))
  }

  @Test("a request without a host is accepted, and every host that it names is checked")
  func headers() {
    func allows(_ headers: [String: String]) -> Bool {
      policy.allows(RequestHead(method: "GET", path: "/", headers: headers))
    }
    #expect(allows([:]))
    #expect(allows(["host": "127.0.0.1:8080", "x-forwarded-host": "notes.example.org"]))
    #expect(!allows(["host": "127.0.0.1:8080", "x-forwarded-host": "evil.example"]))
    #expect(!allows(["host": "evil.example", "x-forwarded-host": "localhost"]))
  }

  @Test("every address of a machine that listens on all of them", arguments: ["0.0.0.0", "::"])
  func wildcard(host: String) {
    let policy = HostPolicy(isOpen: true, listening: [host], origins: [])
    for own in ["192.168.1.5:8080", "[2001:db8::7]", "localhost"] {
      #expect(policy.allows(authority: own))
    }
    #expect(!policy.allows(authority: "evil.example"))
    #expect(!policy.allows(authority: "box.lan"))
  }

  @Test("every host where tokens are checked, or where every page may connect")
  func closed() {
    for policy in [
      HostPolicy(isOpen: false, listening: ["127.0.0.1"], origins: []),
      HostPolicy(isOpen: true, listening: ["127.0.0.1"], origins: ["*"]),
    ] {
      #expect(policy.allows(authority: "evil.example"))
      #expect(
        policy.allows(RequestHead(method: "GET", path: "/", headers: ["host": "evil.example"])))
    }
  }

  @Test("the refusal says what to set")
  func words() {
    let refusal = HostPolicy.refusal
    let text = String(decoding: refusal.body, as: UTF8.self)
    #expect(refusal.status == 421)
    for word in ["\"code\":\"notAllowed\"", "allowed-origin", "auth-key"] {
      #expect(text.contains(word))
    }
  }
}
