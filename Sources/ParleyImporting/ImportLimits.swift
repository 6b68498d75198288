/// The limits of an import.
public struct ImportLimits: Sendable, Hashable {
  /// Maximum files of an import, including those in archives.
  public var filesMax = 10_000
  /// Maximum bytes of all texts of an import, as stored in the files.
  public var bytesMax: Int64 = 256 << 20
  /// Maximum Unicode scalars of a note's text.
  public var scalarsMax: Int
  /// Maximum bytes of a title in UTF-8.
  public var titleBytesMax = 500
  /// The folder path below which all notes are imported.
  public var folder = ""

  /// Creates the default limits, with a maximum length of notes.
  public init(scalarsMax: Int) { self.scalarsMax = scalarsMax }

  /// Maximum entries of an archive.
  public static let archiveEntriesMax = 10_000
  /// Maximum bytes of an archive's directory, for names of several hundred characters each.
  static let directoryBytesMax = 8 << 20
  /// Maximum inflated bytes for each packed byte. Texts reach 5, logs 50; DEFLATE can reach 1,032.
  static let ratioMax = 200
  /// The size in bytes up to which an entry may have any ratio.
  static let ratioFrom = 1 << 20
  /// Maximum bytes of a pad's file, which contains every revision beside the text.
  static let padBytesMax = 64 << 20

  /// Maximum bytes of a text file: four for each scalar, and a byte order mark.
  var textBytesMax: Int64 { 4 &* Int64(scalarsMax) + 4 }
}

/// A note found in a file.
public struct ImportedNote: Sendable, Hashable {
  /// The path of the file, followed by the name in the archive if it is in one.
  public var path: String
  /// The title, in one line; empty if none was found.
  public var title: String
  /// The text in UTF-8, with `\n` as line ends.
  public var text: [UInt8]
  /// The folder's path, in a form that the server accepts; empty for no folder.
  public var folder: String
  /// The data about a pad that is not imported.
  public var pad: Pad?

  /// The origin of a pad's text.
  public struct Pad: Sendable, Hashable {
    /// The newest revision.
    public var revision: Int
    /// The names of the authors who have one.
    public var authors: [String]
  }
}
