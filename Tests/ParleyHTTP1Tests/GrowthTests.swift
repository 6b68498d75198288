import ParleyGrowthKit
import ParleyHTTP1
import Testing

/// Input costs at most in proportion to its bytes, however they are cut.
@Suite("Growth of reading requests", .serialized)
struct GrowthTests {
  static let laws: [GrowthLaw] = [
    law("a head byte by byte", size: 2_000, piece: 1) {
      "GET / HTTP/1.1\r\nHost: x\r\nA: \(times($0, "a"))\r\n\r\n"
    },
    law("a head of many fields, in small reads", size: 1_000, piece: 10) {
      "GET / HTTP/1.1\r\nHost: x\r\n\(times($0, "a: b\r\n"))\r\n"
    },
    law("a path with many ways up", size: 1_000, piece: .max) {
      "GET \(times($0, "/a"))\(times($0, "/..")) HTTP/1.1\r\nHost: x\r\n\r\n"
    },
    law("requests in one read", size: 300, piece: .max) {
      times($0, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
    },
    law("requests with bodies in one read", size: 300, piece: .max) {
      times($0, "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok")
    },
    law("a body in small reads", size: 16_000, piece: 50) {
      "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: \($0)\r\n\r\n\(times($0, "a"))"
    },
    law("a body in chunks of a byte", size: 4_000, piece: 50) {
      "PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        + times($0, "1\r\na\r\n") + "0\r\n\r\n"
    },
    law("bytes behind the last answer", size: 32_000, piece: 50) {
      "NONSENSE\r\n\(times($0, "a"))"
    },
    answering,
  ]

  private static func times(_ count: Int, _ text: String) -> String {
    String(repeating: text, count: count)
  }

  private static let answering = GrowthLaw("an answer taken little by little", size: 64_000) {
    (size: Int) -> [UInt8] in
    [UInt8](repeating: 1, count: size)
  } run: { body in
    var peer = Peer()
    peer.answer = { _, _ in HTTPResponse(status: 200, body: body) }
    peer.takes = 0
    peer.feed("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    let scratch = Scratch()
    while peer.connection.unsentByteCount > 0 {
      peer.connection.writeNext(joiningIn: scratch.bytes, now: 0) { min(50, $0.count) }
    }
  }

  private static func law(
    _ name: String, size: Int, piece: Int, stream: @escaping @Sendable (Int) -> String
  ) -> GrowthLaw {
    GrowthLaw(name, size: size) {
      Array(stream($0).utf8)
    } run: { bytes in
      var limits = HTTPLimits()
      limits.requestLineBytesMax = 1 << 20
      limits.headBytesMax = 1 << 20
      limits.fieldsMax = 1 << 20
      var peer = Peer(limits)
      // The answer does not matter here.
      peer.answer = { _, _ in HTTPResponse(status: 204) }
      var start = 0
      while start < bytes.count {
        let end = start + min(piece, bytes.count - start)
        peer.feed(bytes[start..<end])
        start = end
      }
    }
  }

  @Test("received bytes cost at most in proportion to their number", arguments: laws)
  func growth(law: GrowthLaw) {
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }
}
