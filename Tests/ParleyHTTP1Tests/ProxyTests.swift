import ParleyHTTP1
import ParleyOTWorkloads
import Testing

@Suite("PROXY protocol")
struct ProxyTests {
  private func read(_ bytes: [UInt8], max: Int = 536) -> ProxyHeader.Progress {
    bytes.withUnsafeBytes { ProxyHeader.read($0, bytesMax: max) }
  }

  private func read(_ text: String) -> ProxyHeader.Progress { read(Array(text.utf8)) }

  private static let signature: [UInt8] = [
    0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a,
  ]

  private static func binary(
    _ command: UInt8, _ family: UInt8, _ rest: [UInt8], declared: Int? = nil
  ) -> [UInt8] {
    let count = declared ?? rest.count
    return signature + [command, family, UInt8(count >> 8), UInt8(count & 255)] + rest
  }

  @Test func `version 1 with IPv4`() {
    let text = "PROXY TCP4 192.0.2.1 198.51.100.22 56324 443\r\n"
    let expected = ProxyHeader.Progress.whole(
      client: [192, 0, 2, 1], byteCount: text.utf8.count)
    #expect(read(text) == expected)
    #expect(read(text + "GET / HTTP/1.1\r\n") == expected)
  }

  @Test(
    arguments: [
      ("::1", [0, 0, 0, 0, 0, 0, 0, 1]), ("::", [0, 0, 0, 0, 0, 0, 0, 0]),
      ("2001:db8::1", [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]),
      ("1:2:3:4:5:6:7:8", [1, 2, 3, 4, 5, 6, 7, 8]), ("1::", [1, 0, 0, 0, 0, 0, 0, 0]),
      ("1:2:3:4:5:6:7::", [1, 2, 3, 4, 5, 6, 7, 0]), ("::2:3:4:5:6:7:8", [0, 2, 3, 4, 5, 6, 7, 8]),
      ("::ffff:192.0.2.1", [0, 0, 0, 0, 0, 0xffff, 0xc000, 0x201]),
      ("FFFF:0:0:0:0:0:0:ABCD", [0xffff, 0, 0, 0, 0, 0, 0, 0xabcd]),
    ] as [(String, [UInt16])])
  func `version 1 with IPv6`(text: String, groups: [UInt16]) {
    let line = "PROXY TCP6 \(text) ::1 1 2\r\n"
    let bytes = groups.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
    #expect(read(line) == .whole(client: bytes, byteCount: line.utf8.count))
  }

  @Test(arguments: ["PROXY UNKNOWN\r\n", "PROXY UNKNOWN ::1 whatever 1 2\r\n"])
  func `a proxy may send an unknown address`(text: String) {
    #expect(read(text) == .whole(client: nil, byteCount: text.utf8.count))
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\n", "proxy TCP4", "PROXY  TCP4 1.2.3.4 1.2.3.4 1 2\r\n",
    "PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n",
    "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n",
    "PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 -1 2\r\n",
    "PROXY TCP4 1.2.3 1.2.3.4 1 2\r\n", "PROXY TCP4 1.2.3.256 1.2.3.4 1 2\r\n",
    "PROXY TCP4 ::1 ::1 1 2\r\n", "PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n",
    "PROXY TCP6 1:2:3:4:5:6:7 ::1 1 2\r\n", "PROXY TCP6 1:2:3:4:5:6:7:8:9 ::1 1 2\r\n",
    "PROXY TCP6 1::2::3 ::1 1 2\r\n", "PROXY TCP6 :1:: ::1 1 2\r\n",
    "PROXY TCP6 12345:: ::1 1 2\r\n",
    "PROXY TCP6 ::: ::1 1 2\r\n", "PROXY TCP6 1: ::1 1 2\r\n", "PROXY TCP6 ::g ::1 1 2\r\n",
    "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n", "PROXY UDP4 1.2.3.4 1.2.3.4 1 2\r\n", "PROXY \r\n",
    "PROXY UNKNOWN" + String(repeating: " ", count: 100),
  ])
  func `version 1 that is malformed`(text: String) {
    #expect(read(text) == .malformed)
  }

  @Test func `version 2 with addresses, and more behind them`() {
    let four: [UInt8] = [192, 0, 2, 1, 198, 51, 100, 22, 0xdc, 0x04, 0x01, 0xbb]
    for rest in [four, four + [3, 0, 4, 1, 2, 3, 4], four + [UInt8](repeating: 0xff, count: 500)] {
      let bytes = Self.binary(0x21, 0x11, rest)
      #expect(
        read(bytes + [0x47])
          == .whole(client: [192, 0, 2, 1], byteCount: bytes.count))
    }
    let six = [UInt8](0..<32) + [0, 80, 1, 187]
    #expect(
      read(Self.binary(0x21, 0x21, six))
        == .whole(client: Array(0..<16), byteCount: 52))
  }

  @Test func `version 2 without a client`() {
    // The proxy's own connection, an unknown family, a path of the file system.
    #expect(read(Self.binary(0x20, 0x00, [])) == .whole(client: nil, byteCount: 16))
    #expect(read(Self.binary(0x20, 0x11, [1, 2, 3])) == .whole(client: nil, byteCount: 19))
    #expect(read(Self.binary(0x21, 0x00, [1, 2])) == .whole(client: nil, byteCount: 18))
    #expect(
      read(Self.binary(0x21, 0x31, [UInt8](repeating: 0, count: 216)))
        == .whole(client: nil, byteCount: 232))
  }

  @Test func `version 2 that is malformed`() {
    #expect(read(Self.binary(0x11, 0x11, [])) == .malformed)
    #expect(read(Self.binary(0x22, 0x11, [])) == .malformed)
    #expect(read(Self.binary(0x21, 0x41, [])) == .malformed)
    #expect(read(Self.binary(0x21, 0x13, [])) == .malformed)
    #expect(read(Self.binary(0x21, 0x11, [1, 2, 3])) == .malformed)
    #expect(read(Self.binary(0x21, 0x21, [UInt8](repeating: 0, count: 35))) == .malformed)
    // Its length is refused before it has come.
    #expect(read(Self.binary(0x21, 0x11, [], declared: 521)) == .malformed)
    #expect(read(Self.binary(0x21, 0x11, [], declared: 65_535)) == .malformed)
  }

  @Test(arguments: Seeds.smoke)
  func `every prefix of a header is incomplete, and random bytes do not trap`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let headers = [
      Array("PROXY TCP4 192.0.2.1 198.51.100.22 56324 443\r\n".utf8),
      Array("PROXY UNKNOWN\r\n".utf8), Self.binary(0x21, 0x11, [UInt8](repeating: 7, count: 30)),
      Self.binary(0x20, 0x00, []),
    ]
    for header in headers {
      for count in 0..<header.count { #expect(read(Array(header[..<count])) == .incomplete) }
      guard case .whole(_, header.count) = read(header) else {
        Issue.record("\(header)")
        continue
      }
      for _ in 0..<50 {
        var spoilt = header
        for _ in 0..<generator.between(1, 4) {
          spoilt[generator.below(spoilt.count)] = UInt8(truncatingIfNeeded: generator.next())
        }
        let whole = read(spoilt)
        // A malformed or complete header stays so with more bytes after it.
        if whole != .incomplete { #expect(read(spoilt + [0x41, 0x0d, 0x0a]) == whole) }
        for count in 0..<spoilt.count {
          let part = read(Array(spoilt[..<count]))
          #expect(part == .incomplete || part == whole)
        }
      }
    }
  }
}
