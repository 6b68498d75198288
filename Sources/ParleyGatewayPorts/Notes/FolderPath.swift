import ParleyModel

/// The path of a folder of notes, such as `team/minutes`.
///
/// A folder exists while it contains a note; it has no record. Paths are compared byte by byte: a
/// letter with an accent and the same letter with a combining accent name two folders.
///
///     " team//Minutes/ "  ─▶  team/Minutes
public struct FolderPath: Hashable, Comparable, Sendable {
  /// The path, with slashes between names; empty for notes in no folder.
  public var text: String { name.text }

  private let name: ExactName

  /// The path of notes in no folder.
  public static let none = FolderPath(stored: "")
  /// Maximum bytes of a path.
  public static let bytesMax = 240
  /// Maximum names of a path.
  public static let depthMax = 8

  /// Creates a path from a text that ``init(_:)`` has normalised before, such as a stored one.
  public init(stored text: String) { name = ExactName(text) }

  /// Parses a path. Spaces around names, empty names, and slashes at either end are removed.
  ///
  /// - Throws: The reason for rejection: a name is deceptive, or has a meaning in file systems or
  ///   patterns; or the path is too long or too deep.
  /// - Complexity: O(*n*) scalars, at most 4 times ``bytesMax``.
  public init(_ written: String) throws(FolderPathError) {
    // Limit the spaces and slashes that are removed.
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

  // MARK: Hierarchy

  /// Whether the path is that of notes in no folder.
  public var isNone: Bool { text.isEmpty }

  /// Whether this folder equals another or lies below it. Every folder lies below ``none``.
  public func isWithin(_ other: FolderPath) -> Bool {
    guard text.utf8.starts(with: other.text.utf8) else { return false }
    return other.isNone || text.utf8.count == other.text.utf8.count
      || text.utf8.dropFirst(other.text.utf8.count).first == UInt8(ascii: "/")
  }

  /// Returns the path of this folder after a move of the folder `old`, in which it lies, to `new`.
  ///
  /// - Throws: The reason why the result is not a valid path.
  public func moved(from old: FolderPath, to new: FolderPath) throws(FolderPathError) -> FolderPath
  {
    precondition(isWithin(old), "a folder is moved with one that it is within")
    let rest = String(decoding: text.utf8.dropFirst(old.text.utf8.count), as: UTF8.self)
    return try FolderPath(new.text + "/" + rest)
  }

  // MARK: Comparing

  /// Orders paths by their bytes.
  public static func < (left: FolderPath, right: FolderPath) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}

/// The reason to reject the path of a folder.
public enum FolderPathError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path has more than ``FolderPath/bytesMax`` bytes.
  case tooLong(bytes: Int)
  /// The path has more than ``FolderPath/depthMax`` names.
  case tooDeep(depth: Int)
  /// A name is `.` or `..`.
  case dots
  /// A name contains a backslash or an asterisk.
  case reserved
  /// A name contains a refused character, such as a control character, or no visible one.
  case invisible

  /// Whether the path is only too long or too deep.
  public var isOfSize: Bool {
    switch self {
    case .tooLong, .tooDeep: true
    case .dots, .reserved, .invisible: false
    }
  }

  /// The expectation, the problem and the remedy.
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
