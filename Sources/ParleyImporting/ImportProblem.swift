/// The reason why a file becomes no note.
public enum ImportProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file is neither text nor an export that is known.
  case notANote
  /// The bytes are not text in a known encoding.
  case notText
  /// The file is not a ZIP archive.
  case notZip
  /// The archive has several volumes, more than 4 GB, or another compression than DEFLATE.
  case zipKind
  /// The archive is cut, or contradicts itself.
  case damaged
  /// The archive's entry has a password.
  case encrypted
  /// An entry of the archive grows too much when it is inflated.
  case bomb
  /// The archive's entry is an archive.
  case archiveInArchive
  /// More files than one import or archive may have.
  case tooManyFiles(limit: Int)
  /// More text than one import may have, in MiB.
  case tooMuch(limit: Int)
  /// More Unicode scalars than a note may have.
  case tooLong(limit: Int)
  /// The JSON is not an export of Etherpad or Parley.
  case notEtherpad
  /// HedgeDoc's list of opened notes, which lacks their texts.
  case history
  /// The file could not be read.
  case unreadable

  /// A name for tables of texts.
  public var name: String {
    switch self {
    case .notANote: "notANote"
    case .notText: "notText"
    case .notZip: "notZip"
    case .zipKind: "zipKind"
    case .damaged: "damaged"
    case .encrypted: "encrypted"
    case .bomb: "bomb"
    case .archiveInArchive: "archiveInArchive"
    case .tooManyFiles: "tooManyFiles"
    case .tooMuch: "tooMuch"
    case .tooLong: "tooLong"
    case .notEtherpad: "notEtherpad"
    case .history: "history"
    case .unreadable: "unreadable"
    }
  }

  /// The limit that was exceeded, if any.
  public var limit: Int? {
    switch self {
    case .tooManyFiles(let limit), .tooMuch(let limit), .tooLong(let limit): limit
    case .notANote, .notText, .notZip, .zipKind, .damaged, .encrypted, .bomb, .archiveInArchive,
      .notEtherpad, .history, .unreadable:
      nil
    }
  }

  /// The expectation, what came, and what to do.
  public var description: String {
    switch self {
    case .notANote: "expected Markdown, text, .json, .etherpad or .zip; convert it first"
    case .notText: "expected text in UTF-8, or in UTF-16 with a byte order mark; save it as UTF-8"
    case .notZip: "expected a ZIP archive; pack it again"
    case .zipKind:
      "expected an archive with DEFLATE or no compression, in one file of at most 4 GB; unpack it"
    case .damaged: "the archive is damaged; pack it again"
    case .encrypted: "the file has a password; unpack it first"
    case .bomb:
      "a file of the archive becomes far too large when it is unpacked; nothing of it was imported"
    case .archiveInArchive: "it is an archive in an archive; import it by itself"
    case .tooManyFiles(let limit): "expected at most \(limit) files; import them in parts"
    case .tooMuch(let limit): "expected at most \(limit) MiB of text; import it in parts"
    case .tooLong(let limit):
      "expected a text of at most \(limit) characters (document-length-max); split it, or raise the setting"
    case .notEtherpad: "expected a pad that Etherpad exported, or a note in Parley's JSON"
    case .history: "it lists notes of HedgeDoc without their texts; export the notes themselves"
    case .unreadable: "the file could not be read; look at its rights"
    }
  }
}
