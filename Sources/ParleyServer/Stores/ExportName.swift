package import GatewayPorts

/// Names of files for exported notes: the title as far as any file system can hold it, and the id, by
/// which two notes of one title are told apart.
package enum ExportName {
  /// Titles are cut after so many bytes, so that most ids fit behind them.
  private static let titleBytesMax = 80

  /// The name of a note's file, without its ending.
  package static func of(_ note: NoteSummary) -> String {
    var title = ""
    for scalar in note.title.unicodeScalars {
      let piece = isSafe(scalar) ? Character(scalar) : "-"
      guard title.utf8.count + String(piece).utf8.count <= titleBytesMax else { break }
      if piece == "-", title.last == "-" || title.isEmpty { continue }
      title.unicodeScalars.append(contentsOf: piece.unicodeScalars)
    }
    while title.last == "-" { title.removeLast() }
    let id = String(note.id.unicodeScalars.map { isPlain($0) ? Character($0) : "-" })
    return title.isEmpty ? id : "\(title)-\(id)"
  }

  private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
    guard !scalar.isASCII else { return isPlain(scalar) }
    return scalar.properties.isAlphabetic || scalar.properties.numericType != nil
      || scalar.properties.generalCategory == .nonspacingMark
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    default: false
    }
  }
}
