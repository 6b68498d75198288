/// The reason why a file is not imported.
public enum ImportProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file is neither text nor a known export.
  case notANote
  /// The bytes are not text in a known encoding.
  case notText
  /// The file is not a ZIP archive.
  case notZip
  /// The archive has several volumes, more than 4 GB, or a compression other than DEFLATE.
  case zipKind
  /// The archive is truncated or inconsistent.
  case damaged
  /// The archive's entry is encrypted.
  case encrypted
  /// An entry of the archive declares far more inflated bytes than packed ones.
  case bomb
  /// The archive's entry is an archive itself.
  case archiveInArchive
  /// There are more files than an import or an archive may have.
  case tooManyFiles(limit: Int)
  /// There is more text than an import may have; the limit is in MiB.
  case tooMuch(limit: Int)
  /// The text has more Unicode scalars than a note may have.
  case tooLong(limit: Int)
  /// The JSON is not an export of Etherpad or Parley.
  case notEtherpad
  /// The file is HedgeDoc's list of opened notes, without their texts.
  case history
  /// The file could not be read.
  case unreadable

  /// The key of the problem in tables of texts.
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

  /// The exceeded limit, if any.
  public var limit: Int? {
    switch self {
    case .tooManyFiles(let limit), .tooMuch(let limit), .tooLong(let limit): limit
    case .notANote, .notText, .notZip, .zipKind, .damaged, .encrypted, .bomb, .archiveInArchive,
      .notEtherpad, .history, .unreadable:
      nil
    }
  }

  /// The expected format, and what to do.
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
    case .history: "it lists HedgeDoc notes without their texts; export the notes themselves"
    case .unreadable: "the file could not be read; check its permissions"
    }
  }
}
