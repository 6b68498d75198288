package import ParleyGatewayPorts

/// File names for exported notes: the title, shortened for any file system, and the note's id,
/// which distinguishes notes with equal titles. Paths that would be equal get numbers.
package struct ExportNames {
  /// Maximum bytes of the title, and of title and id, which leaves room for number and ending.
  private static let titleBytesMax = 80
  private static let bytesMax = 235

  private let ending: String
  /// The last number appended to each path. The key is in lower case: some file systems ignore case
  /// and Unicode composition, as string comparison does here.
  private var numbers: [String: Int] = [:]

  /// Creates names with one file ending.
  package init(ending: String) { self.ending = ending }

  /// Returns a path for a note's file at which no file exists yet.
  package mutating func unusedPath(for note: NoteSummary, in folder: String) -> String {
    let path = "\(folder)/\(Self.name(of: note))"
    let compared = path.lowercased()
    while true {
      let number = numbers[compared, default: 0] + 1
      numbers[compared] = number
      let numbered = "\(path)\(number == 1 ? "" : "-\(number)").\(ending)"
      if !Files.isThere(numbered) { return numbered }
    }
  }

  /// Returns the name of a note's file, without its ending.
  private static func name(of note: NoteSummary) -> String {
    let id = String(
      note.id.text.unicodeScalars.prefix(bytesMax).map { isPlain($0) ? Character($0) : "-" })
    let titleMax = min(titleBytesMax, bytesMax - id.utf8.count - 1)
    var title = ""
    for scalar in note.title.unicodeScalars {
      let piece = isSafe(scalar) ? scalar : "-"
      guard title.utf8.count + UTF8.width(piece) <= titleMax else { break }
      // No second hyphen in a row, and no combining mark without its letter.
      let needsLetter = piece == "-" || piece.properties.generalCategory == .nonspacingMark
      if needsLetter, title.isEmpty || title.unicodeScalars.last == "-" { continue }
      title.unicodeScalars.append(piece)
    }
    while title.last == "-" { title.removeLast() }
    return title.isEmpty ? id : "\(title)-\(id)"
  }

  private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
    guard !scalar.isASCII else { return isPlain(scalar) }
    guard !scalar.isInvisible else { return false }
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
