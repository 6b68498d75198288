package import ParleyGatewayPorts

/// Letting pages of other origins read answers (CORS, by WHATWG's Fetch standard). Which origins are
/// allowed is decided before.
extension Response {
  /// Lets the requesting page read the answer, for its origin was found allowed.
  func allowing(_ head: RequestHead) -> Response {
    guard let origin = head.headers["origin"] else { return self }
    return with("access-control-allow-origin", origin)
      .with("access-control-allow-credentials", "true").with("vary", "origin")
  }

  /// The answer to a browser that asks whether a page may send a request.
  ///
  /// - Parameters:
  ///   - methods: The methods that the page may use.
  ///   - requestHeaders: The headers that it may send.
  package static func preflight(methods: String, requestHeaders: String) -> Response {
    Response(
      status: 204,
      headers: [
        ("access-control-allow-methods", methods),
        ("access-control-allow-headers", requestHeaders),
        // For so many seconds a browser need not ask again.
        ("access-control-max-age", "600"),
      ])
  }

  /// The answer to a preflight request by a page with a client of Socket.IO or Bayeux.
  static func preflight(_ head: RequestHead) -> Response {
    .preflight(
      methods: "GET, POST, OPTIONS",
      requestHeaders: "accept, authorization, content-type, pragma"
    ).allowing(head)
  }
}
