/// Suggestions for misspelt names.
package enum Spelling {
  /// Returns the name with the smallest edit distance; `nil` if the distance is too large.
  package static func nearest(to name: String, among names: some Sequence<String>) -> String? {
    let distances = names.map { (name: $0, distance: distance(from: name, to: $0)) }
    guard let best = distances.min(by: { ($0.distance, $0.name) < ($1.distance, $1.name) }),
      best.distance <= max(2, name.count / 3)
    else { return nil }
    return best.name
  }

  /// Returns the bytes to insert, delete or replace to turn one word into the other (Levenshtein).
  private static func distance(from first: String, to second: String) -> Int {
    let target = Array(second.utf8)
    var row = Array(0...target.count)
    for (line, byte) in first.utf8.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for (column, other) in target.enumerated() {
        let cost = diagonal + (byte == other ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(cost, row[column] + 1, diagonal + 1)
      }
    }
    return row[target.count]
  }
}
