import GatewayPorts

/// A first look at the head of a request, before libwebsockets sees it.
enum RequestPreview {
  enum Verdict {
    /// The end of the head has not come yet.
    case incomplete
    /// libwebsockets will take it.
    case admit
    /// libwebsockets would drop it, or misread it: answer this.
    case refuse(Response)
  }

  /// The answer to a target that the library has cut.
  static let brokenTarget = ResponseEncoder.plain(
    400, "the target has a zero byte or a line break in it")

  private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

  static func inspect(
    _ bytes: UnsafeRawBufferPointer, subprotocols: [String], headBytesMax: Int
  ) -> Verdict {
    if bytes.first == 0x16 {
      return no(400, "this port speaks plain HTTP, not TLS; use http:// or ws://")
    }
    guard let end = headEnd(bytes) else {
      if bytes.count > headBytesMax {
        return no(431, "the request's head is longer than \(headBytesMax) bytes; shorten it")
      }
      return .incomplete
    }
    if end > headBytesMax {
      return no(431, "the request's head is longer than \(headBytesMax) bytes; shorten it")
    }
    var lines = Lines(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
    guard let requestLine = lines.next() else { return no(400, "the request is empty") }
    let parts = requestLine.split(separator: 0x20, omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      return no(400, "a request line is a method, a target and a version")
    }
    let method = String(decoding: parts[0], as: UTF8.self)
    let version = String(decoding: parts[2], as: UTF8.self)
    guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
      return no(505, "this server speaks HTTP/1.1")
    }
    guard methods.contains(method) else {
      return no(501, "the method is not supported; use one of \(methods.joined(separator: ", "))")
    }
    if let complaint = targetComplaint(parts[1]) { return no(400, complaint) }
    return inspectFields(
      &lines, method: method, isCurrent: version == "HTTP/1.1", subprotocols: subprotocols)
  }

