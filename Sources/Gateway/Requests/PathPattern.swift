/// A path of the HTTP API with names in it, such as `/api/notes/{id}/text`.
///
/// A name in braces stands for one part of the path. `{room}`, `{user}` and `{rest}` stand for one or
/// more: such names may have slashes, which no transport has to keep apart from the path's own.
package struct PathPattern: Sendable, Hashable, CustomStringConvertible {
  private enum Segment: Sendable, Hashable {
    case text(String)
    case name
    case names
  }

  /// The pattern in the spelling of the API's description.
  package let description: String
  private let parts: [Segment]

  package init(_ text: String) {
    description = text
    parts = Self.split(text).map { part in
      switch part {
      case "{room}", "{user}", "{rest}": .names
      case let part where part.utf8.first == UInt8(ascii: "{"): .name
      default: .text(String(part))
      }
    }
  }

  /// Whether the pattern is one path, without names.
  var isPlain: Bool {
    parts.allSatisfy { part in
      if case .text = part { true } else { false }
    }
  }

  /// The parts of a path, without the empty one before its first slash.
  static func split(_ path: String) -> ArraySlice<Substring> {
    path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
  }

  /// The values of the names in a path, still percent-encoded; `nil` if the path does not match.
  ///
  /// - Parameter path: The path's parts, as ``split(_:)`` gives them.
  /// - Complexity: O(*n*) in the path's length.
  func names(in path: ArraySlice<Substring>) -> [Substring]? {
    guard path.count >= parts.count else { return nil }
    var names: [Substring] = []
    var rest = path
    for (index, part) in parts.enumerated() {
      guard let next = rest.popFirst() else { return nil }
      switch part {
      case .text(let text): guard next.utf8.elementsEqual(text.utf8) else { return nil }
      case .name: names.append(next)
      case .names:
        // All but what the parts behind it need.
        let taken = rest.prefix(rest.count - (parts.count - index - 1))
        rest = rest.dropFirst(taken.count)
        names.append(next.base[next.startIndex..<(taken.last ?? next).endIndex])
      }
    }
    return rest.isEmpty ? names : nil
  }
}
