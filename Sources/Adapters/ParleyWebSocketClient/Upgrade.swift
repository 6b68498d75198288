import ParleyHTTP1

/// The opening handshake of a client (RFC 6455, section 4.1): the request's bytes, and an
/// incremental reader of the response.
package struct Upgrade {
  private let accept: String
  private let subprotocol: String?
  private var head: [UInt8] = []

  /// Maximum bytes of the response, headers included.
  package static let headBytesMax = 16_384

  /// - Parameter key: 16 unpredictable bytes.
  package init(key: [UInt8], subprotocol: String?) {
    let key = WebSocketHandshake.base64(key)
    self.key = key
    accept = WebSocketHandshake.accept(for: key)
    self.subprotocol = subprotocol
  }

  private let key: String

  package func request(to url: WebSocketURL) -> [UInt8] {
    var lines = [
      "GET \(url.path) HTTP/1.1", "Host: \(url.hostHeader)", "Upgrade: websocket",
      "Connection: Upgrade", "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13",
    ]
    if let subprotocol { lines.append("Sec-WebSocket-Protocol: \(subprotocol)") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// Processes received bytes.
  ///
  /// - Returns: The number of consumed bytes, once the response is complete; `nil` before.
  /// - Complexity: O(*n*) bytes, over all calls together.
  package mutating func take(_ bytes: some Collection<UInt8>) throws(WebSocketFailure) -> Int? {
    var count = 0
    for byte in bytes {
      head.append(byte)
      count += 1
      if byte == 0x0a, head.suffix(4).elementsEqual([0x0d, 0x0a, 0x0d, 0x0a]) {
        try check()
        return count
      }
      guard head.count < Self.headBytesMax else { throw .notWebSocket("its answer is too long") }
    }
    return nil
  }

  private func check() throws(WebSocketFailure) {
    guard head.allSatisfy({ $0 < 0x80 }) else {
      throw .notWebSocket("its answer is not in ASCII")
    }
    // In Swift, CR LF is one character.
    var lines = String(decoding: head, as: UTF8.self)
      .split(separator: "\r\n", omittingEmptySubsequences: true)[...]
    guard let first = lines.popFirst() else { throw .notWebSocket("its answer is empty") }
    let words = first.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count >= 2, words[0] == "HTTP/1.1", words[1].utf8.count == 3,
      let status = Int(words[1])
    else { throw .notWebSocket("its answer is not HTTP/1.1") }
    guard status == 101 else { throw .status(status) }
    var fields: [String: String] = [:]
    for line in lines {
      guard let colon = line.firstIndex(of: ":") else {
        throw .notWebSocket("a header has no colon")
      }
      let name = line[..<colon].lowercased()
      var value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      while value.last == " " || value.last == "\t" { value.removeLast() }
      guard fields[name] == nil || !Self.single.contains(name) else {
        throw .notWebSocket("\(name) was sent twice")
      }
      fields[name] = String(value)
    }
    guard fields["upgrade"]?.lowercased() == "websocket",
      fields["connection"]?.lowercased().contains("upgrade") == true
    else { throw .notWebSocket("it does not upgrade") }
    guard fields["sec-websocket-accept"] == accept else {
      throw .notWebSocket("its sec-websocket-accept does not fit the key")
    }
    guard fields["sec-websocket-extensions"] == nil else {
      throw .notWebSocket("it uses an extension that was not offered")
    }
    guard fields["sec-websocket-protocol"] == subprotocol else {
      throw .notWebSocket("it does not speak \(subprotocol ?? "without a subprotocol")")
    }
  }

  private static let single: Set<String> = [
    "upgrade", "connection", "sec-websocket-accept", "sec-websocket-protocol",
  ]
}
