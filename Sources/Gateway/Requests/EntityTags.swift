package import ParleyGatewayPorts
import ParleyJSON

/// The entity tags of an `If-None-Match` (RFC 9110, section 13.1.2): the client's versions.
///
/// Tags are compared weakly, so `W/"a"` and `"a"` are equal. An invalid tag matches nothing: the
/// client then receives the whole response.
package struct EntityTags: Sendable, Equatable {
  private var tags: [String] = []
  private var isAny = false

  /// Reads a header; `nil` if missing.
  package init?(_ header: String?) {
    guard let header else { return nil }
    var rest = header.utf8[...]
    func skip(_ bytes: [UInt8]) {
      while let next = rest.first, bytes.contains(next) { rest.removeFirst() }
    }
    let blanks = Array(" \t".utf8)
    skip(blanks)
    if rest.elementsEqual("*".utf8) { isAny = true }
    while !rest.isEmpty {
      skip(blanks + [UInt8(ascii: ",")])
      if rest.starts(with: "W/".utf8) { rest = rest.dropFirst(2) }
      // The quotes may contain a comma.
      guard rest.first == UInt8(ascii: "\""),
        let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\""))
      else { return }
      tags.append(String(rest[...end]) ?? "")
      rest = rest[end...].dropFirst()
    }
  }

  /// Whether the client holds the version with a tag.
  package func matches(_ tag: String) -> Bool {
    if isAny { return true }
    let strong = tag.utf8.starts(with: "W/".utf8) ? String(tag.dropFirst(2)) : tag
    return tags.contains { $0.isExactly(strong) }
  }
}

extension Response {
  /// Returns the response, or 304 without its body if the client already holds this version.
  package func unless(known tags: EntityTags?) -> Response {
    guard let tags, status == 200, let tag = headers.first(where: { $0.name == "etag" })?.value,
      tags.matches(tag)
    else { return self }
    return Response(status: 304, headers: headers.filter { $0.name != "content-type" })
  }
}
