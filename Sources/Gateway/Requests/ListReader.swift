import ParleyGatewayPorts

/// The client that requests a list: its copy of the list, and whether it accepts gzip.
struct ListReader {
  /// The entity tags of the client's copies, from `If-None-Match`.
  var known: EntityTags?
  /// Whether a body may be compressed.
  var acceptsGzip = false
  /// The client whose share of the compression limit the list uses; `nil` if no limit applies.
  var limitedClient: LimitedClient?

  /// Creates a reader without a copy.
  init() {}

  /// Creates the reader that a request's head describes.
  init(_ head: RequestHead, by limitedClient: LimitedClient?) {
    self.limitedClient = limitedClient
    known = EntityTags(head.headers["if-none-match"])
    acceptsGzip = AcceptedCodings(head.headers["accept-encoding"]).contains("gzip")
  }

  /// Returns the response with a list, or 304 if the client's copy is current.
  ///
  /// Only the user's browser may cache the list, and has to revalidate it each time.
  ///
  /// - Parameters:
  ///   - state: A hash of everything that the list shows, the user's rights included. Default: the
  ///     body's hash.
  ///   - packing: How the body may be compressed.
  func answer(_ body: [UInt8], state: UInt64? = nil, packing: Packing) -> Response {
    // The tag is weak, since the same list is sent with and without compression.
    let tag = "W/\"\(String(state ?? StableHash.of(body), radix: 36))\""
    var response = Response(
      status: 200,
      headers: [
        ("content-type", "application/json"), ("cache-control", "private, no-cache"),
        ("vary", "authorization, accept-encoding"), ("etag", tag),
      ], body: body)
    if acceptsGzip {
      response.packing = packing
      response.packing?.limitedClient = limitedClient
    }
    return response.unless(known: known)
  }
}

extension Packing {
  /// Compression of single letters, for a body that consists of names.
  static var letters: Packing { Packing(repeatingCount: 0) }
}
