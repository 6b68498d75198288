import CLibwebsockets
import GatewayPorts

extension Loop {
  /// Reads the head of a request out of the library, which keeps it as tokens.
  ///
  /// The library decodes the target and takes `.` and `..` out of it; it is encoded again here,
  /// so a path comes in one form only, whichever the client wrote.
  func requestHead(_ wsi: OpaquePointer, _ session: Session) -> RequestHead {
    var head = RequestHead(
      method: "", path: "", remoteAddress: session.address, isSecure: configuration.tls != nil)
    for (token, method) in Self.methodTokens where lws_hdr_total_length(wsi, token) > 0 {
      head.method = method
      head.path = Self.encoded(value(of: token, wsi), keeping: Self.pathBytes)
      break
    }
    head.query = query(wsi)
    head.entrance = session.entrance
    for (token, name) in Self.knownHeaders where lws_hdr_total_length(wsi, token) > 0 {
      head.headers[name] = String(decoding: value(of: token, wsi), as: UTF8.self)
    }
    for name in configuration.extraHeaders {
      if let value = customValue(name, wsi) { head.headers[name] = value }
    }
    return head
  }

  func value(of token: lws_token_indexes, _ wsi: OpaquePointer) -> ArraySlice<UInt8> {
    copy { lws_hdr_copy(wsi, $0, $1, token) }
  }

  private func customValue(_ name: String, _ wsi: OpaquePointer) -> String? {
    let key = name + ":"
    let length = Int32(key.utf8.count)
    guard lws_hdr_custom_length(wsi, key, length) >= 0 else { return nil }
    return String(
      decoding: copy { lws_hdr_custom_copy(wsi, $0, $1, key, length) }, as: UTF8.self)
  }

  /// Each argument is a fragment, decoded; it is encoded again and the fragments are joined.
  private func query(_ wsi: OpaquePointer) -> String {
    guard lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_URI_ARGS) > 0 else { return "" }
    var query = ""
    var index: Int32 = 0
    while true {
      var isThere = false
      let fragment = copy {
        let count = lws_hdr_copy_fragment(wsi, $0, $1, WSI_TOKEN_HTTP_URI_ARGS, index)
        isThere = count >= 0
        return count
      }
      // The library makes a slash of an empty query.
      guard isThere, index < 256 else { return query == "/" ? "" : query }
      if index > 0 { query += "&" }
      if let equals = fragment.firstIndex(of: 0x3d) {
        query += Self.encoded(fragment[..<equals], keeping: Self.argumentBytes) + "="
        query += Self.encoded(fragment[(equals + 1)...], keeping: Self.argumentBytes)
      } else {
        query += Self.encoded(fragment, keeping: Self.argumentBytes)
      }
      index += 1
    }
  }

  private func copy(
    _ read: (UnsafeMutablePointer<CChar>, Int32) -> Int32
  ) -> ArraySlice<UInt8> {
    guard let base = scratch.baseAddress else { return [] }
    let count = Int(read(base.assumingMemoryBound(to: CChar.self), Int32(scratch.count)))
    return count > 0 ? Array(scratch[..<count])[...] : []
  }

  private static let methodTokens: [(lws_token_indexes, String)] = [
    (WSI_TOKEN_GET_URI, "GET"), (WSI_TOKEN_POST_URI, "POST"), (WSI_TOKEN_PUT_URI, "PUT"),
    (WSI_TOKEN_PATCH_URI, "PATCH"), (WSI_TOKEN_DELETE_URI, "DELETE"),
    (WSI_TOKEN_HEAD_URI, "HEAD"), (WSI_TOKEN_OPTIONS_URI, "OPTIONS"),
  ]

  /// Every header the library knows by name.
  private static let knownHeaders: [(lws_token_indexes, String)] = {
    var headers: [(lws_token_indexes, String)] = []
    for number in 0..<WSI_TOKEN_COUNT.rawValue {
      let token = lws_token_indexes(rawValue: number)
      guard let text = lws_token_to_string(token) else { continue }
      let name = text.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
      // Pseudo-headers begin with a colon, methods and versions do not end with one.
      if name.hasSuffix(":"), !name.hasPrefix(":") {
        headers.append((token, String(name.dropLast())))
      }
    }
    return headers
  }()

  private static let unreserved = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
  private static let pathBytes = unreserved.union("/!$&'()*+,;=:@".utf8)
  private static let argumentBytes = unreserved.union("/?!$'()*,;:@".utf8)

  /// Percent-encodes what is not in `kept`.
  private static func encoded(_ bytes: ArraySlice<UInt8>, keeping kept: Set<UInt8>) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    for byte in bytes {
      if kept.contains(byte) {
        text.append(byte)
      } else {
        text.append(contentsOf: [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
