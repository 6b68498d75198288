import ParleyOTWorkloads
import Testing

import ParleyWebSocketClient

@Suite("An HTTP answer")
struct HTTPAnswerTests {
  private func read(_ text: String, pieces: Int = .max) throws -> HTTPAnswer {
    var answer = HTTPAnswer(bodyBytesMax: 1_000)
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      try answer.take(rest.prefix(pieces))
      rest = rest.dropFirst(pieces)
    }
    return answer
  }

  @Test(
    "is read alike in pieces of any size",
    arguments: [
      ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello"),
      (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nT: x\r\n\r\n",
        "hello"
      ),
      ("HTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.0 201\r\ncontent-length: 2\r\n\r\nhi", "hi"),
      ("HTTP/1.1 204 No\r\nX:  y \r\n\r\n", ""),
      ("HTTP/1.1 200 OK\nContent-Length: 2\n\nhi and more", "hi"),
    ])
  func pieces(text: String, body: String) throws {
    for size in 1...text.utf8.count {
      let answer = try read(text, pieces: size)
      #expect(answer.isDone)
      #expect(String(decoding: answer.body, as: UTF8.self) == body)
    }
  }

  @Test("without a length ends with the connection")
  func untilEnd() throws {
    var answer = try read("HTTP/1.1 200 OK\r\nETag: \"x\" \r\n\r\nhello")
    #expect(!answer.isDone)
    try answer.end()
    #expect(answer.isDone)
    #expect(answer["etag"] == "\"x\"")
    var cut = try read("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")
    #expect(throws: HTTPAnswer.Malformed.self) { try cut.end() }
  }

  @Test(
    "that is malformed or too long is an error",
    arguments: [
      "SSH-2.0-x\r\n\r\n", "\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nx\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"
        + String(repeating: "x", count: 1_001),
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
      "HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 70_000),
    ])
  func malformed(text: String) {
    #expect(throws: HTTPAnswer.Malformed.self) { try read(text) }
  }

  @Test("of random bytes is a value or an error")
  func random() {
    var random = SplitMix64(seed: 3)
    let pieces = [
      "HTTP/1.1 200 OK\r\n", "Content-Length: 3\r\n", "\r\n", "Transfer-Encoding: chunked\r\n",
      "3\r\n", "abc", "0\r\n", "\r", ":",
    ]
    for _ in 0..<5_000 {
      let text = (0..<random.below(12)).map { _ in pieces[random.below(pieces.count)] }.joined()
      _ = try? read(text, pieces: 1 + random.below(5))
    }
  }
}
