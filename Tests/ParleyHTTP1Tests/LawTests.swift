import ParleyHTTP1
import ParleyOTWorkloads
import Testing

/// Laws over seeded streams of requests: right ones, and right ones spoilt.
@Suite("Laws of requests")
struct LawTests {
  @Test(arguments: Seeds.smoke)
  func `encoded requests are parsed to the same requests, however they are split`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    for _ in 0..<15 {
      let stream = RequestStream.valid(&generator)
      for cuts in cuts(stream.bytes.count, &generator) {
        let peer = Peer.of(stream.bytes, cuts: cuts)
        #expect(peer.seen == stream.expected, "seed \(seed), cut at \(cuts)")
        #expect(peer.connection.heldByteCount == 0)
      }
    }
  }

  @Test(arguments: Seeds.smoke)
  func `any split of any bytes gives the same events and responses, within limits`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var limits = HTTPLimits()
    limits.requestLineBytesMax = 200
    limits.headBytesMax = 400
    limits.fieldsMax = 8
    limits.bodyBytesMax = 300
    limits.chunkExtensionBytesMax = 30
    limits.pipelinedMax = 2
    for _ in 0..<60 {
      let bytes = RequestStream.spoilt(&generator)
      let whole = Peer.of(bytes, limits)
      for cuts in cuts(bytes.count, &generator) {
        let peer = Peer.of(bytes, cuts: cuts, limits)
        #expect(peer.seen == whole.seen, "seed \(seed), cut at \(cuts), bytes \(bytes)")
        #expect(peer.output == whole.output, "seed \(seed), cut at \(cuts), bytes \(bytes)")
        // A head or body, and one read.
        #expect(peer.heldByteCountMax <= 400 + 300 + 300 || cuts.isEmpty)
      }
    }
  }

  @Test func `random streams show every event and most errors`() {
    var counts: [String: Int] = [:]
    var limits = HTTPLimits()
    limits.requestLineBytesMax = 200
    limits.headBytesMax = 400
    limits.fieldsMax = 8
    limits.bodyBytesMax = 300
    for seed in Seeds.smoke {
      var generator = SplitMix64(seed: seed)
      for _ in 0..<200 {
        for seen in Peer.of(RequestStream.spoilt(&generator), limits).seen {
          switch seen {
          case .request: counts["request", default: 0] += 1
          case .upgrade: counts["upgrade", default: 0] += 1
          case .rejected(let error): counts["\(error.status) \(error.message)", default: 0] += 1
          case .asksForBody: counts["asks for a body", default: 0] += 1
          case .abandoned: counts["abandoned", default: 0] += 1
          }
        }
      }
    }
    let errors: [HTTPError] = [
      .encrypted, .requestLine, .version, .method, .targetForm, .targetEncoding,
      .targetTooLong(200),
      .lineBreak, .control, .field, .foldedField, .headTooLong(400), .tooManyFields(8), .hostCount,
      .host, .length, .lengthRepeated, .lengthAndCoding, .coding, .codingOrder, .chunk, .trailer,
      .bodyTooLong(300), .expectation, .upgradeMethod, .upgradeVersion, .upgradeKey,
    ]
    for name in ["request", "upgrade"] + errors.map({ "\($0.status) \($0.message)" }) {
      #expect(counts[name, default: 0] > 3, "\(name) in \(counts)")
    }
  }

  @Test(arguments: Seeds.smoke)
  func `responses are in order and the connection ends for random owners`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    for _ in 0..<15 {
      var peer = Peer()
      peer.answer = { _, _ in nil }
      peer.upgrades = false
      peer.takes = 0
      let bytes =
        generator.chance(50)
        ? RequestStream.valid(&generator).bytes : RequestStream.spoilt(&generator)
      var fed = 0
      var waiting: [Int] = []
      var known = 0
      for _ in 0..<300 {
        peer.now += Int64(generator.below(50))
        switch generator.below(5) {
        case 0, 1:
          if peer.connection.wantsInput, fed < bytes.count {
            let end = min(bytes.count, fed + generator.below(60))
            peer.feed(bytes[fed..<end])
            fed = end
          }
        case 2:
          waiting += known..<peer.requests.count
          known = peer.requests.count
          if !waiting.isEmpty {
            let index = waiting.remove(at: generator.below(waiting.count))
            peer.connection.respond(
              to: peer.requests[index].number,
              with: HTTPResponse(status: 200, fields: [("x-index", "\(index)")]), now: peer.now)
          }
        default: peer.write(generator.below(100))
        }
        peer.proceed()
      }
      // Then everything is answered and sent, and time passes.
      for round in 0..<100 {
        for index in peer.requests.indices {
          peer.connection.respond(
            to: peer.requests[index].number,
            with: HTTPResponse(status: 200, fields: [("x-index", "\(index)")]), now: peer.now)
        }
        peer.takes = .max
        peer.proceed()
        if round > 5, let deadline = peer.connection.deadline {
          peer.now = max(peer.now, deadline)
          if let event = peer.connection.expired(now: peer.now) { peer.handle(event) }
        }
        if peer.connection.ending == .close { break }
      }
      #expect(peer.connection.ending == .close, "seed \(seed)")
      let order = peer.text.split(separator: "x-index: ").dropFirst()
        .compactMap { Int($0.prefix { $0.isNumber }) }
      #expect(order == order.sorted(), "seed \(seed)")
    }
  }
}

