import ParleyModel

/// The path of a folder of notes, such as `team/minutes`.
///
/// A folder exists while it contains a note; it has no record of its own. Paths are compared byte by byte:
/// a letter with an accent and the same letter with a combining accent name two folders.
///
///     " team//Minutes/ "  ─▶  team/Minutes
public struct FolderPath: Hashable, Comparable, Sendable {
  /// The path, with a slash between names; empty for the notes in no folder.
  public var text: String { name.text }

  private let name: ExactName

  /// Notes in no folder.
  public static let none = FolderPath(stored: "")
  /// Bytes that a path may have.
  public static let bytesMax = 240
  /// Names that a path may have.
  public static let depthMax = 8

  /// Takes a path that was read with ``init(_:)`` before, such as a stored one.
  public init(stored text: String) { name = ExactName(text) }

  /// Reads a path: blanks around names, empty names and slashes at either end are dropped.
  ///
  /// - Throws: The reason to reject it: names that hide or deceive, that file systems and patterns give another
  ///   meaning, and paths that are too long or too deep.
  /// - Complexity: O(*n*) scalars, at most a few times ``bytesMax`` of them.
  public init(_ written: String) throws(FolderPathError) {
    // Blanks and slashes are dropped, but not without end.
    guard written.utf8.count <= 4 * Self.bytesMax else {
      throw .tooLong(bytes: written.utf8.count)
    }
    var names: [Substring.UnicodeScalarView] = []
    for part in written.unicodeScalars.split(separator: "/", omittingEmptySubsequences: true) {
      var name = part
      while let first = name.first, first.properties.isWhitespace { name.removeFirst() }
      while let last = name.last, last.properties.isWhitespace { name.removeLast() }
      if name.isEmpty { continue }
      try Self.check(name)
      names.append(name)
    }
    guard names.count <= Self.depthMax else { throw .tooDeep(depth: names.count) }
    let text = names.map { String($0) }.joined(separator: "/")
    guard text.utf8.count <= Self.bytesMax else { throw .tooLong(bytes: text.utf8.count) }
    name = ExactName(text)
  }

  private static func check(_ name: Substring.UnicodeScalarView) throws(FolderPathError) {
    guard !name.elementsEqual(".".unicodeScalars), !name.elementsEqual("..".unicodeScalars) else {
      throw .dots
    }
    guard !name.contains("\\"), !name.contains("*") else { throw .reserved }
    guard !name.contains(where: CharacterRules.isRefusedInNames),
      name.contains(where: { !$0.isInvisible && !$0.isBlank })
    else {
      throw .invisible
    }
  }

  // MARK: Places

  /// Whether these are the notes in no folder.
  public var isNone: Bool { text.isEmpty }

  /// Whether this folder is another one or lies below it. Every folder lies below ``none``.
  public func isWithin(_ other: FolderPath) -> Bool {
    guard text.utf8.starts(with: other.text.utf8) else { return false }
    return other.isNone || text.utf8.count == other.text.utf8.count
      || text.utf8.dropFirst(other.text.utf8.count).first == UInt8(ascii: "/")
  }

  /// Returns the path that a folder within one folder has when that folder becomes another one.
  ///
  /// - Throws: The reason why that would be no path.
  public func moved(from old: FolderPath, to new: FolderPath) throws(FolderPathError) -> FolderPath
  {
    precondition(isWithin(old), "a folder is moved with one that it is within")
    let rest = String(decoding: text.utf8.dropFirst(old.text.utf8.count), as: UTF8.self)
    return try FolderPath(new.text + "/" + rest)
  }

  // MARK: Comparing

  /// Whether a path comes first, byte by byte.
  public static func < (left: FolderPath, right: FolderPath) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}

/// The reason to reject the path of a folder.
public enum FolderPathError: Error, Sendable, Hashable, CustomStringConvertible {
  /// It has more than ``FolderPath/bytesMax`` bytes.
  case tooLong(bytes: Int)
  /// It has more than ``FolderPath/depthMax`` names.
  case tooDeep(depth: Int)
  /// A name is `.` or `..`.
  case dots
  /// A name has a backslash or a star.
  case reserved
  /// A name has invisible characters, or only those.
  case invisible

  /// Whether it is a matter of size alone.
  public var isOfSize: Bool {
    switch self {
    case .tooLong, .tooDeep: true
    case .dots, .reserved, .invisible: false
    }
  }

  /// The expectation, the problem, and what to do.
  public var description: String {
    switch self {
    case .tooLong(let bytes):
      "a folder's path may have \(FolderPath.bytesMax) bytes; this one has \(bytes): use shorter names"
    case .tooDeep(let depth):
      "a folder's path may have \(FolderPath.depthMax) names; this one has \(depth): use fewer levels"
    case .dots: "a folder cannot be called . or ..; use another name"
    case .reserved: "a folder's name has no backslash and no *; use another character"
    case .invisible:
      "a folder's name has visible characters, no line breaks, and no marks that turn the direction of "
        + "writing; type it again"
    }
  }
}
