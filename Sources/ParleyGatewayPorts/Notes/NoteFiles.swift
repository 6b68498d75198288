/// The SHA-256 of a file's content, which identifies the file everywhere.
public struct FileHash: Hashable, Sendable, CustomStringConvertible {
  /// The 32 bytes.
  public let bytes: [UInt8]

  /// The number of hexadecimal digits of a hash.
  public static let digitCount = 64

  /// Creates a hash from its bytes; `nil` unless there are 32.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// Parses 64 lower-case hexadecimal digits; `nil` for any other text.
  public init?(digits: some Collection<UInt8>) {
    guard let bytes = [UInt8](hexadecimal: digits) else { return nil }
    self.init(bytes)
  }

  /// The hexadecimal digits in ASCII.
  public var digits: [UInt8] { Array(description.utf8) }

  /// The hexadecimal digits.
  public var description: String { bytes.hexadecimal }
}

/// A file of a note, such as a picture.
public struct NoteFile: Sendable, Hashable {
  /// The hash of the content.
  public var hash: FileHash
  /// The name under which the file was added.
  public var name: String
  /// The number of bytes.
  public var byteCount: Int
  /// The time at which the file was last added.
  public var time: Timestamp

  /// Maximum files of one note, which are listed in one response.
  public static let countMax = 1_000

  /// Creates the description of a stored file.
  public init(hash: FileHash, name: String, byteCount: Int, time: Timestamp) {
    self.hash = hash
    self.name = name
    self.byteCount = byteCount
    self.time = time
  }
}

/// A file to be added to a note.
public struct FileDraft: Sendable {
  /// The name, cleaned by ``FileName``.
  public var name: String
  /// The content; not empty.
  public var bytes: [UInt8]
  /// The time at which the file arrived.
  public var time: Timestamp

  /// Creates a draft of a file.
  public init(name: String, bytes: [UInt8], time: Timestamp) {
    self.name = name
    self.bytes = bytes
    self.time = time
  }
}

/// Limits on files that only the store can enforce, because it knows all files.
public struct FileLimits: Sendable, Hashable {
  /// Maximum bytes of all files of one note.
  public var noteBytesMax: Int
  /// Minimum bytes of the store's disk that remain free. A store whose disk belongs to another
  /// machine does not check this.
  public var diskReserveBytes: Int
  /// Maximum files of one note, whatever their size.
  public var noteFilesMax: Int

  /// Creates limits.
  public init(noteBytesMax: Int, diskReserveBytes: Int, noteFilesMax: Int = NoteFile.countMax) {
    self.noteBytesMax = noteBytesMax
    self.diskReserveBytes = diskReserveBytes
    self.noteFilesMax = noteFilesMax
  }

  /// No limits.
  public static let unbounded = FileLimits(
    noteBytesMax: .max, diskReserveBytes: 0, noteFilesMax: .max)
}

/// A request about files of notes. Each note has a list of files; contents are stored once.
///
/// A retained deleted note keeps its files, and is restored with them. When a note is permanently
/// removed, its list is removed, and so are contents that no other note uses.
public enum FileRequest: Sendable {
  /// Adds a file to a note. If the note already has a file with this content, the file retains its
  /// name and counts as newly added.
  case put(id: DocumentID, FileDraft, FileLimits)
  /// Lists the files of a note, the newest first.
  case list(id: DocumentID)
  /// Reads a file of a note, on request with its content.
  case read(id: DocumentID, FileHash, withBytes: Bool)
  /// Lists at most `limit` notes with files that were added before a time and that no revision is
  /// known to contain: sorted by the bytes of their ids, from the first or after a note.
  case unsettled(before: Timestamp, after: DocumentID?, limit: Int)
  /// Searches all stored revisions of a note, including named versions, for these files.
  ///
  /// - Complexity: O(*n*) in the stored log, unless the text at the head contains all of the files.
  case search(id: DocumentID, before: Timestamp)
  /// Records the result of ``search(id:before:)``. Files that no revision contains are removed from
  /// the note, unless the text or the file has changed since.
  case settle(id: DocumentID, FileUses, before: Timestamp)

  /// The request's traits.
  var traits: StoreTraits {
    switch self {
    case .put(let id, _, _), .settle(let id, _, _): .writing(id)
    case .list(let id), .read(let id, _, _), .search(let id, _): .aside(id)
    case .unsettled: .aside()
    }
  }
}

/// The revisions of a note that contain the hashes of its files, as far as the log was searched.
public struct FileUses: Sendable, Equatable {
  /// The head revision at the time of the search.
  public var head: Int
  /// The newest revision whose text contains a file's hash; `nil` if no stored revision does.
  public var newest: [FileHash: Int?]

  /// Creates the result of a search.
  public init(head: Int, newest: [FileHash: Int?]) {
    self.head = head
    self.newest = newest
  }
}

/// The reply to a request about files.
public enum FileReply: Sendable, Equatable {
  /// The file was added. `isNew` means that the note did not have it before.
  case kept(NoteFile, isNew: Bool)
  /// The note's files would exceed their maximum bytes. Contains the bytes of the present files.
  case noteFull(byteCount: Int)
  /// The note has too many files for another one. Contains their number.
  case tooManyFiles(count: Int)
  /// The disk is too full. Contains its free bytes.
  case diskFull(byteCount: Int)
  /// Files of a note.
  case files([NoteFile])
  /// A file, with its content if requested.
  case file(NoteFile, [UInt8]?)
  /// The note has no file of this hash.
  case unknownFile
  /// Notes whose files are to be searched for.
  case notes([DocumentID])
  /// The result of a search for files.
  case uses(FileUses)
  /// The number of files that were removed from the note.
  case settled(removed: Int)
}
