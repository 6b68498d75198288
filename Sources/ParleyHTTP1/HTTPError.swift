/// A rule of HTTP/1.1 or a limit that a request has broken, with the response to it.
public enum HTTPError: Error, Sendable, Hashable {
  /// A TLS handshake on a port without TLS, recognised by its first byte.
  case encrypted
  /// A first line that is not a method, a target and a version.
  case requestLine
  /// A major version other than 1.
  case version
  /// A method that is unknown or not supported.
  case method
  /// A target that is neither a path nor a URL of HTTP, nor `*` of an OPTIONS request.
  case targetForm
  /// A target with a byte that has to be percent-encoded, or a malformed percent sign.
  case targetEncoding
  /// A target with an encoded zero byte or line break.
  case targetControl
  /// A target whose path has a segment `.` or `..`, also percent-encoded.
  case targetDots
  /// A request line beyond the limit, in bytes.
  case targetTooLong(Int)
  /// A line that ends in LF or CR alone.
  case lineBreak
  /// A control character.
  case control
  /// A line that is not a name, a colon and a value; also space before the colon.
  case field
  /// A line that begins with space: a value folded over two lines.
  case foldedField
  /// A head beyond the limit, in bytes.
  case headTooLong(Int)
  /// More header fields than the limit.
  case tooManyFields(Int)
  /// A request of HTTP/1.1 without a host, or any request with two.
  case hostCount
  /// A host that is not a name or address with an optional port.
  case host
  /// A content-length that is not a number.
  case length
  /// Two content-lengths, even if they are equal.
  case lengthRepeated
  /// A content-length beside a transfer-encoding.
  case lengthAndCoding
  /// A transfer-encoding other than `chunked`.
  case coding
  /// A transfer-encoding that does not end in one `chunked`, or one of HTTP/1.0.
  case codingOrder
  /// A malformed chunk.
  case chunk
  /// Extensions of a body's chunks beyond the limit, in bytes.
  case chunkExtension(Int)
  /// A malformed trailer.
  case trailer
  /// A body beyond the limit, in bytes.
  case bodyTooLong(Int)
  /// An expectation other than `100-continue`.
  case expectation
  /// A WebSocket handshake that is not a GET request of HTTP/1.1.
  case upgradeMethod
  /// A WebSocket handshake with a body.
  case upgradeBody
  /// A WebSocket handshake of another version.
  case upgradeVersion
  /// A WebSocket handshake without one valid key.
  case upgradeKey
  /// A malformed list of subprotocols.
  case upgradeProtocols
  /// A head that did not arrive in time.
  case headTimeout
  /// A body that arrived too slowly.
  case bodyTimeout

  /// The status of the response.
  public var status: Int {
    switch self {
    case .encrypted, .requestLine, .targetForm, .targetEncoding, .targetControl, .targetDots,
      .lineBreak, .control, .field, .foldedField, .hostCount, .host, .length, .lengthRepeated,
      .lengthAndCoding, .codingOrder, .chunk, .chunkExtension, .trailer, .upgradeMethod,
      .upgradeBody, .upgradeKey, .upgradeProtocols:
      400
    case .headTimeout, .bodyTimeout: 408
    case .bodyTooLong: 413
    case .targetTooLong: 414
    case .expectation: 417
    case .upgradeVersion: 426
    case .headTooLong, .tooManyFields: 431
    case .method, .coding: 501
    case .version: 505
    }
  }

  /// The response that the connection itself sends before it closes.
  public var message: String {
    switch self {
    case .encrypted: "this port speaks plain HTTP, not TLS; use http:// or ws://"
    case .requestLine: "a request line is a method, a target and a version"
    case .version: "this server speaks HTTP/1.1"
    case .method: "the method is not supported; use one of \(HTTPMethod.list)"
    case .targetForm: "the target must be a path, or a URL of this server"
    case .targetEncoding: "the target has a character that needs percent-encoding"
    case .targetControl: "the target has a zero byte or a line break in it"
    case .targetDots: "the path has a segment that is . or ..; send it without"
    case .targetTooLong(let limit): "the request line is longer than \(limit) bytes; shorten it"
    case .lineBreak: "lines of a request's head end in CR LF"
    case .control: "the request's head has a control character in it"
    case .field: "a header is malformed"
    case .foldedField: "a header's value must be on one line"
    case .headTooLong(let limit): "the request's head is longer than \(limit) bytes; shorten it"
    case .tooManyFields(let limit): "the request has more than \(limit) headers; send fewer"
    case .hostCount: "a request has exactly one host header"
    case .host: "the host is not a name or an address"
    case .length: "content-length is not a number"
    case .lengthRepeated: "the length of the body is given twice"
    case .lengthAndCoding: "the length of the body is given twice, as a number and as chunks"
    case .coding: "the only transfer-encoding supported is chunked"
    case .codingOrder: "the transfer-encoding does not determine the end of the body"
    case .chunk: "a chunk of the body is malformed"
    case .chunkExtension(let limit): "the extensions of the chunks are longer than \(limit) bytes"
    case .trailer: "a trailer of the body is malformed"
    case .bodyTooLong(let limit): "the body is longer than \(limit) bytes; send less"
    case .expectation: "the only expectation supported is 100-continue"
    case .upgradeMethod: "a WebSocket handshake is a GET request of HTTP/1.1"
    case .upgradeBody: "a WebSocket handshake has no body"
    case .upgradeVersion: "the WebSocket version must be 13"
    case .upgradeKey: "sec-websocket-key must be 16 bytes in base64, which are 24 characters"
    case .upgradeProtocols: "sec-websocket-protocol must be a list of names"
    case .headTimeout: "the request was not complete within the time limit; send it without pauses"
    case .bodyTimeout: "the body arrived too slowly; send it faster"
    }
  }

  /// The response that a connection gives by itself before it closes.
  var response: HTTPResponse {
    var fields: [(name: String, value: String)] = []
    switch self {
    case .upgradeVersion: fields = [("sec-websocket-version", "13"), ("upgrade", "websocket")]
    case .method: fields = [("allow", HTTPMethod.list)]
    default: break
    }
    fields.append(("content-type", "text/plain; charset=utf-8"))
    fields.append(("x-content-type-options", "nosniff"))
    return HTTPResponse(
      status: status, fields: fields, body: Array(message.utf8) + [0x0a], closes: true)
  }
}