  private static func inspectFields(
    _ lines: inout Lines, method: String, isCurrent: Bool, subprotocols: [String]
  ) -> Verdict {
    var hosts = 0
    var lengths = 0
    var isChunked = false
    var upgrade: String?
    var isConnectionUpgrade = false
    var key: String?
    var version: String?
    var offers: [String] = []
    while let line = lines.next() {
      if line.isEmpty { break }
      guard let colon = line.firstIndex(of: 0x3a), colon > line.startIndex,
        line[..<colon].allSatisfy(isNameByte), line[colon...].allSatisfy(isValueByte)
      else {
        return no(400, "a header is malformed")
      }
      let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      func value() -> String { trimmed(line[(colon + 1)...]) }
      switch name {
      case "host": hosts += 1
      case "content-length":
        lengths += 1
        let text = value()
        if text.isEmpty || text.utf8.count > 15 || !text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
          return no(400, "content-length is not a number")
        }
      case "transfer-encoding": isChunked = true
      case "upgrade": upgrade = value().lowercased()
      case "connection":
        if tokens(value().lowercased()).contains("upgrade") { isConnectionUpgrade = true }
      case "sec-websocket-key": key = key == nil ? value() : ""
      case "sec-websocket-version": version = value()
      case "sec-websocket-protocol": offers += tokens(value())
      default: break
      }
    }
    if isCurrent ? hosts != 1 : hosts > 1 {
      return no(400, "a request has exactly one host header")
    }
    if lengths > 1 || (lengths > 0 && isChunked) {
      return no(400, "the length of the body is given twice")
    }
    if isChunked {
      return no(411, "chunked requests are not supported; send a content-length")
    }
    guard let upgrade else { return .admit }
    guard upgrade == "websocket" else {
      return no(400, "the only upgrade offered is websocket")
    }
    guard method == "GET", isCurrent else {
      return no(400, "a WebSocket handshake is a GET request of HTTP/1.1")
    }
    guard isConnectionUpgrade else {
      return no(400, "a WebSocket handshake needs the header 'connection: upgrade'")
    }
    if let complaint = handshakeComplaint(key: key, version: version) { return .refuse(complaint) }
    if !offers.isEmpty, !offers.contains(where: subprotocols.contains) {
      return no(
        400,
        "none of the subprotocols offered is known; offer "
          + "\(subprotocols.joined(separator: ", ")) or none")
    }
    return .admit
  }

  /// What is wrong with a handshake's key or version, if anything.
  static func handshakeComplaint(key: String?, version: String?) -> Response? {
    guard version == "13" else {
      return ResponseEncoder.plain(
        426, "the WebSocket version must be 13", [("sec-websocket-version", "13")])
    }
    guard let key, isKey(key) else {
      return ResponseEncoder.plain(
        400, "sec-websocket-key must be 16 bytes in base64, which are 24 characters")
    }
    return nil
  }

  private static func isKey(_ key: String) -> Bool {
    let bytes = Array(key.utf8)
    guard bytes.count == 24, bytes[22] == 0x3d, bytes[23] == 0x3d else { return false }
    return bytes[..<22].allSatisfy {
      switch $0 {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2b, 0x2f: true
      default: false
      }
    }
  }

  private static func targetComplaint(_ target: Slice<UnsafeRawBufferPointer>) -> String? {
    guard target.first == 0x2f else { return "the target must be a path" }
    var index = target.startIndex
    while index < target.endIndex {
      let byte = target[index]
      if byte <= 0x20 || byte >= 0x7f { return "the target has a character that needs encoding" }
      if byte == 0x25 {
        guard index + 2 < target.endIndex, isHex(target[index + 1]), isHex(target[index + 2]) else {
          return "a percent sign in the target is not followed by two hexadecimal digits"
        }
        // libwebsockets would take a line break for the end of the line.
        if target[index + 1] == 0x30, Self.endsOfLines.contains(target[index + 2]) {
          return "the target has a zero byte or a line break in it"
        }
      }
      index += 1
    }
    return nil
  }

  /// The second digits of `%00`, `%0A` and `%0D`.
  private static let endsOfLines = Set("0AaDd".utf8)

  private static func isHex(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
    default: false
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
    case 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2d, 0x2e, 0x5e, 0x5f, 0x60, 0x7c, 0x7e: true
    default: false
    }
  }

  private static func isValueByte(_ byte: UInt8) -> Bool {
    byte == 0x09 || byte >= 0x20 && byte != 0x7f
  }

  private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
    var slice = bytes
    while let first = slice.first, first == 0x20 || first == 0x09 { slice = slice.dropFirst() }
    while let last = slice.last, last == 0x20 || last == 0x09 { slice = slice.dropLast() }
    return String(decoding: slice, as: UTF8.self)
  }

  private static func tokens(_ list: String) -> [String] {
    list.utf8.split(separator: 0x2c).map { part in
      var slice = part
      while let first = slice.first, first == 0x20 || first == 0x09 { slice = slice.dropFirst() }
      while let last = slice.last, last == 0x20 || last == 0x09 { slice = slice.dropLast() }
      return String(decoding: slice, as: UTF8.self)
    }
  }

  private static func no(_ status: Int, _ message: String) -> Verdict {
    .refuse(ResponseEncoder.plain(status, message))
  }

  /// Where the empty line ends, if it has come.
  private static func headEnd(_ bytes: UnsafeRawBufferPointer) -> Int? {
    var index = 3
    while index < bytes.count {
      // Only a line feed can end a head, and the three before it are looked at only then.
      if bytes[index] == 0x0a, bytes[index - 1] == 0x0d, bytes[index - 2] == 0x0a,
        bytes[index - 3] == 0x0d
      {
        return index + 1
      }
      index += 1
    }
    return nil
  }

  private struct Lines {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    mutating func next() -> Slice<UnsafeRawBufferPointer>? {
      guard let end = rest.firstIndex(of: 0x0a) else { return nil }
      var line = rest[..<end]
      if line.last == 0x0d { line = line.dropLast() }
      rest = rest[(end + 1)...]
      return line
    }
  }
}
