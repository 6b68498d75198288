/// Names of stored files, without characters that have a meaning in file systems and terminals or
/// change the direction of text.
package enum FileName {
  /// Maximum bytes of a name.
  private static let bytesMax = 120
  /// Maximum bytes of an extension, with its dot, that a shortened name retains.
  private static let endingBytesMax = 12

  /// Returns a name that is safe to store; `file` if no character remains.
  package static func clean(_ name: String) -> String {
    var scalars: [Unicode.Scalar] = []
    for scalar in name.unicodeScalars {
      switch scalar {
      // Only the last part of a path is the name.
      case "/", "\\": scalars = []
      case "<", ">", ":", "\"", "|", "?", "*": scalars.append("_")
      case let scalar where isHidden(scalar): break
      default: scalars.append(scalar)
      }
    }
    scalars = Array(scalars.drop(while: isEdge))
    while let last = scalars.last, isEdge(last) { scalars.removeLast() }
    let clean = shortened(scalars)
    return clean.isEmpty ? "file" : clean
  }

  /// Whether a scalar is removed at the start and the end of a name.
  private static func isEdge(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "." || scalar.properties.isWhitespace
  }

  /// Whether a scalar is invisible, changes the direction of text, or is private-use or unassigned.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
    default: false
    }
  }

  /// Shortens a long name in front of its extension.
  private static func shortened(_ scalars: [Unicode.Scalar]) -> String {
    let whole = String(String.UnicodeScalarView(scalars))
    guard whole.utf8.count > bytesMax else { return whole }
    var ending = ""
    if let dot = scalars.lastIndex(of: "."), dot > 0 {
      ending = String(String.UnicodeScalarView(scalars[dot...]))
      if ending.utf8.count > endingBytesMax { ending = "" }
    }
    var stem = ""
    for scalar in scalars {
      guard stem.utf8.count + UTF8.width(scalar) + ending.utf8.count <= bytesMax else { break }
      stem.unicodeScalars.append(scalar)
    }
    while let last = stem.unicodeScalars.last, isEdge(last) { stem.unicodeScalars.removeLast() }
    return stem + ending
  }
}
