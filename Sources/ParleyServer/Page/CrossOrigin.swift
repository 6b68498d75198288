import Gateway
package import ParleyGatewayPorts

/// Lets pages of allowed origins use the HTTP API and `/sdk/version.json` (CORS, WHATWG Fetch).
///
/// A browser passes a response to a page of another origin only if a header names the page's
/// origin, and sends a preflight request before anything that a form could not send. Other origins
/// get no such header, not even with errors. Credentials are never allowed, since tokens are in
/// `Authorization`. The dialects of Socket.IO and Bayeux have their own headers.
package struct CrossOrigin: Sendable {
  private let origins: OriginPolicy

  private static let requestHeaders =
    "accept, authorization, content-type, idempotency-key, if-match, if-none-match"
  private static let responseHeaders =
    "etag, retry-after, location, link, idempotency-replayed"

  /// Creates a rule for the origins of a policy.
  package init(_ origins: OriginPolicy) { self.origins = origins }

  /// Returns the headers to add to any response to a request.
  package func headers(for head: RequestHead) -> [(name: String, value: String)] {
    guard isOfAPI(head), origins.namesOthers else { return [] }
    // Without it, a cache could return a response that names another origin.
    let varies = (name: "vary", value: "origin")
    guard let origin = head.headers["origin"], origins.names(origin) else { return [varies] }
    return [
      varies, ("access-control-allow-origin", origin),
      ("access-control-expose-headers", Self.responseHeaders),
    ]
  }

  /// Returns the response to a preflight request of an allowed origin; `nil` for other requests.
  package func preflight(_ head: RequestHead) -> Response? {
    guard head.method == "OPTIONS", isOfAPI(head), let origin = head.headers["origin"],
      origins.names(origin)
    else { return nil }
    return .preflight(methods: Route.methods, requestHeaders: Self.requestHeaders)
  }

  private func isOfAPI(_ head: RequestHead) -> Bool {
    head.path.utf8.starts(with: "/api/".utf8) || head.path == "/sdk/version.json"
  }
}
