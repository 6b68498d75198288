import Gateway
package import GatewayPorts

/// Lets pages of allowed origins use the HTTP API and what clients load (CORS, as WHATWG's Fetch defines it).
///
/// A browser hands a page of another origin an answer only if its headers name the page's origin, and
/// asks before it sends more than a form could. Other origins get no such header, not even on errors.
/// Cookies are never allowed, since tokens are in `Authorization`. The dialects of Socket.IO and
/// Bayeux have headers of their own.
package struct CrossOrigin: Sendable {
  private let origins: OriginPolicy

  private static let requestHeaders =
    "accept, authorization, content-type, idempotency-key, if-match, if-none-match"
  private static let responseHeaders =
    "etag, retry-after, location, link, idempotency-replayed"

  /// Makes a rule for the origins of a policy.
  package init(_ origins: OriginPolicy) { self.origins = origins }

  /// Headers for whatever answers a request.
  package func headers(for head: RequestHead) -> [(name: String, value: String)] {
    guard isOfAPI(head), origins.namesOthers else { return [] }
    // Without it a cache could give a page the answer for another origin.
    let varies = (name: "vary", value: "origin")
    guard let origin = head.headers["origin"], origins.names(origin) else { return [varies] }
    return [
      varies, ("access-control-allow-origin", origin),
      ("access-control-expose-headers", Self.responseHeaders),
    ]
  }

  /// The answer to a browser that asks whether a page may send a request; `nil` if it does not ask.
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
