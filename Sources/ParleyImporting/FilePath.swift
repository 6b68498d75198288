@_spi(_Unicode) import Swift
import ParleyModel

/// Functions on file paths of other systems: a file's folder, kind and title.
package enum FilePath {
  enum Kind { case text, pad, zip, other }

  /// Returns the kind of a file, determined by its ending. Hidden files, and files in hidden
  /// folders, are not notes.
  static func kind(_ path: String) -> Kind {
    let names = names(path)
    guard !names.contains(where: isHidden) else { return .other }
    switch ending(names.last ?? "") {
    case "md", "markdown", "txt", "text": return .text
    case "etherpad", "json": return .pad
    case "zip": return .zip
    default: return .other
    }
  }

  private static func isHidden(_ name: String) -> Bool {
    name.utf8.first == UInt8(ascii: ".") && !name.utf8.elementsEqual(".".utf8)
      && !name.utf8.elementsEqual("..".utf8)
  }

  /// Whether an operating system created the file beside the user's files.
  static func isNoise(_ path: String) -> Bool {
    let names = names(path)
    guard let last = names.last else { return false }
    let small = lowercased(last)
    return names.dropLast().contains { lowercased($0).utf8.elementsEqual("__macosx".utf8) }
      || last.utf8.starts(with: "._".utf8) || small.utf8.elementsEqual(".ds_store".utf8)
      || small.utf8.elementsEqual("thumbs.db".utf8) || small.utf8.elementsEqual("desktop.ini".utf8)
  }

  /// Whether the path names a folder.
  static func isFolder(_ path: String) -> Bool {
    path.utf8.last == UInt8(ascii: "/") || path.utf8.last == UInt8(ascii: "\\")
  }

  /// Returns a file's name without its ending. Empty names and dots are skipped.
  package static func baseName(_ path: String) -> String {
    let name = names(path).last { name in
      name.unicodeScalars.contains { $0 != "." && !$0.properties.isWhitespace }
    }
    guard let name else { return "" }
    switch ending(name) {
    case "md", "markdown", "txt", "text", "etherpad", "json":
      guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else {
        return name
      }
      return String(name[..<dot])
    default: return name
    }
  }

  /// Returns the folder of a note: the path of its file, below a root folder. Names are cleaned,
  /// and folders beyond the limits are omitted.
  package static func folder(of path: String, under root: String) -> String {
    var folders = root.isEmpty ? [] : names(root)
    for written in names(path).dropLast() where folders.count < foldersMax {
      let name = cleanName(composed(written))
      if !name.isEmpty { folders.append(name) }
    }
    while folders.reduce(folders.count - 1, { $0 + $1.utf8.count }) > folderBytesMax {
      folders.removeLast()
    }
    return folders.joined(separator: "/")
  }

  /// Maximum names and bytes of a folder's path.
  private static let foldersMax = 8
  private static let folderBytesMax = 240

  /// Returns a name that the server accepts for a folder; empty if no visible character remains.
  private static func cleanName(_ written: String) -> String {
    var name: [Unicode.Scalar] = written.unicodeScalars.map { scalar in
      CharacterRules.isRefusedInNames(scalar) || scalar == "*" || scalar == "\u{fffd}"
        ? " " : scalar
    }
    while let last = name.last, last.properties.isWhitespace { name.removeLast() }
    name.removeFirst(name.prefix { $0.properties.isWhitespace }.count)
    guard name.contains(where: { !CharacterRules.isInvisible($0) && !$0.properties.isWhitespace }),
      name != ["."], name != [".", "."]
    else {
      return ""
    }
    return String(String.UnicodeScalarView(name))
  }

  /// Returns a name in composed form (NFC), because systems store é as one scalar or as two.
  static func composed(_ name: String) -> String {
    guard name.utf8.contains(where: { $0 >= 0x80 }) else { return name }
    var scalars = String.UnicodeScalarView()
    for scalar in name._nfc { scalars.append(scalar) }
    return String(scalars)
  }

  /// Returns the names of a path, with either separator.
  private static func names(_ path: String) -> [String] {
    path.utf8.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }.map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  private static func ending(_ name: String) -> String {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return "" }
    return lowercased(String(decoding: name.utf8[name.utf8.index(after: dot)...], as: UTF8.self))
  }

  /// Returns a text with ASCII letters in lower case.
  private static func lowercased(_ name: String) -> String {
    String(
      decoding: name.utf8.map { (0x41...0x5a).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
  }
}
