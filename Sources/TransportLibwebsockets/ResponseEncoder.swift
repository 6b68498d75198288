import GatewayPorts
import Glibc

/// Writes heads of HTTP/1.1 responses.
enum ResponseEncoder {
  /// Status line and headers, with `content-length`, `date` and `connection`, and without leave for
  /// browsers to guess at a type.
  ///
  /// A header with a line break or another control character in it is left out: it could only
  /// be an attempt to smuggle in another.
  static func head(of response: Response, keepsAlive: Bool) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(256)
    func append(_ string: String) { text.append(contentsOf: string.utf8) }
    append("HTTP/1.1 \(response.status) \(reason(for: response.status))\r\n")
    for (name, value) in response.headers where isSafe(name) && isSafe(value) {
      append("\(name): \(value)\r\n")
    }
    if !response.headers.contains(where: { $0.name == noSniffing }) {
      append("\(noSniffing): nosniff\r\n")
    }
    if !hasNoBody(response.status) {
      append("content-length: \(response.body.count)\r\n")
    }
    append("date: \(date())\r\nconnection: \(keepsAlive ? "keep-alive" : "close")\r\n\r\n")
    return text
  }

  private static let noSniffing = "x-content-type-options"

  /// A whole response that ends its connection.
  static func last(_ response: Response) -> [UInt8] {
    var bytes = head(of: response, keepsAlive: false)
    if !hasNoBody(response.status) { bytes.append(contentsOf: response.body) }
    return bytes
  }

  /// Whether responses of this status never have a body.
  static func hasNoBody(_ status: Int) -> Bool {
    status < 200 || status == 204 || status == 304
  }

  private static func isSafe(_ field: String) -> Bool {
    !field.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }
  }

  private static func date() -> String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) "
      + "\(parts.tm_year + 1900) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
  }

  private static func reason(for status: Int) -> String {
    switch status {
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
    case 422: "Unprocessable Content"
    case 426: "Upgrade Required"
    case 428: "Precondition Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 505: "HTTP Version Not Supported"
    default: status < 400 ? "OK" : "Error"
    }
  }

  /// A response in plain words.
  static func plain(
    _ status: Int, _ message: String, _ headers: [(name: String, value: String)] = []
  ) -> Response {
    Response(
      status: status, headers: headers + [("content-type", "text/plain; charset=utf-8")],
      body: Array(message.utf8) + [0x0a])
  }
}
