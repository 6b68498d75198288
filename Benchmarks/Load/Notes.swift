import Glibc

/// Creates notes over HTTP, synchronously.
enum Notes {
  static func create(port: Int, text: String = "", token: String? = nil) -> String {
    let answer = ask(
      port: port, "POST /api/notes", type: "application/json", body: "{\"title\":\"Under load\"}",
      token: token)
    guard answer.hasPrefix("HTTP/1.1 201"), let id = answer.components(between: "\"id\":\"", "\"")
    else {
      fail("no note was made: \(answer.prefix(200))")
    }
    if !text.isEmpty {
      let answer = ask(
        port: port, "PUT /api/notes/\(id)/text", type: "text/plain", body: text, token: token)
      guard answer.hasPrefix("HTTP/1.1 20") else {
        fail("the note's text was not taken: \(answer.prefix(200))")
      }
    }
    return id
  }

  /// Sends one request on a new connection, and reads the whole response.
  static func ask(
    port: Int, _ line: String, type: String, body: String, token: String? = nil
  ) -> String {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(file) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { fail("connect: \(lastError())") }
    let request = Array(
      ("\(line) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
        + (token.map { "Authorization: Bearer \($0)\r\n" } ?? "")
        + "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
    guard send(file, request, request.count, 0) == request.count else {
      fail("send: \(lastError())")
    }
    var answer: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while case let count = recv(file, &piece, piece.count, 0), count > 0 {
      answer += piece[..<count]
    }
    return String(decoding: answer, as: UTF8.self)
  }
}

extension String {
  fileprivate func components(between start: String, _ end: Character) -> String? {
    var rest = self[...]
    while !rest.isEmpty {
      if rest.hasPrefix(start) { return String(rest.dropFirst(start.count).prefix { $0 != end }) }
      rest = rest.dropFirst()
    }
    return nil
  }
}
