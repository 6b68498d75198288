/// Paths of requests, each with a value.
///
/// A path without placeholders precedes the patterns; among patterns, the first match wins.
struct PathTable<Value: Sendable>: Sendable {
  private var plain: [String: Value] = [:]
  /// The patterns with placeholders, by their first segment, which is a text.
  private var named: [Substring: [(pattern: PathPattern, value: Value)]] = [:]

  init(_ entries: [(PathPattern, Value)]) {
    for (pattern, value) in entries {
      if pattern.isPlain {
        plain[pattern.description] = value
      } else {
        let first = PathPattern.split(pattern.description).first ?? ""
        named[first, default: []].append((pattern, value))
      }
    }
  }

  /// Returns the value of a path and the names in it, still percent-encoded; `nil` for an unknown
  /// path.
  ///
  /// - Complexity: O(*n*) in the path's length, for each pattern with its first segment in the
  ///   worst case.
  func find(_ path: String) -> (value: Value, names: [Substring])? {
    if let value = plain[path] { return (value, []) }
    let parts = PathPattern.split(path)
    for (pattern, value) in named[parts.first ?? ""] ?? [] {
      if let names = pattern.names(in: parts) { return (value, names) }
    }
    return nil
  }
}
