import ParleyGatewayPorts

/// The reader of a list: the client's copy of the list, and whether it accepts gzip.
struct ListReader {
  /// The entity tags that the client holds, by `If-None-Match`.
  var known: EntityTags?
  /// Whether a body may be compressed.
  var acceptsGzip = false
  /// The client whose share of the compression its lists take; `nil` for one without limits.
  var stranger: Stranger?

  /// A reader that holds nothing.
  init() {}

  /// The reader that a request's head describes.
  init(_ head: RequestHead, by stranger: Stranger?) {
    self.stranger = stranger
    known = EntityTags(head.headers["if-none-match"])
    acceptsGzip = AcceptedCodings(head.headers["accept-encoding"]).contains("gzip")
  }

  /// The answer with a list, or 304 if the client's copy is current.
  ///
  /// The list is one person's: no shared cache may keep it, and the person's own asks again each time.
  ///
  /// - Parameters:
  ///   - state: A hash of all that the list shows, the reader's rights included; that of the body, unless another is
  ///     given.
  ///   - packing: How the body may be compressed.
  func answer(_ body: [UInt8], state: UInt64? = nil, packing: Packing) -> Response {
    // Weak, since the same list is sent with and without compression.
    let tag = "W/\"\(String(state ?? StableHash.of(body), radix: 36))\""
    var response = Response(
      status: 200,
      headers: [
        ("content-type", "application/json"), ("cache-control", "private, no-cache"),
        ("vary", "authorization, accept-encoding"), ("etag", tag),
      ], body: body)
    if acceptsGzip {
      response.packing = packing
      response.packing?.stranger = stranger
    }
    return response.unless(known: known)
  }
}

extension Packing {
  /// Compression of a body that consists of names, letter by letter.
  static var letters: Packing { Packing(repeatingCount: 0) }
}
