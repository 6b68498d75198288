/// Bounds of one import.
public struct ImportLimits: Sendable, Hashable {
  /// Files of one import, those in archives included.
  public var filesMax = 10_000
  /// Bytes of all texts of one import, as they are in the files.
  public var bytesMax: Int64 = 256 << 20
  /// Unicode scalars of a note's text.
  public var scalarsMax: Int
  /// Bytes of a title in UTF-8.
  public var titleBytesMax = 500
  /// The folder that all notes are put under, in the form of a folder's path.
  public var folder = ""

  /// The bounds for notes of a length.
  public init(scalarsMax: Int) { self.scalarsMax = scalarsMax }

  /// Entries of one archive.
  public static let archiveEntriesMax = 10_000
  /// Bytes of an archive's directory: names of several hundred letters each.
  static let directoryBytesMax = 8 << 20
  /// Inflated bytes for each packed byte. Texts reach 5, logs 50; DEFLATE can reach 1,032.
  static let ratioMax = 200
  /// Bytes that an entry may have in any ratio.
  static let ratioFrom = 1 << 20
  /// Bytes of a pad's file, which has every revision beside the text.
  static let padBytesMax = 64 << 20

  /// Bytes of a file whose text a note can hold: four for each scalar, and a byte order mark.
  var textBytesMax: Int64 { 4 &* Int64(scalarsMax) + 4 }
}

/// A note that was found in a file.
public struct ImportedNote: Sendable, Hashable {
  /// The file, and its name in the archive.
  public var path: String
  /// The title, in one line; empty where the file has none.
  public var title: String
  /// The text in UTF-8, with `\n` at each line end.
  public var text: [UInt8]
  /// The path of a folder that the server accepts; empty for none.
  public var folder: String
  /// The parts of a pad that remain behind.
  public var pad: Pad?

  /// The origin of a pad's text.
  public struct Pad: Sendable, Hashable {
    /// The newest revision.
    public var revision: Int
    /// The names of authors who gave one.
    public var authors: [String]
  }
}
