import ParleyGatewayPorts
import Testing

@Suite("Addresses")
struct IPAddressTests {
  @Test(
    "each form of an address is parsed",
    arguments: [
      ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"),
      ("::ffff:c000:201", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("::", "0:0:0:0:0:0:0:0"),
      ("::1", "0:0:0:0:0:0:0:1"), ("2001:DB8::5", "2001:db8:0:0:0:0:0:5"),
      ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"), ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1"),
      ("1::", "1:0:0:0:0:0:0:0"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
      ("64:ff9b::192.0.2.33", "64:ff9b:0:0:0:0:c000:221"),
    ])
  func reading(text: String, plain: String) {
    #expect(IPAddress(text)?.description == plain)
    #expect(IPAddress(text) == IPAddress(plain))
  }

  @Test(
    "an invalid address is refused",
    arguments: [
      "", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.-4", "1.2.3.4 ", "a.b.c.d",
      ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "::g", "+1::",
      ":1::2", "1::2:", "1:2:3:4:5:6:7:8::", "::1.2.3", "1.2.3.4::", "localhost", "unknown", "_x",
    ])
  func none(text: String) { #expect(IPAddress(text) == nil) }

  @Test(
    "an address may be followed by a port, as some proxies write it",
    arguments: [
      ("192.0.2.1", "192.0.2.1"), ("192.0.2.1:4711", "192.0.2.1"), ("[2001:db8::1]", "2001:db8::1"),
      ("[2001:db8::1]:80", "2001:db8::1"), ("2001:db8::1", "2001:db8::1"),
    ])
  func hops(text: String, address: String) {
    #expect(IPAddress(hop: text) == IPAddress(address))
    #expect(IPAddress(hop: text) != nil)
  }

  @Test(arguments: ["192.0.2.1:", "192.0.2.1:x", "[::1", "[::1]x", "[::1]:", "[]", ":80"])
  func `refuses an invalid hop`(text: String) { #expect(IPAddress(hop: text) == nil) }

  @Test(
    "a range contains the addresses with its first bits",
    arguments: [
      ("10.0.0.0/8", "10.255.3.4", true), ("10.0.0.0/8", "11.0.0.0", false),
      ("10.1.2.3/8", "10.9.9.9", true), ("192.0.2.128/25", "192.0.2.127", false),
      ("192.0.2.128/25", "192.0.2.200", true), ("192.0.2.1", "192.0.2.1", true),
      ("192.0.2.1", "192.0.2.2", false), ("0.0.0.0/0", "203.0.113.9", true),
      ("0.0.0.0/0", "2001:db8::1", false), ("10.0.0.0/8", "::ffff:10.1.1.1", true),
      ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
      ("2001:db8::/65", "2001:db8::8000:0:0:1", false), ("::1", "::1", true),
      ("::/0", "192.0.2.1", true),
    ])
  func ranges(range: String, address: String, isInside: Bool) throws {
    let range = try #require(AddressRange(range))
    #expect(range.contains(try #require(IPAddress(address))) == isInside)
  }

  @Test(arguments: ["", "/8", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/8/8"])
  func `refuses an invalid range`(text: String) { #expect(AddressRange(text) == nil) }

  @Test("IPv6 addresses of one subscriber count as one")
  func subscribers() {
    #expect(
      IPAddress("2001:db8:1:2:3:4:5:6")?.subscriber == IPAddress("2001:db8:1:2::")?.subscriber)
    #expect(IPAddress("2001:db8:1:3::")?.subscriber != IPAddress("2001:db8:1:2::")?.subscriber)
    #expect(IPAddress("192.0.2.1")?.subscriber != IPAddress("192.0.2.2")?.subscriber)
  }

  @Test(arguments: [("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("10.0.0.1", false)])
  func loopback(text: String, isLoopback: Bool) {
    #expect(IPAddress(text)?.isLoopback == isLoopback)
  }
}
