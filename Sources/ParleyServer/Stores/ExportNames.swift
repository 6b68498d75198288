package import GatewayPorts

/// Names of files for exported notes: the title as far as any file system can hold it, and the id, by
/// which two notes of one title are told apart. Ids that differ in signs alone get numbers.
package struct ExportNames {
  /// Bytes of a title, and of title and id: what is left to 255 has room for a number and the ending.
  private static let titleBytesMax = 80
  private static let bytesMax = 235

  private let ending: String
  /// The number that was last put behind a path, by the path in small letters: some file systems ignore case, and
  /// composition, as strings do here.
  private var numbers: [String: Int] = [:]

  /// Names files with one ending.
  package init(ending: String) { self.ending = ending }

  /// Returns the path of a note's file, where nothing is yet.
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

  /// The name of a note's file, without its ending.
  private static func name(of note: NoteSummary) -> String {
    let id = String(
      note.id.text.unicodeScalars.prefix(bytesMax).map { isPlain($0) ? Character($0) : "-" })
    let titleMax = min(titleBytesMax, bytesMax - id.utf8.count - 1)
    var title = ""
    for scalar in note.title.unicodeScalars {
      let piece = isSafe(scalar) ? scalar : "-"
      guard title.utf8.count + UTF8.width(piece) <= titleMax else { break }
      // Neither a second hyphen nor a mark without its letter.
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