/// Random streams of requests.
enum RequestStream {
  static let paths = ["/", "/a", "/api/notes/x%20y", "/a/b/c", "/~u;v=1"]
  static let queries = ["", "a=b", "a=%41&b=/?", "x"]
  static let names = ["x-a", "If", "Auth", "accept", "USER-AGENT", "Cookie", "x-real-ip"]
  static let values = ["", "1", "a b\tc", "text/html;q=0.5, */*", "é", "\"quoted\""]

  /// Valid requests, and the expected results of reading them.
  static func valid(_ generator: inout SplitMix64) -> (bytes: [UInt8], expected: [Seen]) {
    var bytes: [UInt8] = []
    var expected: [Seen] = []
    for _ in 0..<generator.between(1, 6) {
      let method = HTTPMethod.allCases[generator.below(HTTPMethod.allCases.count)]
      let path = paths[generator.below(paths.count)]
      let query = queries[generator.below(queries.count)]
      var fields = [["Host", "example.com:8080"]]
      for _ in 0..<generator.below(5) {
        fields.append([
          names[generator.below(names.count)], values[generator.below(values.count)],
        ])
      }
      let body = (0..<(generator.chance(50) ? generator.below(300) : 0)).map { _ in
        UInt8(truncatingIfNeeded: generator.next())
      }
      var encoded: [UInt8] = []
      if generator.chance(40) {
        fields.insert(["Transfer-Encoding", "chunked"], at: generator.below(fields.count + 1))
        var place = 0
        while place < body.count {
          let end = min(body.count, place + generator.between(1, 120))
          let size = String(end - place, radix: 16, uppercase: generator.chance(50))
          let zeros = generator.chance(20) ? "00" : ""
          let more = generator.chance(20) ? ";a=\"b c\"" : ""
          encoded += Array("\(zeros)\(size)\(more)\r\n".utf8) + body[place..<end] + [13, 10]
          place = end
        }
        encoded += Array((generator.chance(20) ? "0\r\nX-T: y\r\n\r\n" : "0\r\n\r\n").utf8)
      } else if !body.isEmpty || generator.chance(30) {
        fields.insert(
          ["content-LENGTH", "\(body.count)"], at: generator.below(fields.count + 1))
        encoded = body
      }
      let target = path + (query.isEmpty ? "" : "?\(query)")
      let absolute = generator.chance(10) ? "http://example.com:8080" : ""
      var text = generator.chance(5) ? "\r\n" : ""
      text += "\(method.rawValue) \(absolute)\(target) HTTP/1.1\r\n"
      for field in fields {
        let space = ["", " ", " \t"][generator.below(3)]
        text += "\(field[0]):\(space)\(field[1])\(space)\r\n"
      }
      bytes += Array((text + "\r\n").utf8) + encoded
      expected.append(
        .request(
          method.rawValue, path, query: query, host: "example.com:8080",
          fields: fields.map { [$0[0].lowercased(), $0[1]] }, body: body))
    }
    return (bytes, expected)
  }

