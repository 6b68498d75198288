@_spi(_Unicode) import Swift
import ParleyModel

/// Paths of files from other systems: where a file lay, and what its name says of it.
package enum FilePath {
  enum Kind { case text, pad, zip, other }

  /// The kind of a file by its ending. Hidden files, and files in hidden folders, are no notes.
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

  /// Whether a system put the file beside people's files.
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

  /// A file's own name without its ending. Folders, and dots that lead out of them, name nothing here.
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

  /// The folder of a note, from the path of its file and a folder that all notes are put under: names that a folder may
  /// have, as many of them as fit.
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

  /// Names and bytes of a folder's path.
  private static let foldersMax = 8
  private static let folderBytesMax = 240

  /// A name that the server takes for a folder's; empty where nothing of it is visible.
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

  /// A name as Unicode composes it: systems write é as one scalar or as two.
  static func composed(_ name: String) -> String {
    guard name.utf8.contains(where: { $0 >= 0x80 }) else { return name }
    var scalars = String.UnicodeScalarView()
    for scalar in name._nfc { scalars.append(scalar) }
    return String(scalars)
  }

  /// The names of a path, with either separator.
  private static func names(_ path: String) -> [String] {
    path.utf8.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }.map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  private static func ending(_ name: String) -> String {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return "" }
    return lowercased(String(decoding: name.utf8[name.utf8.index(after: dot)...], as: UTF8.self))
  }

  /// In small letters, as far as they are ASCII.
  private static func lowercased(_ name: String) -> String {
    String(
      decoding: name.utf8.map { (0x41...0x5a).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
  }
}
