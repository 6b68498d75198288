/// A response to a request.
public struct HTTPResponse: Sendable {
  /// The status code, from 200 on.
  public var status: Int
  /// Header fields, in the order in which they are sent.
  ///
  /// The connection adds `content-length`, `connection` and `date`, and ignores those given here,
  /// and a `transfer-encoding`. It omits fields with a malformed name, or with a line break or
  /// another control character in the value, because they could inject another field.
  public var fields: [(name: String, value: String)]
  /// The whole body. Its bytes are shared, and copied at most once, into a joined write.
  public var body: [UInt8]
  /// Whether the connection ends with this response.
  public var closes: Bool

  /// Creates a response.
  public init(
    status: Int, fields: [(name: String, value: String)] = [], body: [UInt8] = [],
    closes: Bool = false
  ) {
    self.status = status
    self.fields = fields
    self.body = body
    self.closes = closes
  }

  /// Whether responses of this status never have a body.
  var hasNoBody: Bool { status < 200 || status == 204 || status == 304 }
}

/// The encoder of response heads.
enum ResponseHead {
  enum Connection {
    case keepAlive
    case close
    case upgrade
  }

  /// Encodes a head.
  ///
  /// - Parameter length: The body's length; `nil` for a status without a body, or an upgrade.
  static func encode(
    status: Int, fields: [(name: String, value: String)], length: Int?, connection: Connection,
    date: HTTPDate?
  ) -> [UInt8] {
    var head: [UInt8] = []
    head.reserveCapacity(
      fields.reduce(160) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 })
    append("HTTP/1.1 ", to: &head)
    append(status, to: &head)
    append(" ", to: &head)
    append(reason(for: status), to: &head)
    append("\r\n", to: &head)
    var namesUpgrade = false
    for (name, value) in fields where isName(name) && isValue(value) && !isOwn(name) {
      head.append(contentsOf: name.utf8)
      append(": ", to: &head)
      head.append(contentsOf: value.utf8)
      append("\r\n", to: &head)
      if name.utf8.count == 7, name == "upgrade" { namesUpgrade = true }
    }
    if let length {
      append("content-length: ", to: &head)
      append(length, to: &head)
      append("\r\n", to: &head)
    }
    if let date {
      append("date: ", to: &head)
      head.append(contentsOf: date.text)
      append("\r\n", to: &head)
    }
    switch connection {
    case .upgrade: append("connection: Upgrade\r\n\r\n", to: &head)
    // A response with an `upgrade` field names it in `connection`, too.
    case .close where namesUpgrade: append("connection: close, Upgrade\r\n\r\n", to: &head)
    case .keepAlive where namesUpgrade:
      append("connection: keep-alive, Upgrade\r\n\r\n", to: &head)
    case .close: append("connection: close\r\n\r\n", to: &head)
    case .keepAlive: append("connection: keep-alive\r\n\r\n", to: &head)
    }
    return head
  }

  private static func append(_ text: StaticString, to head: inout [UInt8]) {
    text.withUTF8Buffer { head.append(contentsOf: $0) }
  }

  private static func append(_ number: Int, to head: inout [UInt8]) {
    guard number >= 10 else { return head.append(0x30 + UInt8(clamping: number)) }
    append(number / 10, to: &head)
    head.append(0x30 + UInt8(number % 10))
  }

  private static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy(Bytes.token.contains)
  }

  private static func isValue(_ value: String) -> Bool {
    value.utf8.allSatisfy { $0 >= 0x20 ? $0 != 0x7f : $0 == Bytes.tab }
  }

  private static let own = ["date", "connection", "content-length", "transfer-encoding"]
    .map { Array($0.utf8) }

  /// Whether the connection writes the field itself: two values could contradict each other.
  private static func isOwn(_ name: String) -> Bool {
    switch name.utf8.count {
    case 4, 10, 14, 17: break
    default: return false
    }
    // The names consist of letters and hyphens, in which bit 0x20 distinguishes only case.
    return own.contains { $0.elementsEqual(name.utf8.lazy.map { $0 | 0x20 }) }
  }

  private static func reason(for status: Int) -> StaticString {
    switch status {
    case 101: "Switching Protocols"
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 206: "Partial Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 411: "Length Required"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 417: "Expectation Failed"
    case 421: "Misdirected Request"
    case 422: "Unprocessable Content"
    case 425: "Too Early"
    case 426: "Upgrade Required"
    case 428: "Precondition Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    case 507: "Insufficient Storage"
    default: status < 400 ? "OK" : "Error"
    }
  }
}
