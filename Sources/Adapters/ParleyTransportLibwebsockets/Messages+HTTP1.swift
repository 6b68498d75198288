import ParleyGatewayPorts
import ParleyHTTP1

extension RequestHead {
  /// Creates the head that the transport's owner receives.
  init(_ head: HTTPRequestHead, of session: Session) {
    self.init(head)
    remoteAddress = session.address
    isSecure = session.stream.isEncrypted
    entrance = session.entrance
  }

  /// Creates the head without the properties of its connection.
  init(_ head: HTTPRequestHead) {
    self.init(method: head.method.rawValue, path: head.path, query: head.query)
    headers.reserveCapacity(head.fields.count)
    for index in 0..<head.fields.count {
      let name = head.fields.name(at: index)
      let value = head.fields.value(at: index)
      if let first = headers.updateValue(value, forKey: name) {
        headers[name] = first + (name == "cookie" ? "; " : ", ") + value
      }
    }
    if !head.host.isEmpty { headers["host"] = head.host }
  }
}

extension HTTPResponse {
  /// Creates a response of the owner, with a header that forbids browsers to guess its type.
  init(_ response: Response) {
    self.init(status: response.status, fields: response.headers, body: response.body)
    if !fields.contains(where: { $0.name == Self.noSniffing }) {
      fields.append((Self.noSniffing, "nosniff"))
    }
  }

  private static let noSniffing = "x-content-type-options"

  /// Creates a text response that ends its connection.
  static func last(
    _ status: Int, _ message: String, _ fields: [(name: String, value: String)] = []
  ) -> Self {
    Self(
      status: status,
      fields: fields + [
        ("content-type", "text/plain; charset=utf-8"), (noSniffing, "nosniff"),
      ], body: Array(message.utf8) + [0x0a], closes: true)
  }
}

extension HTTPLimits {
  /// Creates the limits of a transport's configuration.
  init(_ configuration: LibwebsocketsTransport.Configuration) {
    self.init()
    headBytesMax = configuration.headBytesMax
    requestLineBytesMax = min(requestLineBytesMax, headBytesMax)
    bodyBytesMax = configuration.bodyBytesMax
    asksForLongerBodies = true
    headMilliseconds = Int64(configuration.handshakeSeconds) * 1_000
    bodyMilliseconds = headMilliseconds
    bodyBytesPerSecondMin = max(1, configuration.bodyBytesPerSecondMin)
    idleMilliseconds = Int64(configuration.keepAliveSeconds) * 1_000
    responseMilliseconds = Int64(configuration.responseSeconds) * 1_000
  }
}
