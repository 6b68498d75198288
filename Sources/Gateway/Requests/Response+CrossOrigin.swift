package import ParleyGatewayPorts

/// Headers that let pages of other origins read responses (CORS, WHATWG Fetch). Callers have
/// checked that the origin is allowed.
extension Response {
  /// Returns the response with headers that let the requesting page read it.
  func allowing(_ head: RequestHead) -> Response {
    guard let origin = head.headers["origin"] else { return self }
    return with("access-control-allow-origin", origin)
      .with("access-control-allow-credentials", "true").with("vary", "origin")
  }

  /// The response to a browser's preflight request.
  ///
  /// - Parameters:
  ///   - methods: The methods that the page may use.
  ///   - requestHeaders: The headers that the page may send.
  package static func preflight(methods: String, requestHeaders: String) -> Response {
    Response(
      status: 204,
      headers: [
        ("access-control-allow-methods", methods),
        ("access-control-allow-headers", requestHeaders),
        // Seconds for which the browser caches the response.
        ("access-control-max-age", "600"),
      ])
  }

  /// The response to a preflight request of a page with a Socket.IO or Bayeux client.
  static func preflight(_ head: RequestHead) -> Response {
    .preflight(
      methods: "GET, POST, OPTIONS",
      requestHeaders: "accept, authorization, content-type, pragma"
    ).allowing(head)
  }
}
