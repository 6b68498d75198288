import ParleyJSON

/// A path of the HTTP API with placeholders, such as `/api/notes/{id}/text`.
///
/// A placeholder matches one segment of a path. `{room}`, `{user}` and `{rest}` match one or more:
/// these names may contain slashes, which some transports decode and so mix with the path's own.
package struct PathPattern: Sendable, Hashable, CustomStringConvertible {
  private enum Segment: Sendable, Hashable {
    case text(String)
    case name
    case names
  }

  /// The pattern as the API's description spells it.
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

  /// Whether the pattern has no placeholders.
  var isPlain: Bool {
    parts.allSatisfy { part in
      if case .text = part { true } else { false }
    }
  }

  /// Splits a path into segments, without the empty one before its first slash.
  static func split(_ path: String) -> ArraySlice<Substring> {
    path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
  }

  /// Returns the placeholders' values, still percent-encoded; `nil` if the path does not match.
  ///
  /// - Parameter path: The path's segments, from ``split(_:)``.
  /// - Complexity: O(*n*) in the path's length.
  func names(in path: ArraySlice<Substring>) -> [Substring]? {
    guard path.count >= parts.count else { return nil }
    var names: [Substring] = []
    var rest = path
    for (index, part) in parts.enumerated() {
      guard let next = rest.popFirst() else { return nil }
      switch part {
      case .text(let text): guard next.isExactly(text) else { return nil }
      case .name: names.append(next)
      case .names:
        // All segments but those that the rest of the pattern needs.
        let taken = rest.prefix(rest.count - (parts.count - index - 1))
        rest = rest.dropFirst(taken.count)
        names.append(next.base[next.startIndex..<(taken.last ?? next).endIndex])
      }
    }
    return rest.isEmpty ? names : nil
  }
}