  private static let pieces = [
    "GET / HTTP/1.1\r\n", "POST /a HTTP/1.1\r\n", "HEAD /a?b HTTP/1.0\r\n", "Host: x\r\n",
    "Content-Length: 3\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n",
    "Connection: close\r\n", "Connection: upgrade\r\n", "Upgrade: websocket\r\n",
    "Sec-WebSocket-Version: 13\r\n", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
    "Expect: 100-continue\r\n", "X: y\r\n", "\r\n", "abc", "3\r\nabc\r\n", "0\r\n\r\n", "\n", "\r",
    " ", ":", "3;x\r\n", "\u{0}", "\u{16}", "%41", "Host : x\r\n", " folded\r\n", "HTTP/1.1",
    "Content-Length: 99999999999999999999\r\n", "Transfer-Encoding: gzip\r\n", "5\r\nhel", "lo\r\n",
  ]

  private static let lines = [
    "GET / HTTP/1.1", "POST /a HTTP/1.1", "HEAD /a?b HTTP/1.0", "PUT /a HTTP/1.1",
    "GET / HTTP/2.0", "GET /a HTTP/1.2", "BREW / HTTP/1.1", "GET a HTTP/1.1", "GET /% HTTP/1.1",
    "GET http://x/a HTTP/1.1", "GET /\(String(repeating: "a", count: 190)) HTTP/1.1", "GET /",
  ]

  private static let fields = [
    "X: y", "Content-Length: 3", "Content-Length: 0", "Content-Length: 99999999999999999999",
    "Content-Length: x", "Transfer-Encoding: chunked", "Transfer-Encoding: gzip",
    "Transfer-Encoding:", "Connection: close", "Connection: keep-alive", "Expect: 100-continue",
    "Expect: cake", "Host: x", "X: \(String(repeating: "z", count: 390))", "Host: a b", "Host : x",
    " folded", "X: \u{0}", "Cookie: a=b",
  ]

  private static let handshake = [
    "Connection: upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: a, b",
  ]

  /// A request whose parts need not fit together.
  private static func odd(_ generator: inout SplitMix64) -> [UInt8] {
    var head = [lines[generator.chance(70) ? generator.below(4) : generator.below(lines.count)]]
    if generator.chance(95) { head.append("Host: x") }
    let isHandshake = generator.chance(30)
    if isHandshake {
      head += handshake
      if generator.chance(60) { head.remove(at: generator.between(1, head.count - 1)) }
    }
    for _ in 0..<generator.below(isHandshake ? 2 : 4) {
      head.append(fields[generator.below(fields.count)])
    }
    if generator.chance(5) { head += [String](repeating: "A: b", count: 9) }
    var bytes = Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    for _ in 0..<generator.below(4) {
      bytes += Array(pieces[generator.below(pieces.count)].utf8)
    }
    return bytes
  }

  /// Pieces of requests in an order that need not be one, cut, doubled and changed.
  static func spoilt(_ generator: inout SplitMix64) -> [UInt8] {
    var bytes: [UInt8] = []
    if generator.chance(60) {
      bytes = valid(&generator).bytes
    } else {
      for _ in 0..<generator.between(1, 4) { bytes += odd(&generator) }
    }
    for _ in 0..<generator.below(4) where !bytes.isEmpty {
      let index = generator.below(bytes.count)
      let end = min(bytes.count, index + generator.below(40))
      switch generator.below(6) {
      case 0: bytes[index] = UInt8(truncatingIfNeeded: generator.next())
      case 1: bytes.removeSubrange(index..<end)
      case 2: bytes.insert(contentsOf: bytes[index..<end], at: index)
      case 3: bytes.insert(contentsOf: Array(pieces[generator.below(pieces.count)].utf8), at: index)
      case 4: bytes += bytes[index..<end]
      default: bytes = Array(bytes[index...]) + bytes[..<index]
      }
    }
    return bytes
  }
}
